// One task: what was said, what happened, and everything behind whatever is chosen; at any event of its life.
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useMemo, useState } from "react";
import { Screen } from "~/screen/Screen";
import { brief, cost, folderName, profileName, run, said, tokens } from "~/screen/words";
import { useAct, useAsk, useShows } from "~/ipc/client";
import type { Task } from "~/ipc/generated/task";
import type { Event } from "~/ipc/generated/task_events";
import type { ActionClass } from "~/ipc/generated/words";
import { Button, Segmented } from "~/primitives/Button";
import { Meter } from "~/primitives/Facts";
import { Mark } from "~/primitives/Icon";
import { Answer, Failed, sentence } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { Urgency } from "~/features/tasks/Steps";
import { UndoButton } from "~/features/undo/Undo";
import { Conversation } from "./Conversation";
import { useEvents } from "./events";
import { Inspector } from "./Inspector";
import { DAY_CEILING, reasonOf } from "./paused";
import { Slider } from "./Slider";
import { type See, seeKey } from "~/screen/see";
import { type Story, story } from "./story";
import { Timeline } from "./Timeline";
import styles from "./Task.module.css";

export function TaskScreen({ id, chosen }: { id: string; chosen: string | undefined }) {
  const asked = useAsk("task.show", { task: id });
  const title = brief(said(asked.data?.row.title, "Task"));
  return (
    <Screen title={<Words of={title} />} under={<Link to="/tasks" className={styles.under}>Tasks<span aria-hidden="true">/</span></Link>}>
      <Answer asked={asked} what="the task" large lines={12}>
        {(task) => <Opened task={task} chosen={chosen} />}
      </Answer>
    </Screen>
  );
}

/** What is seen of a task where there is room for one part. */
type Pane = "conversation" | "timeline" | "details";
const PANES: readonly { value: Pane; label: string }[] = [{ value: "conversation", label: "Conversation" }, { value: "timeline", label: "Timeline" }, { value: "details", label: "Details" }];
/** What stands beside the details where there is room for two parts. */
type Side = Exclude<Pane, "details">;
const SIDES: readonly { value: Side; label: string }[] = [{ value: "conversation", label: "Conversation" }, { value: "timeline", label: "Timeline" }];

const NONE: readonly Event[] = [];

/** Kinds of acts that no undo takes back: they changed no file, or are taken back by a change of their own. */
const NEVER_UNDONE: readonly ActionClass[] = ["read_local", "network_read", "durable_memory_write", "approval_resolution"];

/** Whether an undo may take an act back. What Hermit may do is changed back by a change of its own, unless it lies in files. */
function mayBeUndone({ class: kind, tool }: Task["actions"][number]): boolean {
  return kind === "capability_change" ? tool === "change" || tool === "command" : !NEVER_UNDONE.includes(kind);
}

function first(chosen: string | undefined, task: Task, events: readonly Event[]): See | null {
  if (chosen?.startsWith("evt_") === true) {
    const event = events.find((one) => one.event_id === chosen);
    return event === undefined ? null : { kind: "event", seq: event.seq };
  }
  if (chosen?.startsWith("rcp_") === true) return { kind: "receipt", id: chosen };
  if (chosen?.startsWith("apr_") === true) return { kind: "approval", id: chosen };
  if (chosen?.startsWith("act_") === true) return { kind: "action", id: chosen };
  const turn = /^turn (\d{1,9}) (\d{1,9})$/.exec(chosen ?? "");
  if (turn !== null) return { kind: "turn", attempt: Number(turn[1]), iteration: Number(turn[2]) };
  const waits = task.waits_for;
  if (waits?.kind === "approval" && waits.id !== null) return { kind: "approval", id: waits.id };
  const receipt = task.actions.findLast((action) => action.receipt_id !== null && action.class !== "read_local");
  if (receipt?.receipt_id != null) return { kind: "receipt", id: receipt.receipt_id };
  // What was refused is what a person would ask about.
  const denied = task.actions.findLast((action) => action.verdict === "deny");
  return denied === undefined ? null : { kind: "action", id: denied.action_request_id };
}

