// Who this instance is, and the way to its page, to anchors and to its other machines: on a phone there is no room for them in the bar.
import { Link } from "@tanstack/react-router";
import { nameIn } from "~/features/identity/words";
import { useAsk } from "~/ipc/client";
import { Answer } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Settings.module.css";

export function Instance() {
  const asked = useAsk("identity.show", {});
  return (
    <section aria-labelledby="instance">
      <h2 id="instance">Who this instance is</h2>
      <Answer asked={asked} what="the identity" lines={2}>
        {({ soul, version, written_at, attested }) => (version === 0
          ? <p>Nobody has written SOUL.md yet. It tells every model who this instance is, in your words.</p>
          : (
            <p>
              {soul === null ? "Its text was erased" : <b><Words of={nameIn(soul) ?? "SOUL.md"} /></b>}, version {version} of SOUL.md{written_at !== null && <>, <Time at={written_at} ago /></>}.
              {attested ? " Attested by the key of this instance." : " Not attested yet."}
            </p>
          ))}
      </Answer>
      <div className={styles.buttons}><Link to="/identity">Identity</Link><Link to="/anchors">Anchors</Link><Link to="/machines">Machines</Link><Link to="/successor">Changes</Link></div>
    </section>
  );
}
