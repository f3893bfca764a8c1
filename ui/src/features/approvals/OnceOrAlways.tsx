// How far a yes goes: wherever one can be given, the same two, in the same words.
import type { Approval } from "~/ipc/generated/approvals";
import { capital } from "~/screen/words";
import card from "./Card.module.css";
import styles from "./StandingGrant.module.css";

/** Once, or the like of it from now on, unless the host says that it is asked about each time. */
export function OnceOrAlways({ approval, lasting, set }: { approval: Approval; lasting: boolean; set: (lasting: boolean) => void }) {
  const because = approval.asked_each_time === null ? undefined : capital(approval.asked_each_time);
  return (
    <>
      <h3 id="far">How far this goes</h3>
      <div className={styles.far} role="radiogroup" aria-labelledby="far">
        <button type="button" role="radio" aria-checked={!lasting} onClick={() => set(false)}>Just this once</button>
        <button
          type="button" role="radio" aria-checked={lasting} aria-disabled={because !== undefined || undefined}
          title={because} onClick={() => because === undefined && set(true)}
        >
          Also similar actions, from now on
        </button>
      </div>
      {because !== undefined && <p className={card.note}>{because}.</p>}
      <p className={card.note}>
        {lasting ? "Within the limits you choose. It never covers critical risk or what policy denies, and you can revoke it."
          : "If a file changes before it runs, nothing happens and you are asked again."}
      </p>
    </>
  );
}
