// Schedules: what begins by itself, when it does so next, what became of its times, and how a new one is made.
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ResumeWithPassphrase } from "~/features/approvals/ResumeWithPassphrase";
import { useAct, useAsk } from "~/ipc/client";
import type { Schedule } from "~/ipc/generated/schedules";
import type { ScheduleState } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { Button, Segmented } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import type { MarkName } from "~/primitives/Icon";
import { Answer, Empty, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { Screen } from "~/screen/Screen";
import { capital, count, modelName, profileName, runLook } from "~/screen/words";
import { Asks } from "./Asks";
import { Calendar } from "./Calendar";
import { reason } from "./Entry";
import { History } from "./History";
import { Hook } from "./Hook";
import { boundsOf } from "./limits";
import { Machines } from "./Machines";
import { NewSchedule } from "./NewSchedule";
import styles from "./Schedules.module.css";
import { unseen, waits, watches } from "./triggers";

const TONE: Readonly<Record<ScheduleState, "done" | "waiting" | "mute">> = { active: "done", paused: "waiting", over: "mute", removed: "mute" };

const MARK: Readonly<Record<ScheduleState, MarkName>> = { active: "done", paused: "paused", over: "idle", removed: "idle" };

/** How often it is asked whether one that machines hold together waits for a way between them: no notice tells of that. */
const AGAIN_MS = 5_000;

export function Schedules({ of }: { of?: string | undefined }) {
  const asked = useAsk("schedules.list", {}, { refetchInterval: ({ state }) => (state.data?.schedules.some((one) => one.held_by != null) === true ? AGAIN_MS : false) });
  const [isNew, setNew] = useState(false);
  const [view, setView] = useState<"list" | "calendar">("list");
  return (
    <Screen title="Schedules" sub={<span>Tasks that begin by themselves. Each asks you as always before it changes anything.</span>}>
      <div className={styles.screen}>
        {isNew ? <NewSchedule close={() => setNew(false)} /> : <div><Button look="person" onClick={() => setNew(true)}>New schedule</Button></div>}
        <Answer asked={asked} what="schedules" isEmpty={(found) => found.schedules.length === 0 && !isNew} empty={<Empty title="No schedules">Say when and what, for example every weekday at 8:30, which files changed. You see its next times before you keep it.</Empty>}>
          {(found) => (
            <>
              {found.schedules.length > 0 && <div className={styles.view}><Segmented label="View" value={view} options={[{ value: "list", label: "List" }, { value: "calendar", label: "Calendar" }]} onChange={setView} /></div>}
              {view === "calendar" && found.schedules.length > 0
                ? <Calendar schedules={found.schedules} />
                : found.schedules.map((one) => <One key={one.name} schedule={one} open={one.name === of} />)}
            </>
          )}
        </Answer>
      </div>
    </Screen>
  );
}

function One({ schedule: one, open }: { schedule: Schedule; open: boolean }) {
  const navigate = useNavigate();
  const pause = useAct("schedules.pause");
  const resume = useAct("schedules.resume");
  const remove = useAct("schedules.remove");
  const run = useAct("schedules.run");
  const [sure, setSure] = useState(false);
  const next = one.next[0];
  const failed = [pause, resume, remove, run].map((act) => act.error).find((error) => error !== null);
  return (
    <article className={styles.card} aria-label={one.name}>
      <header>
        <h2><Words of={one.name} /></h2>
        <StateTag tone={lookUp(TONE, one.state, "mute")} mark={lookUp(MARK, one.state, "idle")}>{one.by_itself ? "Paused itself" : capital(one.state)}</StateTag>
      </header>
      <p className={styles.when}><Words of={capital(one.said)} />{next !== undefined && <>. Next: <b>{next.text}</b></>}{one.waits_for !== null && <>. <b><Words of={waits(one.waits_for, one.folder)} /></b></>}</p>
      {one.why !== null && <p role="status"><Words of={capital(one.why)} /></p>}
      <Machines schedule={one} />
      {one.unseen !== null && <p role="status">What it watches cannot be seen now. {unseen(one.unseen)}.</p>}
      <p className={styles.goal}><Words of={one.goal} /></p>
      <details open={open}>
        <summary>{capital(count(one.fired, "run"))}, {one.passed_over === 0 ? "no time passed over" : `${count(one.passed_over, "time")} passed over`}</summary>
        <Facts wide rows={[
          ["Folder", <Words key="folder" of={one.folder} />],
          ["Works with", <Words key="worker" of={modelName(one.worker)} />],
          ["Policy profile", profileName(one.profile)],
          ...(one.waits_for === null ? [["Read as", `${one.rule}, time zone ${one.zone}`] as const] : watches(one.waits_for)),
          one.waits_for !== null ? null : ["Missed times", one.catch_up === "skip" ? "Skipped" : one.catch_up === "newest" ? "Hermit makes up for the newest" : `Hermit makes up for the newest ${one.catch_up_most ?? 1}`],
          one.grace_minutes === null ? null : ["Too late after", count(one.grace_minutes, "minute")],
          ...boundsOf(one.limits),
          one.quiet ? ["Reports", "Only runs that changed something, asked, were denied something or failed"] : null,
          one.last_passed_over === null ? null : ["Last passed over", <><Time at={one.last_passed_over.until} />: {reason(one.last_passed_over.why)}</>],
          ["Version", <>{one.version}, since <Time at={one.since} /></>],
        ]} />
        {one.hook !== null && <Hook hook={one.hook} schedule={one.name} />}
        {one.next.length > 1 && <><h3>Next times</h3><ol className={styles.times}>{one.next.map((due) => <li key={due.at}>{due.text}</li>)}</ol></>}
        {one.runs.length > 0 && <><h3>Runs</h3><ul className={styles.times}>{one.runs.map((ran) => <li key={ran.task_id}><Link to="/task/$id" params={{ id: ran.task_id }}><Time at={ran.slot_at} /></Link> {ran.run_status === null ? "Unknown" : runLook(ran.run_status).word}{ran.counts_instead != null && <>. Not counted: <Words of={ran.counts_instead} /> began it too, and its run counts</>}</li>)}</ul></>}
        <div className={styles.more}>
          <Asks name={one.name} />
          <History name={one.name} />
        </div>
      </details>
      <div className={styles.buttons}>
        <Button because={run.isPending ? "Beginning" : null} onClick={() => run.mutate({ name: one.name, channel: "app", idempotency_key: null }, { onSuccess: (made) => void navigate({ to: "/task/$id", params: { id: made.task_id } }) })}>Run it now</Button>
        {one.state === "active" && <Button because={pause.isPending ? "Pausing" : null} onClick={() => pause.mutate({ name: one.name, reason: "Paused on the page" })}>Pause</Button>}
        {one.state === "paused" && <Button because={resume.isPending ? "Resuming" : null} onClick={() => resume.mutate({ name: one.name })}>Resume</Button>}
        {sure
          ? <Button look="danger" because={remove.isPending ? "Removing" : null} onClick={() => remove.mutate({ name: one.name, reason: "Removed on the page" })}>Remove {one.name}</Button>
          : <Button look="link" onClick={() => setSure(true)}>Remove</Button>}
      </div>
      {failed !== undefined && <Failed error={failed} />}
      {one.state === "paused" && <ResumeWithPassphrase of="schedule" name={one.name} refused={resume.error} done={resume.reset} />}
    </article>
  );
}
