// What came of an approval that was given: the card becomes its result, with what can be done next.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { capital, result, said, surfaceName } from "~/screen/words";
import { UndoButton } from "~/features/undo/Undo";
import { noUndo } from "~/features/undo/reason";
import { useAsk } from "~/ipc/client";
import type { Approval } from "~/ipc/generated/approvals";
import { Mark } from "~/primitives/Icon";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Card.module.css";

export function Outcome({ approval }: { approval: Approval }) {
  const { row, receipt_id: receipt } = approval;
  const who = <>Approved{row.surface !== null && <> {surfaceName(row.surface)}</>}{row.resolved_at !== null && <>, <Time at={row.resolved_at} ago /></>}</>;
  if (receipt !== null) return <Done receipt={receipt} who={who} />;
  return (
    <footer className={styles.decided} role="status" aria-live="polite">
      <Mark name="running" size={14} />
      <span>{who}. Hermit carries it out now.</span>
      <Link to="/task/$id" params={{ id: row.task_id }}>Watch the task</Link>
    </footer>
  );
}

function Done({ receipt: id, who }: { receipt: string; who: ReactNode }) {
  const asked = useAsk("receipts.show", { receipt: id, brief: true });
  const found = asked.data;
  if (found === undefined) return <footer className={styles.decided} role="status"><Mark name="done" size={14} /><span>{who}.</span></footer>;
  const { row } = found;
  const came = result(row.result, row.resolved, found.as_chosen);
  return (
    <footer className={styles.decided} role="status" aria-live="polite">
      <StateTag tone={row.undone_by === null ? came.tone : "mute"} mark={row.undone_by === null ? came.mark : "deny"}>{row.undone_by === null ? came.word : "Undone"}</StateTag>
      <span><b><Words of={capital(said(row.summary))} /></b>. {who}.</span>
      <span className={styles.next}>
        <UndoButton receipt={id} label="Undo" because={noUndo(found)} />
        <Link to="/task/$id" params={{ id: row.task_id }} search={{ see: id }}>Receipt</Link>
        <Link to="/proof" search={{ task: row.task_id }}>Proof</Link>
      </span>
    </footer>
  );
}
