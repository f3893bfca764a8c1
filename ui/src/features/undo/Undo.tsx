// Before an undo is asked for: exactly what it would put back, and what stays as it is. The plan is the host's, as things are now.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import type { Refused } from "~/host/host";
import { useAct } from "~/ipc/client";
import type { Left, UndoItem, UndoPlan } from "~/ipc/generated/receipts";
import { Button } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Icon } from "~/primitives/Icon";
import { Failed, sentence } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { count, said } from "~/screen/words";
import styles from "./Undo.module.css";

/** So many places are listed; the card of the undo has them all. */
const LISTED_MAX = 200;

/** One change of an undo, as a person says it. */
export function wordsOf({ what, path, to }: UndoItem): string {
  switch (what) {
    case "restore": return `Bring back ${path}`;
    case "replace": return `Put ${path} back to what it was`;
    case "delete": return `Delete ${path}`;
    case "delete_folder": return `Remove the folder ${path}, if it is empty by then`;
    case "move": return `Move ${path} back to ${to ?? ""}`;
    case "make_folder": return `Make the folder ${path} again`;
    case "mode": return `Give the folder ${path} back the permissions it had`;
    case "link": return `Put the link ${path} back`;
    default: return what satisfies never;
  }
}

export function UndoButton({ receipt, label, because, title }: { receipt: string | null; label: string; because: string | null; title?: string }) {
  const plan = useAct("receipts.plan");
  const { mutate, reset } = plan;
  // Kept until the dialog is closed: while it looks again, and where that fails, it stands as it was.
  const [plans, setPlans] = useState<readonly UndoPlan[] | null>(null);
  const look = () => receipt !== null && mutate({ receipt }, { onSuccess: (found) => setPlans(found.plans) });
  const close = () => { setPlans(null); reset(); };
  return (
    <>
      <Button icon="undo" title={title} because={because ?? (plan.isPending ? LOOKING : null)} onClick={look}>{label}</Button>
      {plans === null && plan.error !== null && <Failed error={plan.error} />}
      {plans !== null && receipt !== null && <Preview receipt={receipt} plans={plans} isLooking={plan.isPending} failure={plan.error} again={look} close={close} />}
    </>
  );
}

const LOOKING = "Looking at what it would do";

interface Shown { receipt: string; plans: readonly UndoPlan[]; isLooking: boolean; failure: Refused | null; again: () => void; close: () => void }

function Preview({ receipt, plans, isLooking, failure, again, close }: Shown) {
  const rollback = useAct("receipts.rollback");
  const navigate = useNavigate();
  const panel = useRef<HTMLDivElement>(null);
  // One dialog asks for one undo, however often its answer is lost.
  const [key] = useState(() => crypto.randomUUID());
  useEffect(() => panel.current?.focus(), []);
  const changes = plans.reduce((sum, plan) => sum + plan.items.length, 0);
  const ask = () => rollback.mutate({ receipt, channel: "app", idempotency_key: key }, { onSuccess: (made) => { close(); void navigate({ to: "/task/$id", params: { id: made.task_id } }); } });
  // On the body: what it is opened from may lie below other parts of the page.
  return createPortal(
    <div className={styles.veil}>
      <div ref={panel} className={styles.panel} role="dialog" aria-modal="true" aria-labelledby="undo-preview" tabIndex={-1} onKeyDown={(event) => { if (event.key === "Escape") { event.stopPropagation(); close(); } }}>
        <h2 id="undo-preview">What this undo would do</h2>
        <p>Nothing has been changed. If you go on, a card asks you once more with every file and its difference.</p>
        {plans.map((plan) => <PlanOf key={plan.workspace_id} plan={plan} />)}
        {failure !== null && <Failed error={failure} />}
        {rollback.error !== null && <Failed error={rollback.error} />}
        <footer>
          <Button look="person" because={changes === 0 ? "There is nothing that it could put back" : rollback.isPending ? "Asking" : isLooking ? LOOKING : null} onClick={ask}>Ask for this undo</Button>
          <Button because={isLooking ? LOOKING : rollback.isPending ? "Asking" : null} onClick={again}>Look again</Button>
          <Button look="quiet" onClick={close}>Leave it as it is</Button>
        </footer>
      </div>
    </div>,
    document.body,
  );
}

function PlanOf({ plan }: { plan: UndoPlan }) {
  return (
    <section>
      {plan.workspace !== null && <p className={styles.folder}><Icon name="folder" size={14} /><Words of={said(plan.workspace)} /></p>}
      {plan.notes.length > 0 && <ul className={styles.notes}>{plan.notes.map((note, at) => <li key={at}>{sentence(note)}</li>)}</ul>}
      <h3>{plan.items.length === 0 ? "It would put nothing back" : `It would make ${count(plan.items.length, "change")}`}</h3>
      <List label="It would make" rows={plan.items.map((item) => ({ key: `${item.what} ${item.path}`, what: wordsOf(item), more: item.bytes === null ? "" : bytes(item.bytes) }))} />
      {plan.left.length > 0 && <h3>{count(plan.left.length, "place")} would stay as {plan.left.length === 1 ? "it is" : "they are"}</h3>}
      <List label="Stays as it is" rows={plan.left.map((left) => ({ key: `${left.receipt_id} ${left.place}`, what: left.place, more: staying(left) }))} />
    </section>
  );
}

const staying = ({ why, beside }: Left) => (beside === null ? why : `${why}; the earlier version would come beside it as ${beside}`);

function List({ label, rows }: { label: string; rows: readonly { key: string; what: string; more: string }[] }) {
  if (rows.length === 0) return null;
  return (
    <>
      <ul aria-label={label}>{rows.slice(0, LISTED_MAX).map((row) => <li key={row.key}><span><Words of={row.what} /></span><small><Words of={row.more} /></small></li>)}</ul>
      {rows.length > LISTED_MAX && <p>and {count(rows.length - LISTED_MAX, "more place")}, which the card lists</p>}
    </>
  );
}