/** Whether what is chosen had not happened yet. */
function isAfter(see: See | null, whole: Story, until: number): boolean {
  if (see === null) return false;
  const key = seeKey(see);
  const first = see.kind === "event" ? see.seq : whole.rows.find((row) => seeKey(row.see) === key)?.seq;
  return first !== undefined && first > until;
}

function Opened({ task, chosen }: { task: Task; chosen: string | undefined }) {
  const events = useEvents(task.row.task_id);
  useShows(task.conversation_id);
  const [until, setUntil] = useState<number | null>(null);
  const [see, setChosen] = useState<See | null>(null);
  const [pane, setPane] = useState<Pane>("conversation");
  const [side, setSide] = useState<Side>("conversation");
  const turn = (to: Pane) => {
    setPane(to);
    if (to !== "details") setSide(to);
  };
  // Where one part is seen at a time, choosing something leads to what is behind it.
  const setSee = useCallback((to: See) => {
    setChosen(to);
    setPane("details");
  }, []);
  const all = events.data ?? NONE;
  const shown = useMemo(() => see ?? first(chosen, task, all), [see, chosen, task, all]);
  // Told by their names, so that the story is told anew only where one comes to them.
  const names = task.actions.filter((action) => action.as_chosen === true).map((action) => action.action_request_id).join(" ");
  const parts = useMemo(() => new Set(names.split(" ")), [names]);
  const whole = useMemo(() => story(all, undefined, parts), [all, parts]);
  const told = useMemo(() => (until === null ? whole : story(all, until, parts)), [all, whole, until, parts]);
  // What stands beside the timeline is drawn behind it, a little at a time, so that a long story holds nobody up.
  const [beside, line] = [useDeferredValue(told), useDeferredValue(whole)];
  return (
    <div className={styles.task}>
      <Head task={task} until={until} />
      {task.interrupted === true && (
        <p className={styles.interrupted} role="status">
          <Mark name="unknown" /><span>Interrupted. It should be at work and nobody works on it: what you see ends with event {task.last_seq}, at <Time at={task.row.updated_at} />.</span>
        </p>
      )}
      <div className={styles.panes}>
        <Segmented<Pane> label="Part of the task" value={pane} options={PANES} onChange={turn} />
      </div>
      <div className={styles.sides}>
        <Segmented<Side> label="Beside the details" value={side} options={SIDES} onChange={turn} />
      </div>
      <div className={styles.columns} data-pane={pane} data-side={side}>
        <Conversation task={task} story={beside} live={until === null} events={events} see={setSee} />
        <Timeline story={told} events={events} chosen={shown} see={setSee} until={until} />
        <Inspector task={task} events={all} see={until !== null && isAfter(shown, whole, until) ? null : shown} onSee={setSee} />
      </div>
      <Slider events={all} story={told} whole={line} until={until} setUntil={setUntil} />
    </div>
  );
}

