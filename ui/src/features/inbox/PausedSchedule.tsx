import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ResumeWithPassphrase } from "~/features/approvals/ResumeWithPassphrase";
import { capital, runLook } from "~/screen/words";
import { useAct } from "~/ipc/client";
import type { Schedule } from "~/ipc/generated/schedules";
import { Button } from "~/primitives/Button";
import { Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Inbox.module.css";

const RUNS_SHOWN = 5;

/** A schedule that paused itself: its times pass until a person has looked at its runs and says what becomes of it. */
export function PausedSchedule({ schedule }: { schedule: Schedule }) {
  const resume = useAct("schedules.resume");
  const remove = useAct("schedules.remove");
  const [sure, setSure] = useState(false);
  const failed = [resume, remove].map((act) => act.error).find((error) => error !== null);
  const because = resume.isPending || remove.isPending ? "It is being recorded" : null;
  return (
    <section className={styles.form} aria-label="Paused schedule">
      <div className={styles.meta}>
        <StateTag tone="waiting" mark="paused">Paused itself</StateTag>
        <Link to="/schedules" search={{ of: schedule.name }}>Open the schedule</Link>
      </div>
      <h2><Words of={schedule.name} />: <Words of={schedule.said} /></h2>
      <p><Words of={capital(schedule.why ?? "No reason is on record")} />. Nothing of it begins until you resume it.</p>
      {schedule.runs.length > 0 && (
        <>
          <h3>Its last runs</h3>
          <ul className={styles.ways}>
            {schedule.runs.slice(0, RUNS_SHOWN).map((ran) => (
              <li key={ran.task_id}><Link to="/task/$id" params={{ id: ran.task_id }}><Time at={ran.slot_at} /></Link> {ran.run_status === null ? "Unknown" : runLook(ran.run_status).word}</li>
            ))}
          </ul>
        </>
      )}
      <div className={styles.row}>
        <Button because={because} onClick={() => resume.mutate({ name: schedule.name })}>Resume</Button>
        {sure
          ? <Button look="danger" because={because} onClick={() => remove.mutate({ name: schedule.name, reason: "Removed in the inbox" })}>Remove {schedule.name}</Button>
          : <Button look="link" onClick={() => setSure(true)}>Remove</Button>}
      </div>
      {failed !== undefined && <Failed error={failed} />}
      <ResumeWithPassphrase of="schedule" name={schedule.name} refused={resume.error} done={resume.reset} />
    </section>
  );
}
