// What waits for a person, across tasks; and beside it everything there is to know before answering.
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useKey, useSteps } from "~/screen/keyboard";
import { projectsOf } from "~/screen/projects";
import { Screen } from "~/screen/Screen";
import { serviceName, useServices } from "~/features/chats/services";
import { AskerLine } from "~/features/approvals/Asker";
import { Card } from "~/features/approvals/Card";
import { AsksYou } from "~/features/mesh/AsksYou";
import { approvalLook, brief, capital, className, count, said } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import type { RiskBand } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import type { ApprovalRow } from "~/ipc/generated/approvals";
import type { Message } from "~/ipc/generated/conversations";
import type { Gateway } from "~/ipc/generated/gateways";
import type { Schedule } from "~/ipc/generated/schedules";
import type { Question as Asked, TaskRow } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { Select } from "~/primitives/Field";
import { Mark } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { useParts } from "~/primitives/Parts";
import { Answer, Empty } from "~/primitives/States";
import { Key, RiskMark } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { Chosen } from "./Chosen";
import { OpenMessage } from "./OpenMessage";
import { PausedGateway } from "./PausedGateway";
import { PausedSchedule } from "./PausedSchedule";
import { Question } from "./Question";
import { Unknown } from "./Unknown";
import { useUnsent } from "./unsent";
import styles from "./Inbox.module.css";

type Item =
  | { kind: "approval"; id: string; at: number; row: ApprovalRow }
  | { kind: "question"; id: string; at: number; row: Asked }
  | { kind: "over"; id: string; at: number; row: Asked }
  | { kind: "unknown"; id: string; at: number; row: TaskRow }
  | { kind: "message"; id: string; at: number; row: Message }
  | { kind: "schedule"; id: string; at: number; row: Schedule }
  | { kind: "gateway"; id: string; at: number; row: Gateway };

const SHOWN_MAX = 200;