/** `until`: the event up to which the task is told; what is said and done here is about now. */
function Head({ task, until }: { task: Task; until: number | null }) {
  const { row } = task;
  const at = run(row);
  const pause = useAct("task.pause");
  const resume = useAct("task.resume");
  const cancel = useAct("task.cancel");
  const retry = useAct("task.retry");
  const navigate = useNavigate();
  const [sure, setSure] = useState(false);
  const ended = row.ended_at !== null;
  const undo = task.actions.findLast((action) => action.receipt_id !== null && mayBeUndone(action) && (action.result === "succeeded" || action.result === "partial"));
  const error = pause.error ?? resume.error ?? cancel.error ?? retry.error;
  const open = (id: string) => void navigate({ to: "/task/$id", params: { id } });
  const step = task.attempts.at(-1);
  const denied = row.refused_by === "policy" ? task.actions.findLast((action) => action.verdict === "deny") : undefined;
  if (until !== null) {
    return (
      <div className={styles.head}>
        <StateTag tone="mute" mark="idle">Earlier moment</StateTag>
        <span className={styles.faint}>At event {until}. State, cost and receipts of now are shown again when you go back to now.</span>
      </div>
    );
  }
  return (
    <div className={styles.head}>
      <StateTag tone={at.tone} mark={at.mark}>{at.word}</StateTag>
      {denied === undefined
        ? <span className={styles.faint}>{step === undefined ? reasonOf(row.reason) : [step.number > 1 ? `Attempt ${step.number}` : "", row.run_status === "running" || at.tone === "waiting" || reasonOf(row.reason) === at.word.toLowerCase() ? "" : reasonOf(row.reason)].filter(Boolean).join(", ")}</span>
        : <Barred act={denied.action_request_id} />}
      {task.workspace !== null && <span className={`${styles.faint} ${styles.folder}`} title={said(task.workspace)}>{folderName(said(task.workspace))}</span>}
      {error !== null && <Failed error={error} />}
      <span className={styles.space} />
      {!ended && <Urgency task={row.task_id} value={row.priority} />}
      <div className={styles.meter}>
        <div><span>Cost</span><b>{cost(row.cost_micros)}</b><span>of {cost(task.cost_micros_max)}</span></div>
        <Meter label="Cost" used={row.cost_micros} of={task.cost_micros_max} />
      </div>
      <div className={styles.meter}>
        <div><span>Tokens</span><b>{tokens(row.tokens_used)}</b><span>of {tokens(task.tokens_max)}</span></div>
        <Meter label="Tokens" used={row.tokens_used} of={task.tokens_max} />
      </div>
      {row.run_status === "paused" ? (
        <>
          <Button icon="play" onClick={() => resume.mutate({ task: row.task_id })}>Resume</Button>
          {row.reason === DAY_CEILING && <Button icon="pause" title="It stays paused when a new day begins" onClick={() => pause.mutate({ task: row.task_id })}>Keep paused</Button>}
        </>
      ) : !ended ? (
        <Button icon="pause" onClick={() => pause.mutate({ task: row.task_id })}>Pause</Button>
      ) : row.run_status === "completed" && row.refused_by === null ? (
        <Button icon="retry" title="Opens a new task with this folder, goal and model" onClick={() => void navigate({ to: "/tasks/new", search: { like: row.task_id } })}>Use again</Button>
      ) : (
        <Button icon="retry" onClick={() => retry.mutate({ task: row.task_id }, { onSuccess: (made) => open(made.task_id) })}>Retry</Button>
      )}
      <UndoButton
        receipt={undo?.receipt_id ?? null} label="Undo" because={undo === undefined ? "Nothing of this task can be undone" : null}
        title="Shows what undoing the last change would do"
      />
      {!ended && (sure ? (
        <Button look="danger" onClick={() => { setSure(false); cancel.mutate({ task: row.task_id, reason: "cancelled from the window" }); }}>Cancel the task</Button>
      ) : (
        <Button look="quiet" onClick={() => setSure(true)}>Cancel</Button>
      ))}
    </div>
  );
}

/** The rule that left nothing to do, by what it says and by its name. */
function Barred({ act }: { act: string }) {
  const asked = useAsk("policy.explain", { about: act });
  const rule = asked.data?.rules.find((one) => one.effect !== "permit") ?? asked.data?.rules[0];
  if (asked.data === undefined) return <span className={styles.faint}>Nothing was done</span>;
  return (
    <span className={`${styles.faint} ${styles.barred}`} title={rule === undefined ? undefined : `Rule ${rule.name}, profile ${profileName(asked.data.profile)}`}>
      Nothing was done.{rule !== undefined && <> Rule <code>{rule.name}</code>:</>} {sentence(rule === undefined || rule.reason === "" ? "no rule permits it" : rule.reason)}
    </span>
  );
}
