// Gateways: chat services that are connected, who is paired there, and what came in and went out.
import { useState } from "react";
import { ResumeWithPassphrase } from "~/features/approvals/ResumeWithPassphrase";
import { anyOf, serviceName, useServices } from "~/features/chats/services";
import { useAct, useAsk } from "~/ipc/client";
import type { Gateway } from "~/ipc/generated/gateways";
import { Button } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Answer, Empty, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { Screen } from "~/screen/Screen";
import { capital, count, profileName } from "~/screen/words";
import styles from "./Gateways.module.css";
import { Messages } from "./Messages";
import { NewGateway } from "./NewGateway";
import { Pairing } from "./Pairing";
import { Senders } from "./Senders";
import { stands } from "./words";

/** How often it is asked whether the services answer: no notice tells of that. */
const AGAIN_MS = 15_000;

export function Gateways({ of }: { of?: string | undefined }) {
  const asked = useAsk("gateways.list", {}, { refetchInterval: AGAIN_MS });
  const services = useServices();
  const [isNew, setNew] = useState(false);
  return (
    <Screen title="Gateways" sub={<span>Write to Hermit from a chat. Nobody can approve anything there.</span>}>
      <div className={styles.screen}>
        {isNew ? <NewGateway close={() => setNew(false)} /> : <div><Button look="person" onClick={() => setNew(true)}>Connect a chat</Button></div>}
        <Answer asked={asked} what="gateways" isEmpty={(found) => found.gateways.length === 0 && !isNew} empty={<Empty title="No gateways">A gateway lets you, and people whom you pair with a code, give Hermit goals and ask it things from {anyOf(services)}. What strangers write is refused. Nobody can give a yes through a chat: approvals are answered here or at a terminal.</Empty>}>
          {(found) => found.gateways.map((one) => <One key={`${one.name} ${one.name === of}`} gateway={one} open={one.name === of} />)}
        </Answer>
      </div>
    </Screen>
  );
}

function One({ gateway: one, open }: { gateway: Gateway; open: boolean }) {
  const services = useServices();
  const pause = useAct("gateways.pause");
  const resume = useAct("gateways.resume");
  const remove = useAct("gateways.remove");
  const [sure, setSure] = useState(false);
  const [seen, setSeen] = useState<"senders" | "messages" | null>(open ? "messages" : null);
  const look = stands(one);
  const failed = [pause, resume, remove].map((act) => act.error).find((error) => error !== null);
  const see = (what: "senders" | "messages") => setSeen(seen === what ? null : what);
  return (
    <article className={styles.card} aria-label={one.name}>
      <header>
        <h2><Words of={one.name} /></h2>
        <span>{serviceName(services, one.service)}</span>
        <StateTag tone={look.tone} mark={look.mark}>{look.word}</StateTag>
      </header>
      {one.why !== null && <p role="status"><Words of={capital(one.why)} />.{one.by_itself && " Look into it, then resume it or remove it."}</p>}
      {one.away !== null && <p role="status">The service does not answer now: <Words of={one.away} />. What goes out waits.</p>}
      <p className={styles.note}>{one.senders === 0 ? "Nobody is paired yet." : `${capital(count(one.senders, "sender"))} paired.`} {one.queued === 0 ? "Nothing waits to be sent." : `${capital(count(one.queued, "message"))} ${one.queued === 1 ? "waits" : "wait"} to be sent.`}</p>
      <details>
        <summary>How it is set up</summary>
        <Facts wide rows={[
          one.address === null ? null : ["Server", <code key="address"><Words of={one.address} /></code>],
          one.user === null ? null : ["Account", <Words key="user" of={one.user} />],
          ...Object.entries(one.settings).map(([name, value]) => [capital(name), <Words key={name} of={value} />] as const),
          one.service === "webhook" ? ["Takes messages", <span key="takes">signed, at <code>POST /v1/messages/<Words of={one.name} /></code></span>] : null,
          ["Speaks with", <Words key="hosts" of={one.hosts.join(", ")} />],
          ["Token", <code key="secret">secret:<Words of={one.secret} /></code>],
          ["Folder", <Words key="folder" of={one.folder} />],
          ["Works with", <Words key="worker" of={one.worker} />],
          ["Senders who give goals", profileName(one.profile)],
          ["Senders who only ask", "Read only"],
          ["Version", <>{one.version}, since <Time at={one.since} /></>],
        ]} />
      </details>
      {one.state === "active" && <Pairing gateway={one} />}
      <div className={styles.buttons}>
        <Button aria-expanded={seen === "senders"} onClick={() => see("senders")}>Senders</Button>
        <Button aria-expanded={seen === "messages"} onClick={() => see("messages")}>Messages</Button>
        {one.state === "active" && <Button because={pause.isPending ? "Pausing" : null} onClick={() => pause.mutate({ name: one.name, reason: "Paused on the page" })}>Pause</Button>}
        {one.state === "paused" && <Button because={resume.isPending ? "Resuming" : null} onClick={() => resume.mutate({ name: one.name })}>Resume</Button>}
        {sure
          ? (
            <>
              <Button look="link" onClick={() => setSure(false)}>Keep it</Button>
              <Button look="danger" because={remove.isPending ? "Removing" : null} onClick={() => remove.mutate({ name: one.name, reason: "Removed on the page" })}>Remove {one.name} and everybody paired with it</Button>
            </>
          )
          : <Button look="link" onClick={() => setSure(true)}>Remove</Button>}
      </div>
      {failed !== undefined && <Failed error={failed} />}
      {one.state === "paused" && <ResumeWithPassphrase of="gateway" name={one.name} refused={resume.error} done={resume.reset} />}
      {seen === "senders" && <Senders gateway={one.name} />}
      {seen === "messages" && <Messages gateway={one.name} />}
    </article>
  );
}
