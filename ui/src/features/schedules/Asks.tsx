// What the last runs of a schedule would ask today: each of their acts judged by policy as it is now, and by the standing grants that hold in its runs.
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { GrantOfRuns, RehearsedAct } from "~/ipc/generated/schedules";
import type { PolicyVerdict } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { Button } from "~/primitives/Button";
import { Answer } from "~/primitives/States";
import { StateTag, type Tone } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { capital, count, said } from "~/screen/words";
import styles from "./Schedules.module.css";

const HOW: Readonly<Record<PolicyVerdict, { tone: Tone; word: string }>> = {
  allow: { tone: "done", word: "Allowed by policy" }, require_approval: { tone: "waiting", word: "Would ask you" },
  deny: { tone: "failed", word: "Would be denied" }, downgrade: { tone: "mute", word: "In a lesser form" },
};
const NO_WORD = { tone: "unknown", word: "Unknown" } as const;

export function Asks({ name }: { name: string }) {
  const [wanted, setWanted] = useState(false);
  if (!wanted) return <div><Button onClick={() => setWanted(true)}>What would it ask?</Button></div>;
  return <Rehearsed name={name} />;
}

function Rehearsed({ name }: { name: string }) {
  const asked = useAsk("schedules.rehearse", { name, runs: null }, { keep: true });
  return (
    <section aria-label={`What ${name} would ask`}>
      <h3>What it would ask today</h3>
      <Answer asked={asked} what="its last runs" lines={2}>
        {(found) => (
          <>
            <p role="status">{found.summary}</p>
            {found.is_cut && <p className={styles.read}>There are more acts than are judged at once; the newest are left out.</p>}
            {found.unreadable > 0 && <p className={styles.read}>{count(found.unreadable, "more act")} cannot be judged again: something of them is erased.</p>}
            {found.grants.length > 0 && <ul className={styles.times}>{found.grants.map((grant) => <Grant key={grant.grant_id} grant={grant} />)}</ul>}
            {found.grants.length === 0 && found.asked > 0 && <p className={styles.read}>No standing grant answers in its runs. The card of one of its acts offers one.</p>}
            {found.rows.length > 0 && (
              <details>
                <summary>Each act{found.rows.length < found.acts && `, ${found.rows.length} of ${found.acts}`}</summary>
                <ul className={styles.times}>{found.rows.map((act) => <Act key={act.action_request_id} act={act} />)}</ul>
              </details>
            )}
          </>
        )}
      </Answer>
    </section>
  );
}

function Grant({ grant }: { grant: GrantOfRuns }) {
  return <li>Standing grant: <Words of={grant.words} />. It allows {count(grant.acts, "of these acts", "of these acts")}; {count(grant.left, "use")} left, until <Time at={grant.expires_at} />.</li>;
}

function Act({ act }: { act: RehearsedAct }) {
  const how = act.verdict === "allow" && act.grant_id !== null ? { tone: "done" as const, word: "Allowed by a standing grant" } : lookUp(HOW, act.verdict, NO_WORD);
  return (
    <li>
      <StateTag tone={how.tone}>{how.word}</StateTag> <Words of={capital(said(act.summary))} />
      <span className={styles.read}> {act.reason !== "" && <><Words of={capital(act.reason)} />. </>}Rules: {act.rules.join(", ")}.</span>
    </li>
  );
}