/** `after`: what stands below the things that wait. */
export function Inbox({ chosen, after }: { chosen: string | undefined; after?: ReactNode }) {
  const navigate = useNavigate();
  const list = useRef<HTMLDivElement>(null);
  const pane = useRef<HTMLDivElement>(null);
  const approvals = useAsk("approvals.list", { limit: SHOWN_MAX });
  const questions = useAsk("task.questions", { status: "pending", limit: SHOWN_MAX });
  const tasks = useAsk("task.list", { group: "waiting", limit: SHOWN_MAX });
  const decided = useAsk("approvals.list", { status: "any", limit: 40 });
  const messages = useAsk("conversations.undecided", { limit: SHOWN_MAX });
  const { paused_schedules: paused = 0, paused_gateways: cut = 0 } = useAsk("host.status", {}).data?.waiting ?? {};
  const schedules = useAsk("schedules.list", {}, { enabled: paused > 0 });
  const gateways = useAsk("gateways.list", {}, { enabled: cut > 0 });
  const unsent = useUnsent();
  const titles = useMemo(() => new Map((tasks.data?.rows ?? []).map((row) => [row.task_id, brief(said(row.title))])), [tasks.data]);
  const { projects, projectOf } = useProjects(tasks.data?.rows);
  const [project, setProject] = useState("");
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());

  // What was written as an answer stays when its question was answered elsewhere; that is known once every open question is.
  const over = useMemo(() => {
    const open = questions.data?.next == null ? questions.data?.rows : undefined;
    return open === undefined ? [] : unsent.filter((one) => !open.some((row) => row.question_id === one.question_id));
  }, [questions.data, unsent]);

  const everything = useMemo(() => {
    const all: Item[] = [
      ...(approvals.data?.rows ?? []).map((row): Item => ({ kind: "approval", id: row.approval_id, at: row.requested_at, row })),
      ...(questions.data?.rows ?? []).map((row): Item => ({ kind: "question", id: row.question_id, at: row.requested_at, row })),
      ...over.map((row): Item => ({ kind: "over", id: row.question_id, at: row.requested_at, row })),
      ...(tasks.data?.rows ?? []).filter((row) => row.unknown_effects > 0).map((row): Item => ({ kind: "unknown", id: row.task_id, at: row.updated_at, row })),
      ...(messages.data?.rows ?? []).map((row): Item => ({ kind: "message", id: row.message_id, at: row.said_at, row })),
      ...(paused === 0 ? [] : schedules.data?.schedules ?? []).filter((row) => row.by_itself).map((row): Item => ({ kind: "schedule", id: `schedule:${row.name}`, at: row.runs[0]?.slot_at ?? row.since, row })),
      ...(cut === 0 ? [] : gateways.data?.gateways ?? []).filter((row) => row.by_itself).map((row): Item => ({ kind: "gateway", id: `gateway:${row.name}`, at: row.since, row })),
    ];
    return all.sort((a, b) => weight(b) - weight(a) || b.at - a.at);
  }, [approvals.data, questions.data, over, tasks.data, messages.data, paused, schedules.data, cut, gateways.data]);
  const items = useMemo(() => (project === "" ? everything : everything.filter((item) => projectOf(taskOf(item)) === project)), [everything, project, projectOf]);
  const chosenRows = items.flatMap((item) => (item.kind === "approval" && marked.has(item.id) ? [item.row] : []));
  const past = (decided.data?.rows ?? []).filter((row) => row.status !== "pending").slice(0, 12);

  // What is shown without having been chosen stays when other things come in; once answered, until something newer waits.
  const [first, setFirst] = useState<string>();
  const answered = (decided.data?.rows ?? []).find((row) => row.approval_id === first && row.status !== "pending");
  const isOvertaken = answered !== undefined && items.some((item) => item.at > (answered.resolved_at ?? 0));
  const stays = items.some((item) => item.id === first) || (first?.startsWith("apr_") === true && !isOvertaken);
  const shownFirst = chosen === undefined && stays ? first : items[0]?.id;
  useEffect(() => setFirst(chosen === undefined ? shownFirst : undefined), [chosen, shownFirst]);
  const wanted = chosen ?? shownFirst;
  const at = Math.max(0, items.findIndex((item) => item.id === wanted));
  const pastHere = past.find((row) => row.approval_id === wanted);
  const here = pastHere === undefined ? items[at] : undefined;
  // One that was answered long ago, from a list of them: its own card, and not whatever waits at the moment.
  const elsewhere = wanted?.startsWith("apr_") === true && pastHere === undefined && here?.id !== wanted ? wanted : undefined;
  // One place for every card, so that what is typed on it stays while it comes onto a list, or leaves it.
  const card = elsewhere ?? pastHere?.approval_id ?? (here?.kind === "approval" ? here.id : undefined);
  const choose = useCallback((item: Item) => void navigate({ to: "/", search: { at: item.id }, replace: true }), [navigate]);
  useSteps(items, at, choose);
  const mark = useCallback((id: string) => setMarked((before) => {
    const after = new Set(before);
    if (!after.delete(id)) after.add(id);
    return after;
  }), []);
  useKey("x", useCallback(() => { if (here?.kind === "approval") mark(here.id); }, [here, mark]));
  // Leads to the button and presses nothing: a slip of a key denies nothing.
  useKey("d", useCallback(() => pane.current?.querySelector<HTMLElement>("[data-deny]")?.focus(), []));
  const { shown, rest } = useParts(items, { reach: here === undefined ? -1 : at });
  const isPart = [approvals, questions, tasks, messages].some((asked) => asked.data?.next != null);
  const waiting = items.filter((item) => item.kind !== "over").length;
  const waits = `${many(waiting)}${isPart ? "+" : ""}`;
  // Before everything has answered nobody knows that nothing waits.
  const isKnown = [approvals, questions, tasks, messages].every((asked) => asked.data !== undefined);
  const isRefused = [approvals, questions, tasks, messages].some((asked) => asked.data === undefined && asked.error !== null);
  const nothing = isKnown ? "Nothing waits for you." : isRefused ? "Not all that may wait for you could be read." : "Looking for what waits for you.";
  useEffect(() => {
    void list.current?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [here?.id]);

  return (
    <Screen title="Inbox" sub={<span>{waiting === 0 ? nothing : `${waits} ${waiting === 1 ? "thing waits" : "things wait"} for you. Nothing here decides by itself.`}</span>}>
      <div className={styles.inbox} data-chosen={chosen !== undefined || chosenRows.length > 0 || undefined}>
        <div className={styles.list} ref={list}>
          <AsksYou />
          {projects.length > 1 && (
            <Select
              label="Project" hideLabel value={project} onChange={(event) => setProject(event.target.value)}
              options={[{ value: "", label: "All projects" }, ...projects.map((one) => ({ value: one.key, label: one.name }))]}
            />
          )}
          <Answer asked={approvals} what="what waits" lines={8}>
            {() => (
              <>
                <h2 id="waiting">Waiting for you<span>{waits}</span></h2>
                {waiting === 0 && isKnown && <p className={styles.none}>{project === "" ? "Nothing. You will be asked here before anything consequential happens." : "Nothing in this project."}</p>}
                <ul aria-labelledby="waiting">
                  {shown.map((item) => (
                    <li key={item.id} className={styles.markable} data-marked={marked.has(item.id) || undefined}>
                      {item.kind === "approval" && <input type="checkbox" aria-label={`Choose: ${brief(said(item.row.summary))}`} checked={marked.has(item.id)} onChange={() => mark(item.id)} />}
                      <button type="button" className={styles.item} aria-current={(chosenRows.length === 0 && elsewhere === undefined && item === here) || undefined} onClick={() => choose(item)}>
                        <Line item={item} title={titles} />
                      </button>
                    </li>
                  ))}
                </ul>
                {rest}
              </>
            )}
          </Answer>
          {after}
          {past.length > 0 && (
            <>
              <h2 id="decided">Decided lately<span>{many(past.length)}</span></h2>
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
          <p className={styles.keys}><Key>J</Key> <Key>K</Key> move, <Key>X</Key> chooses, <Key>D</Key> goes to Deny. No key approves.</p>
        </div>
        <div className={styles.pane} ref={pane}>
          <div className={styles.back}><Button look="link" onClick={() => void navigate({ to: "/", search: {}, replace: true })}>Back to the list</Button></div>
          {chosenRows.length > 0 ? <Chosen rows={chosenRows} clear={() => setMarked(new Set())} titleOf={(row) => titles.get(row.task_id) ?? ""} /> : card !== undefined ? <Card id={card} key={card} /> : here === undefined || here.kind === "approval" ? (isKnown && <Nothing />) : <Pane item={here} />}
        </div>
      </div>
    </Screen>
  );
}

/** The projects in which something waits, and the project of a task. */
function useProjects(rows: readonly TaskRow[] | undefined) {
  const folders = useAsk("workspaces.list", {}, { keep: true });
  return useMemo(() => {
    const all = projectsOf(folders.data?.workspaces ?? []);
    const byFolder = new Map(all.flatMap((one) => one.folders.map((folder) => [said(folder.folder), one.key] as const)));
    const byTask = new Map((rows ?? []).map((row) => [row.task_id, byFolder.get(said(row.workspace))] as const));
    const waits = new Set(byTask.values());
    return { projects: all.filter((one) => waits.has(one.key)), projectOf: (task: string | null) => (task === null ? undefined : byTask.get(task)) };
  }, [folders.data, rows]);
}

/** The task that asks; a message that nobody could bind has none yet, and a schedule or a gateway asks for all of its tasks. */
function taskOf(item: Item): string | null {
  return item.kind === "message" || item.kind === "schedule" || item.kind === "gateway" ? null : item.row.task_id;
}

const RISK: Readonly<Record<RiskBand, number>> = { critical: 4, high: 3, moderate: 2, low: 1 };
/** The gravest first; an unknown outcome blocks its task, so it stands with the grave ones. */
function weight(item: Item): number {
  if (item.kind === "approval") return lookUp(RISK, item.row.risk, RISK.high);
  return item.kind === "unknown" ? 3 : item.kind === "over" ? 0 : 2;
}

function Pane({ item }: { item: Exclude<Item, { kind: "approval" }> }) {
  switch (item.kind) {
    case "question":
    case "over":
      return <Question question={item.row} isOver={item.kind === "over"} key={item.id} />;
    case "unknown":
      return <Unknown task={item.row} key={item.id} />;
    case "message":
      return <OpenMessage message={item.row} key={item.id} />;
    case "schedule":
      return <PausedSchedule schedule={item.row} key={item.id} />;
    case "gateway":
      return <PausedGateway gateway={item.row} key={item.id} />;
    default:
      return item satisfies never;
  }
}

function Nothing() {
  return (
    <Empty title="Nothing to approve">
      When an agent wants to change something, you see exactly what it is here, and decide. <Link to="/tasks/new">Start a task</Link>
    </Empty>
  );
}

/** The task of an act; what kind of act it is, where the task has the same words. */
function taskOr(task: string | undefined, act: string, kind: string): string {
  return task === undefined || task.toLowerCase() === brief(act).toLowerCase() ? capital(kind) : task;
}

function Line({ item, title }: { item: Item; title: ReadonlyMap<string, string> }) {
  const services = useServices();
  switch (item.kind) {
    case "approval":
      return (
        <>
          <RiskMark risk={item.row.risk} />
          <span className={styles.what}><Words of={brief(capital(said(item.row.summary)))} /></span>
          <span className={styles.second}><span>{taskOr(title.get(item.row.task_id), said(item.row.summary), className(item.row.action_class))}</span><Time at={item.at} /></span>
          <span className={styles.third} data-risk={item.row.risk}>{capital(item.row.risk)} risk</span>
          <span className={styles.third} data-asker><AskerLine of={item.row} /></span>
        </>
      );
    case "question":
      return (
        <>
          <span className={styles.mark} data-tone="waiting"><Mark name="question" size={13} /></span>
          <span className={styles.what}><Words of={said(item.row.question)} /></span>
          <span className={styles.second}><span>{title.get(item.row.task_id) ?? ""}</span><Time at={item.at} /></span>
          <span className={styles.third}>Question{item.row.choices.length > 0 && `, ${count(item.row.choices.length, "choice")}`}</span>
          <span className={styles.third} data-asker><AskerLine of={item.row} /></span>
        </>
      );
    case "over":
      return (
        <>
          <span className={styles.mark}><Mark name="question" size={13} /></span>
          <span className={styles.what}><Words of={said(item.row.question)} /></span>
          <span className={styles.second}><span>{title.get(item.row.task_id) ?? ""}</span><Time at={item.at} /></span>
          <span className={styles.third}>Open no more, and what you wrote was not sent</span>
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
          <span className={styles.third}>Message, {item.row.candidates.length === 0 ? "no task yet" : `${count(item.row.candidates.length, "task")} may be meant`}</span>
        </>
      );
    case "schedule":
      return (
        <>
          <span className={styles.mark} data-tone="waiting"><Mark name="paused" size={13} /></span>
          <span className={styles.what}>The schedule {item.row.name} paused itself</span>
          <span className={styles.second}><span><Words of={brief(capital(item.row.said))} /></span><Time at={item.at} /></span>
          <span className={styles.third}>Resume or remove it</span>
        </>
      );
    case "gateway":
      return (
        <>
          <span className={styles.mark} data-tone="waiting"><Mark name="paused" size={13} /></span>
          <span className={styles.what}>The gateway {item.row.name} stopped</span>
          <span className={styles.second}><span>{serviceName(services, item.row.service)}</span><Time at={item.at} /></span>
          <span className={styles.third}>Nothing is heard or sent until you resume it</span>
        </>
      );
    default:
      return item satisfies never;
  }
}
