// Steps of all tasks that are at work, wait, or may begin; and how urgent each task is.
import { Link } from "@tanstack/react-router";
import { useAct, usePages } from "~/ipc/client";
import type { StepRow } from "~/ipc/generated/task";
import type { Priority, StepStatus } from "~/ipc/generated/words";
import { PRIORITY } from "~/ipc/generated/words";
import { oneOf } from "~/ipc/words";
import { Select } from "~/primitives/Field";
import { many } from "~/primitives/number";
import { useParts } from "~/primitives/Parts";
import { Answer, Failed } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { capital, folderName, plain, said } from "~/screen/words";
import styles from "./Tasks.module.css";

const PAGE = 100;

export function Steps() {
  return (
    <div className={styles.steps}>
      <Part status="running" title="Running" none="No step is being worked on." />
      <Part status="blocked" title="Blocked" none="No step waits." />
      <Part status="ready" title="Ready" none="No step is ready to begin." />
    </div>
  );
}

function Part({ status, title, none }: { status: StepStatus; title: string; none: string }) {
  const asked = usePages("task.steps", { status, limit: PAGE });
  return (
    <section aria-label={`${title} steps`}>
      <h2>{title}{asked.data !== undefined && asked.data.rows.length > 0 && <span>{many(asked.data.rows.length)}{asked.data.more ? "+" : ""}</span>}</h2>
      <Answer asked={asked} what={`${title.toLowerCase()} steps`} lines={3} isEmpty={(found) => found.rows.length === 0} empty={<p className={styles.faint}>{none}</p>}>
        {(found) => <Rows rows={found.rows} pages={{ more: found.more, further: asked.further }} />}
      </Answer>
    </section>
  );
}

function Rows({ rows, pages }: { rows: readonly StepRow[]; pages: { more: boolean; further: () => void } }) {
  const { shown, rest } = useParts(rows, { pages });
  return (
    <>
      <table className={table.table}>
        <thead><tr><th>Step</th><th>Task</th><th>Why</th><th>Priority</th><th className={table.right}>Changed</th></tr></thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.step_id}>
              <td className={table.main}><Words of={said(row.title)} />{row.kind !== "pursue" && <div className={styles.faint}>{capital(plain(row.kind))}</div>}</td>
              <td><Link to="/task/$id" params={{ id: row.task_id }}><Words of={said(row.task_title)} /></Link>{row.workspace !== null && <div className={styles.faint} title={said(row.workspace)}>{folderName(said(row.workspace))}</div>}</td>
              <td>{capital(plain(row.reason))}</td>
              <td><Urgency task={row.task_id} value={row.priority} /></td>
              <td className={table.right}><Time at={row.updated_at} ago /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest}
    </>
  );
}

/** How urgent a task is, which a person may change while it has not ended. */
export function Urgency({ task, value, label = false }: { task: string; value: Priority; label?: boolean }) {
  const set = useAct("task.set_priority");
  return (
    <>
      <Select
        label="Priority" hideLabel={!label} value={set.isPending ? oneOf(PRIORITY, set.variables.priority) ?? value : value} title="Urgent tasks get a free place before others"
        options={[...PRIORITY].reverse().map((one) => ({ value: one, label: `${capital(one)} priority` }))}
        onChange={(event) => set.mutate({ task, priority: event.target.value })}
      />
      {set.error !== null && <Failed error={set.error} />}
    </>
  );
}
