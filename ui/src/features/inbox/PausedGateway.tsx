import { Link } from "@tanstack/react-router";
import { ResumeWithPassphrase } from "~/features/approvals/ResumeWithPassphrase";
import { serviceName, useServices } from "~/features/chats/services";
import { useAct } from "~/ipc/client";
import type { Gateway } from "~/ipc/generated/gateways";
import { Button } from "~/primitives/Button";
import { many } from "~/primitives/number";
import { Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import { capital } from "~/screen/words";
import styles from "./Inbox.module.css";

/** A gateway that paused itself: nobody is heard through it and nothing is sent until a person has looked at why. */
export function PausedGateway({ gateway }: { gateway: Gateway }) {
  const services = useServices();
  const resume = useAct("gateways.resume");
  const because = resume.isPending ? "It is being recorded" : null;
  return (
    <section className={styles.form} aria-label="Paused gateway">
      <div className={styles.meta}>
        <StateTag tone="waiting" mark="paused">Paused itself</StateTag>
        <Link to="/gateways" search={{ of: gateway.name }}>Open the gateway</Link>
      </div>
      <h2>Gateway <Words of={gateway.name} /> stopped: {serviceName(services, gateway.service)}</h2>
      <p><Words of={capital(gateway.why ?? "No reason is on record")} />. Nobody is heard through it until you resume it.</p>
      {gateway.queued > 0 && <p>{gateway.queued === 1 ? "1 message waits" : `${many(gateway.queued)} messages wait`} to be sent.</p>}
      <p>Where the token was changed, <code>hermit secret set <Words of={gateway.secret} /></code> at a terminal takes the new one.</p>
      <div className={styles.row}>
        <Button because={because} onClick={() => resume.mutate({ name: gateway.name })}>Resume</Button>
      </div>
      {resume.error !== null && <Failed error={resume.error} />}
      <ResumeWithPassphrase of="gateway" name={gateway.name} refused={resume.error} done={resume.reset} />
    </section>
  );
}
