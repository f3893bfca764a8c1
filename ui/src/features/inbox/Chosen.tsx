// Several approvals at once: all of them are denied with one reason. Each is approved on its own card, because a person
// signs what they have read.
import { useState } from "react";
import { useAct, useHost } from "~/ipc/client";
import type { ApprovalRow } from "~/ipc/generated/approvals";
import { type Refused, refusal } from "~/host/host";
import { Button } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { many } from "~/primitives/number";
import { Failed } from "~/primitives/States";
import { RiskMark } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import { brief, capital, count, said } from "~/screen/words";
import styles from "./Inbox.module.css";

export function Chosen({ rows, clear, titleOf }: { rows: readonly ApprovalRow[]; clear: () => void; titleOf: (row: ApprovalRow) => string }) {
  const host = useHost();
  const deny = useAct("approvals.deny");
  const [feedback, setFeedback] = useState("");
  const [done, setDone] = useState<number | null>(null);
  const [failed, setFailed] = useState<Refused | null>(null);
  const words = feedback.trim();
  const surface = host.kind === "tauri" ? null : "browser";
  const say = async (stop: boolean) => {
    setFailed(null);
    setDone(0);
    try {
      for (const [at, row] of rows.entries()) {
        await deny.mutateAsync({ approval: row.approval_id, surface, feedback: words === "" ? null : words, ...(stop ? { stop } : {}) });
        setDone(at + 1);
      }
      clear();
    } catch (thrown) {
      setFailed(refusal(thrown));
      setDone(null);
    }
  };
  const because = done === null ? null : `${many(done)} of ${many(rows.length)} denied`;
  return (
    <section className={styles.form} aria-label="Chosen approvals">
      <h2>{count(rows.length, "approval")} chosen</h2>
      <ul className={styles.chosen}>
        {rows.map((row) => <li key={row.approval_id}><RiskMark risk={row.risk} /><span><Words of={brief(capital(said(row.summary)))} /><small><Words of={titleOf(row)} /></small></span></li>)}
      </ul>
      <TextArea label="Reason for denying (the agent sees it)" value={feedback} rows={2} onChange={(event) => setFeedback(event.target.value)} />
      <div className={styles.row}>
        <Button data-deny because={because} onClick={() => void say(false)}>Deny {many(rows.length)}</Button>
        <Button because={because} title="Denies these and ends their tasks" onClick={() => void say(true)}>Deny and stop</Button>
        <Button look="quiet" onClick={clear}>Clear</Button>
      </div>
      {failed !== null && <Failed error={failed} />}
      <p className={styles.none}>You approve each one on its own card, because you sign what you have read.</p>
    </section>
  );
}
