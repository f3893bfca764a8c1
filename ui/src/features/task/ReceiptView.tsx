// The nine questions of HK-21, answered from one receipt.
import { Link } from "@tanstack/react-router";
import { Asker } from "~/features/approvals/Asker";
import { ChangeList, FEW, useChanges } from "~/features/approvals/ChangeList";
import { WithOrigin } from "~/features/approvals/WithOrigin";
import { diffFile } from "~/features/approvals/files";
import { capital, count, plain, result, said, surfaceName, trust } from "~/screen/words";
import { UndoButton } from "~/features/undo/Undo";
import { noUndo } from "~/features/undo/reason";
import { useAsk } from "~/ipc/client";
import type { Explanation, Link as Thing, Receipt } from "~/ipc/generated/receipts";
import type { Task } from "~/ipc/generated/task";
import { tally } from "~/primitives/Diff";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Icon } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { Answer, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import type { See } from "~/screen/see";
import { shortReceipt } from "./story";
import { record, word } from "./events";
import styles from "./Task.module.css";

export function ReceiptView({ id, task, onSee }: { id: string; task: Task; onSee: (see: See) => void }) {
  const asked = useAsk("receipts.show", { receipt: id, brief: true });
  const why = useAsk("trace.explain", { subject: id });
  return (
    <Answer asked={asked} what="the receipt">
      {(receipt) => {
        const came = result(receipt.row.result, receipt.row.resolved, receipt.as_chosen);
        return (
          <div className={styles.receipt}>
            <div className={styles.heading}>
              <h3>Receipt {shortReceipt(id)}</h3>
              <StateTag tone={came.tone} mark={came.mark}>{came.word}</StateTag>
              <span className={styles.space} />
              <Hash of={receipt.statement_sha256} what="statement digest" />
            </div>
            <Asker of={receipt} />
            <Facts ruled rows={nine(receipt, why.data?.chains[0], task, onSee)} />
            <Turn of={receipt} task={task} />
            {why.error !== null && <Failed error={why.error} />}
            <WithOrigin of={id} task={receipt.row.task_id}><Changed id={id} /></WithOrigin>
            <Acts receipt={receipt} />
          </div>
        );
      }}
    </Answer>
  );
}

function nine(receipt: Receipt, why: Explanation | undefined, task: Task, onSee: (see: See) => void) {
  const { row } = receipt;
  const grant = why?.grants.at(-1);
  const pack = why?.context.at(-1);
  const action = task.actions.find((one) => one.receipt_id === row.receipt_id);
  const standing = standingOf(receipt);
  // Approvals behind what it had read are in its chain too; what counts is the one for this act, or the one it tells of.
  const card = action?.approval_id ?? (row.class === "approval_resolution" ? why?.approvals.at(-1)?.id : undefined) ?? null;
  // Words of a model are untrusted always; what counts here is what it had read.
  const untrusted = why?.untrusted.filter((one) => !one.detail.startsWith("model.")).length ?? 0;
  const denied = task.actions.filter((one) => one.verdict === "deny" || one.state === "refused");
  const verifiability = word(record(receipt.receipt)["verifiability"]);
  return [
    ["What", <span key="1"><Words of={capital(said(action?.summary ?? row.summary))} />, <Time at={row.issued_at} ago /></span>],
    ["Why", <span key="2">{why === undefined ? "…" : <Words of={goalOf(why, task)} />}</span>],
    ["On whose authority", <span key="3">
      {standing !== "" ? <Standing grant={standing} />
        : card === null ? "Policy allowed it"
        : <>You, once<button type="button" className={styles.cite} onClick={() => onSee({ kind: "approval", id: card })}>the card</button></>}
      {grant !== undefined && <>{standing === "" && card === null ? ", grant " : " grant "}<Hash of={grant.id} what="grant" /></>}
    </span>],
    ["On what evidence", why === undefined ? "…" : <span key="4">{why.evidence.length === 0 && untrusted > 0 ? "Nothing of its own" : count(why.evidence.length, "thing")}{untrusted > 0
      ? <>, <span className={styles.untrusted}>{untrusted} untrusted{why.evidence.length === 0 && " behind it"}</span></>
      : why.trust === null || why.trust === "untrusted" ? "" : `, the weakest ${trust(why.trust)}`}. <Link to="/lineage" search={{ of: row.receipt_id }}>See the path</Link></span>],
    ["Sent to the model", why === undefined ? "…" : sender(task) !== "" ? sender(task) : pack === undefined ? "Nothing" : <span key="5">{count(why?.context.length ?? 0, "request")}, the last <Hash of={pack.id} what="artifact" /></span>],
    ["What was blocked", denied.length === 0 ? "Nothing" : <span key="6">{denied.map((one) => <span key={one.action_request_id} className={styles.block}><Words of={said(one.summary)} /></span>)}</span>],
    ["Result", <span key="7"><Words of={action === undefined ? result(row.result, row.resolved, receipt.as_chosen).word : capital(said(row.summary))} /></span>],
    ["Can it be undone", row.undone_by !== null ? <span key="8">It was undone by <button type="button" className={styles.cite} onClick={() => row.undone_by !== null && onSee({ kind: "receipt", id: row.undone_by })}>{shortReceipt(row.undone_by)}</button></span>
      : row.reversibility === "irreversible" ? "No, it is irreversible"
      : noUndo(receipt) ?? (row.reversibility === "reversible" ? "Yes, it is reversible" : capital(plain(row.reversibility)))],
    ["Can others verify", <span key="9">{receipt.signature === "holds" ? "Signed, and the signature holds" : receipt.signature === "none" ? "Not signed: this store has no keys" : `The signature ${receipt.signature === "fails" ? "does not hold" : "is by a key this store does not know"}`}{verifiability !== "" && verifiability !== "signed" && `, ${plain(verifiability)}`}</span>],
  ] as const;
}

/** Lines of a guest's turn that are shown; the rest is counted. */
const SEEN = 30;

/** What was seen of a guest's turn: whom it reached, what it called itself, what it did not tell. */
function Turn({ of, task }: { of: Receipt; task: Task }) {
  const observed = record(of.receipt)["observed"];
  const lines = Array.isArray(observed) ? observed.filter((line) => typeof line === "string") : [];
  if (!task.reasoner.startsWith("guest:") || lines.length === 0) return null;
  return (
    <section aria-label="What was seen of the agent's turn">
      <h4>What was seen</h4>
      <ul>
        {lines.slice(0, SEEN).map((line, at) => <li key={at}><Words of={line} /></li>)}
        {lines.length > SEEN && <li>and {lines.length - SEEN} more lines</li>}
      </ul>
    </section>
  );
}

/** Who proposes, where it is no model of Hermit's. */
function sender(task: Task): string {
  const [kind, name] = task.reasoner.split(/:(.*)/s);
  if (kind === "guest") return `Nothing by Hermit: the agent ${name} worked by itself. What it sent is in the record of its turn`;
  return kind === "playbook" ? `Nothing: the playbook ${name} proposed it` : "";
}

/** The standing grant that stood in for a person's yes, as the signed statement names it; empty where none did. */
function standingOf(receipt: Receipt): string {
  return word(record(record(record(receipt.receipt)["authorized"])["standing"])["grant_id"]);
}

/** Which, by whom, and how much of it is left. */
function Standing({ grant }: { grant: string }) {
  const asked = useAsk("grants.standing", { all: true });
  const found = asked.data?.rows.find((one) => one.grant_id === grant);
  if (found === undefined) return <>A standing grant of yours, <Hash of={grant} what="standing grant" /></>;
  const left = found.max_uses - found.uses;
  return (
    <>
      A standing grant, given by you {surfaceName(found.surface)}: <Words of={found.words ?? "(its words are erased)"} />.{" "}
      {found.state === "active" ? `${many(left)} of ${count(found.max_uses, "use")} left, until ` : `It is ${found.state}, ${many(found.uses)} of ${count(found.max_uses, "use")} used, its end `}
      <Time at={found.expires_at} />. <Link to="/policy" search={{ tab: "grants" }}>Standing grants</Link>
    </>
  );
}

function goalOf(why: Explanation, task: Task): string {
  const named = why.goal.map((thing: Thing) => (thing.label === null ? "" : said(thing.label))).filter(Boolean);
  const goal = said(task.goal);
  const decision = why.decisions.at(-1);
  const told = [goal !== "" ? goal : named[0] ?? "", decision?.label == null ? "" : said(decision.label)].map((one) => one.trim()).filter(Boolean);
  // Each is a sentence of its own.
  return told.map((one, at) => capital(at < told.length - 1 && !/[\p{STerm}:…]$/u.test(one) ? `${one}.` : one)).join(" ");
}

function Changed({ id }: { id: string }) {
  const asked = useChanges(id);
  return (
    <Answer asked={asked} what="the changes" lines={3} isEmpty={(changes) => changes.total === 0} empty={null}>
      {(changes) => {
        const sum = changes.total <= FEW ? tally(changes.files.map(diffFile)) : { del: 0, add: 0 };
        // What was left out or was not carried out is no change; where all of it is at hand, it is counted apart.
        const left = changes.total <= FEW ? changes.files.filter((file) => file.outcome === "not_done").length : 0;
        return (
          <div className={styles.changes}>
            <div className={styles.heading}>
              <h3>Changes</h3>
              <span className={styles.faint}>{count(changes.total - left, "change")}{left > 0 && `, ${many(left)} not made`}{sum.del + sum.add > 0 && <>, <span className={styles.del}>−{sum.del}</span> <span className={styles.add}>+{sum.add}</span></>}</span>
            </div>
            <ChangeList of={id} first={changes} />
          </div>
        );
      }}
    </Answer>
  );
}

function Acts({ receipt }: { receipt: Receipt }) {
  const { row } = receipt;
  return (
    <div className={styles.acts}>
      <UndoButton receipt={row.receipt_id} label="Undo this" because={noUndo(receipt)} />
      <Link to="/lineage" search={{ of: row.receipt_id }} className={styles.button}><Icon name="lineage" size={14} />Path</Link>
      <span className={styles.space} />
      <Link to="/proof" search={{ task: row.task_id }} className={styles.button}>Export proof</Link>
    </div>
  );
}
