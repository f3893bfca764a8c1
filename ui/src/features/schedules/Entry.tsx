// One time of a schedule: when, which, and what became of it, in words.
import { Link } from "@tanstack/react-router";
import type { TimeEntry } from "~/ipc/generated/schedules";
import type { PassedOver } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import type { MarkName } from "~/primitives/Icon";
import { StateWord, type Tone } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import { count, runLook } from "~/screen/words";
import styles from "./Calendar.module.css";

const WHY: Readonly<Record<PassedOver, string>> = {
  missed: "Hermit was not open to see it in time", newer: "A newer time was taken instead", too_late: "It was too late", still_running: "The run before was still at work",
  too_many_wait: "Too many runs wait for you", paused: "The schedule was paused", changed: "The schedule was changed or removed first",
  folder_missing: "The folder was not there", not_begun: "Its task could not begin", fired_before: "It had run already",
  too_often: "As many runs as it may had begun within the hour", day_spent: "What its runs may use in a day was used", outside_hours: "It was outside the hours of its runs", on_battery: "This machine ran on its battery", no_network: "There was no network",
  battery_low: "The battery was low", in_use: "Somebody was at the computer", metered: "The network was metered",
  elsewhere: "Another of your machines held the schedule",
};

/** Why times were passed over. */
export const reason = (why: PassedOver) => lookUp(WHY, why, why);

interface Became { tone: Tone; mark: MarkName; word: string; more: string | null }

/** What became of it; `today` is the day of now. */
function became(entry: TimeEntry, today: string): Became {
  if (entry.state === "due") return { tone: "mute", mark: "idle", word: entry.day < today ? "Not looked at yet" : "To come", more: null };
  if (entry.state === "waiting") return { tone: "mute", mark: "waiting", word: "Waits to begin", more: null };
  if (entry.state === "fired") return { ...(entry.run_status === null ? { tone: "unknown", mark: "unknown", word: "Unknown" } : runLook(entry.run_status)), more: null };
  const many = entry.times === 1 || entry.until === null ? "" : `${entry.times === null ? "All" : count(entry.times, "time")} until ${entry.until}. `;
  return { tone: "mute", mark: "deny", word: "Skipped", more: `${many}${entry.why === null ? "No reason is on record" : reason(entry.why)}` };
}

/** `named`: whether it says which schedule it is of. */
export function Entry({ entry, today, named = true, dated = false }: { entry: TimeEntry; today: string; named?: boolean; dated?: boolean }) {
  const { tone, mark, word, more } = became(entry, today);
  const when = <time dateTime={new Date(entry.at).toISOString()}>{dated ? `${entry.day}, ${entry.time}` : entry.time}</time>;
  const what = <>{when}{named && <> <Words of={entry.schedule} /></>}</>;
  return (
    <li className={styles.entry} data-state={entry.state}>
      {entry.task_id === null ? <span>{what}</span> : <Link to="/task/$id" params={{ id: entry.task_id }}>{what}</Link>}
      <StateWord tone={tone} mark={mark}>{word}</StateWord>
      {more !== null && <span className={styles.more}>{more}.</span>}
      {entry.because !== null && <span className={styles.more}>Because <Words of={entry.because} />.</span>}
    </li>
  );
}
