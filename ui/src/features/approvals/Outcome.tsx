// What came of an approval that was given: the card becomes its result, with what can be done next.
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { capital, result, said, surfaceName } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { Approval } from "~/ipc/generated/approvals";
import { Button } from "~/primitives/Button";
import { Mark } from "~/primitives/Icon";
import { Failed } from "~/primitives/States";
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
  const rollback = useAct("receipts.rollback");
  const navigate = useNavigate();
  const row = asked.data?.row;
  if (row === undefined) return <footer className={styles.decided} role="status"><Mark name="done" size={14} /><span>{who}.</span></footer>;
  const came = result(row.result, row.resolved);
  const because = row.undone_by !== null ? "It was undone already"
    : row.reversibility === "irreversible" ? "It cannot be undone"
    : row.reversibility === "no_effect" ? "It changed nothing" : null;
  return (
    <footer className={styles.decided} role="status" aria-live="polite">
      <StateTag tone={row.undone_by === null ? came.tone : "mute"} mark={row.undone_by === null ? came.mark : "deny"}>{row.undone_by === null ? came.word : "Undone"}</StateTag>
      <span><b><Words of={capital(said(row.summary))} /></b>. {who}.</span>
      <span className={styles.next}>
        <Button icon="undo" because={because} onClick={() => rollback.mutate({ receipt: id, channel: "app" }, { onSuccess: (made) => void navigate({ to: "/task/$id", params: { id: made.task_id } }) })}>Undo</Button>
        <Link to="/task/$id" params={{ id: row.task_id }} search={{ see: id }}>Receipt</Link>
        <Link to="/proof" search={{ task: row.task_id }}>Proof</Link>
      </span>
      {rollback.error !== null && <Failed error={rollback.error} />}
    </footer>
  );
}
