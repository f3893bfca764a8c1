// What waits for a person, across tasks; and beside it everything there is to know before answering.
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { useSteps } from "~/screen/keyboard";
import { Screen } from "~/screen/Screen";
import { Card } from "~/features/approvals/Card";
import { approvalLook, brief, capital, count, plain, said } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import type { RiskBand } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import type { ApprovalRow } from "~/ipc/generated/approvals";
import type { Message } from "~/ipc/generated/conversations";
import type { Question as Asked, TaskRow } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { Mark } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { useParts } from "~/primitives/Parts";
import { Answer, Empty } from "~/primitives/States";
import { Key, RiskMark } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { OpenMessage } from "./OpenMessage";
import { Question } from "./Question";
import { Unknown } from "./Unknown";
import styles from "./Inbox.module.css";

type Item =
  | { kind: "approval"; id: string; at: number; row: ApprovalRow }
  | { kind: "question"; id: string; at: number; row: Asked }
  | { kind: "unknown"; id: string; at: number; row: TaskRow }
  | { kind: "message"; id: string; at: number; row: Message };

const SHOWN_MAX = 200;

export function Inbox({ chosen }: { chosen: string | undefined }) {
  const navigate = useNavigate();
  const list = useRef<HTMLDivElement>(null);
  const approvals = useAsk("approvals.list", { limit: SHOWN_MAX });
  const questions = useAsk("task.questions", { status: "pending", limit: SHOWN_MAX });
  const tasks = useAsk("task.list", { group: "waiting", limit: SHOWN_MAX });
  const decided = useAsk("approvals.list", { status: "any", limit: 40 });
  const messages = useAsk("conversations.undecided", { limit: SHOWN_MAX });
  const titles = useMemo(() => new Map((tasks.data?.rows ?? []).map((row) => [row.task_id, brief(said(row.title))])), [tasks.data]);

  const items = useMemo(() => {
    const all: Item[] = [
      ...(approvals.data?.rows ?? []).map((row): Item => ({ kind: "approval", id: row.approval_id, at: row.requested_at, row })),
      ...(questions.data?.rows ?? []).map((row): Item => ({ kind: "question", id: row.question_id, at: row.requested_at, row })),
      ...(tasks.data?.rows ?? []).filter((row) => row.unknown_effects > 0).map((row): Item => ({ kind: "unknown", id: row.task_id, at: row.updated_at, row })),
      ...(messages.data?.rows ?? []).map((row): Item => ({ kind: "message", id: row.message_id, at: row.said_at, row })),
    ];
    return all.sort((a, b) => weight(b) - weight(a) || b.at - a.at);
  }, [approvals.data, questions.data, tasks.data, messages.data]);
  const past = (decided.data?.rows ?? []).filter((row) => row.status !== "pending").slice(0, 12);

  const at = Math.max(0, items.findIndex((item) => item.id === chosen));
  const here = past.find((row) => row.approval_id === chosen) === undefined ? items[at] : undefined;
  const pastHere = past.find((row) => row.approval_id === chosen);
  // One that was answered long ago, from a list of them: its own card, and not whatever waits at the moment.
  const elsewhere = chosen?.startsWith("apr_") === true && pastHere === undefined && here?.id !== chosen ? chosen : undefined;
  const choose = useCallback((item: Item) => void navigate({ to: "/", search: { at: item.id }, replace: true }), [navigate]);
  useSteps(items, at, choose);
  const { shown, rest } = useParts(items, { reach: here === undefined ? -1 : at });
  const isPart = [approvals, questions, tasks, messages].some((asked) => asked.data?.next != null);
  const waits = `${many(items.length)}${isPart ? "+" : ""}`;
  useEffect(() => {
    void list.current?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [here?.id]);

  return (
    <Screen title="Inbox" sub={<span>{items.length === 0 ? "Nothing waits for you." : `${waits} ${items.length === 1 ? "thing waits" : "things wait"} for you. Nothing here decides by itself.`}</span>}>
      <div className={styles.inbox} data-chosen={chosen !== undefined || undefined}>
        <div className={styles.list} ref={list}>
          <Answer asked={approvals} what="what waits" lines={8}>
            {() => (
              <>
                <h2 id="waiting">Waiting for you<span>{waits}</span></h2>
                {items.length === 0 && <p className={styles.none}>Nothing. You will be asked here before anything consequential happens.</p>}
                <ul aria-labelledby="waiting">
                  {shown.map((item) => (
                    <li key={item.id}>
                      <button type="button" className={styles.item} aria-current={(elsewhere === undefined && item === here) || undefined} onClick={() => choose(item)}>
                        <Line item={item} title={titles} />
                      </button>
                    </li>
                  ))}
                </ul>
                {rest}
              </>
            )}
          </Answer>
          {past.length > 0 && (
            <>
              <h2 id="decided">Decided lately<span>{past.length}</span></h2>
              <ul aria-labelledby="decided">
                {past.map((row) => (
                  <li key={row.approval_id}>
                    <button
                      type="button" className={styles.item} data-past aria-current={row === pastHere || undefined}
                      onClick={() => void navigate({ to: "/", search: { at: row.approval_id }, replace: true })}
                    >
                      <span className={styles.mark} data-tone={row.status === "granted" ? "done" : "failed"}>
                        <Mark name={approvalLook(row.status).mark} size={13} />
                      </span>
                      <span className={styles.what}><Words of={brief(capital(said(row.summary)))} /></span>
                      <span className={styles.second}><span>{approvalLook(row.status).word}</span>{row.resolved_at !== null && <Time at={row.resolved_at} clock />}</span>
                    </button>
                  </li>
                ))}
              </ul>
            </>
          )}
          <p className={styles.keys}><Key>J</Key> <Key>K</Key> move. No key approves.</p>
        </div>
        <div className={styles.pane}>
          <div className={styles.back}><Button look="link" onClick={() => void navigate({ to: "/", search: {}, replace: true })}>Back to the list</Button></div>
          {elsewhere !== undefined ? <Card id={elsewhere} key={elsewhere} /> : pastHere !== undefined ? <Card id={pastHere.approval_id} key={pastHere.approval_id} /> : here === undefined ? <Nothing /> : <Pane item={here} />}
        </div>
      </div>
    </Screen>
  );
}

const RISK: Readonly<Record<RiskBand, number>> = { critical: 4, high: 3, moderate: 2, low: 1 };
/** The gravest first; an unknown outcome blocks its task, so it stands with the grave ones. */
function weight(item: Item): number {
  if (item.kind === "approval") return lookUp(RISK, item.row.risk, RISK.high);
  return item.kind === "unknown" ? 3 : 2;
}

function Pane({ item }: { item: Item }) {
  switch (item.kind) {
    case "approval":
      return <Card id={item.id} key={item.id} />;
    case "question":
      return <Question question={item.row} key={item.id} />;
    case "unknown":
      return <Unknown task={item.row} key={item.id} />;
    case "message":
      return <OpenMessage message={item.row} key={item.id} />;
    default:
      return item satisfies never;
  }
}

function Nothing() {
  return (
    <Empty title="Nothing to approve">
      When an agent wants to change something, you see exactly what here and decide. <Link to="/tasks/new">Start a task</Link>
    </Empty>
  );
}

function Line({ item, title }: { item: Item; title: ReadonlyMap<string, string> }) {
  switch (item.kind) {
    case "approval":
      return (
        <>
          <RiskMark risk={item.row.risk} />
          <span className={styles.what}><Words of={brief(capital(said(item.row.summary)))} /></span>
          <span className={styles.second}><span>{title.get(item.row.task_id) ?? plain(item.row.action_class)}</span><Time at={item.at} /></span>
          <span className={styles.third} data-risk={item.row.risk}>{capital(item.row.risk)} risk</span>
        </>
      );
    case "question":
      return (
        <>
          <span className={styles.mark} data-tone="waiting"><Mark name="question" size={13} /></span>
          <span className={styles.what}><Words of={said(item.row.question)} /></span>
          <span className={styles.second}><span>{title.get(item.row.task_id) ?? ""}</span><Time at={item.at} /></span>
          <span className={styles.third}>Question{item.row.choices.length > 0 && `, ${count(item.row.choices.length, "choice")}`}</span>
        </>
      );
    case "unknown":
      return (
        <>
          <span className={styles.mark} data-tone="unknown"><Mark name="unknown" size={13} /></span>
          <span className={styles.what}>{said(item.row.title)}</span>
          <span className={styles.second}><span>Did it happen?</span><Time at={item.at} /></span>
          <span className={styles.third} data-risk="unknown">Unknown outcome, blocked</span>
        </>
      );
    case "message":
      return (
        <>
          <span className={styles.mark} data-tone="waiting"><Mark name="question" size={13} /></span>
          <span className={styles.what}><Words of={brief(said(item.row.text))} /></span>
          <span className={styles.second}><span>What is it about?</span><Time at={item.at} /></span>
          <span className={styles.third}>Message, {count(item.row.candidates.length, "task")} may be meant</span>
        </>
      );
    default:
      return item satisfies never;
  }
}
