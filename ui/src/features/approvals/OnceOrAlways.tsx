// How far a yes goes: wherever one can be given, the same two, in the same words.
import type { Approval } from "~/ipc/generated/approvals";
import type { ActionClass } from "~/ipc/generated/words";
import { className } from "~/screen/words";
import card from "./Card.module.css";
import styles from "./StandingGrant.module.css";

/** Classes that no standing approval covers. */
const EACH_TIME: readonly ActionClass[] = ["capability_change", "external_effect"];

/** Once, or the like of it from now on. What is critical is allowed once, whatever anybody says. */
export function OnceOrAlways({ approval, lasting, set }: { approval: Approval; lasting: boolean; set: (lasting: boolean) => void }) {
  const because = approval.row.risk === "critical" ? "Critical actions are asked about each time"
    : EACH_TIME.includes(approval.row.action_class) ? `You are asked each time to ${className(approval.row.action_class)}` : undefined;
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
      <p className={card.note}>
        {lasting ? "Within the limits you choose. It never covers critical risk or what policy denies, and you can revoke it."
          : "If a file changes before it runs, nothing happens and you are asked again."}
      </p>
    </>
  );
}
