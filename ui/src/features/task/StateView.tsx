// What the task holds true, what it may do, and what it asked.
import { grantStands, plain, said, trust } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { Task } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { Answer, Failed } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Task.module.css";

export function StateView({ task }: { task: Task }) {
  const id = task.row.task_id;
  const states = useAsk("task.working_state", { task: id });
  const beliefs = useAsk("knowledge.beliefs", { task: id });
  const decisions = useAsk("knowledge.decisions", { task: id });
  const none = (text: string) => <p className={styles.none}>{text}</p>;
  return (
    <div className={styles.state}>
      <h3>Grants</h3>
      <Grants id={id} />
      <h3>Working state</h3>
      <Answer asked={states} what="the working state" lines={2} isEmpty={(page) => page.rows.length === 0} empty={none("None was written.")}>
        {(page) => page.rows.map((row) => (
          <div key={row.artifact_id}>
            <p className={styles.faint}>Revision {row.revision}, <Time at={row.updated_at} ago /> <Hash of={row.sha256} /></p>
            <pre className={styles.raw}><Words of={JSON.stringify(row.state, null, 2)} /></pre>
          </div>
        ))}
      </Answer>
      <h3>Beliefs</h3>
      <Answer asked={beliefs} what="beliefs" lines={2} isEmpty={(page) => page.rows.length === 0} empty={none("Nothing was believed.")}>
        {(page) => (
          <ul>{page.rows.map((row) => (
            <li key={row.belief_id}><Words of={said(row.claim)} /><span className={styles.faint}>{row.confidence / 10} %, {trust(row.trust)}, {plain(row.status)}</span></li>
          ))}</ul>
        )}
      </Answer>
      <h3>Decisions</h3>
      <Answer asked={decisions} what="decisions" lines={2} isEmpty={(page) => page.rows.length === 0} empty={none("None was needed.")}>
        {(page) => (
          <ul>{page.rows.map((row) => (
            <li key={row.decision_id}><Words of={said(row.summary)} /><span className={styles.faint}><Words of={said(row.rationale)} /></span></li>
          ))}</ul>
        )}
      </Answer>
      {task.children.length > 0 && <><h3>Derived tasks</h3><ul>{task.children.map((child) => <li key={child}><Hash of={child} what="task" /></li>)}</ul></>}
    </div>
  );
}

function Grants({ id }: { id: string }) {
  const asked = useAsk("grants.list", { task: id });
  const revoke = useAct("grants.revoke");
  return (
    <Answer asked={asked} what="grants" lines={2} isEmpty={(page) => page.rows.length === 0} empty={<p className={styles.none}>None was given.</p>}>
      {(page) => (
        <>
          <ul>
            {page.rows.map((row) => (
              <li key={row.grant_id} className={styles.grant}>
                <span>{plain(row.action_class)}</span>
                <Hash of={row.grant_id} what="grant" />
                <span className={styles.faint}>{grantStands(row)}, {row.uses} of {row.max_uses} used</span>
                {row.state === "active" && <Button onClick={() => revoke.mutate({ grant: row.grant_id, reason: "revoked from the window" })}>Revoke</Button>}
              </li>
            ))}
          </ul>
          {revoke.error !== null && <Failed error={revoke.error} />}
        </>
      )}
    </Answer>
  );
}
