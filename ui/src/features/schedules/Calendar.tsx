// A month of schedules: what ran each day, what was skipped and why, and what is to come. Where it is narrow, a list by day.
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { Schedule, TimeEntry, Times } from "~/ipc/generated/schedules";
import { Button } from "~/primitives/Button";
import { Select } from "~/primitives/Field";
import { Answer, Empty } from "~/primitives/States";
import { count } from "~/screen/words";
import styles from "./Calendar.module.css";
import { Entry } from "./Entry";
import { column, dayName, daysOf, later, monthName, WEEKDAYS } from "./month";

/** Times of a day that are shown before a person asks for all of them. */
const SHOWN = 3;
const ALL = "";

export function Calendar({ schedules }: { schedules: readonly Schedule[] }) {
  const [month, setMonth] = useState<string | null>(null);
  const [of, setOf] = useState(ALL);
  const asked = useAsk("schedules.calendar", { month, from: null, to: null, zone: null, name: of === ALL ? null : of }, { keep: true });
  const shown = month ?? asked.data?.today.slice(0, 7) ?? null;
  const by = (months: number) => (shown === null ? undefined : () => setMonth(later(shown, months)));
  return (
    <section className={styles.calendar} aria-label="Calendar">
      <header className={styles.head}>
        <h2 aria-live="polite">{shown === null ? "Calendar" : monthName(shown)}</h2>
        <Button onClick={by(-1)}>Previous month</Button>
        <Button onClick={by(1)}>Next month</Button>
        {month !== null && <Button look="link" onClick={() => setMonth(null)}>This month</Button>}
        <Select label="Schedule" value={of} options={[{ value: ALL, label: "All schedules" }, ...schedules.map((one) => ({ value: one.name, label: one.name }))]} onChange={(event) => setOf(event.target.value)} />
      </header>
      <Answer asked={asked} what="the calendar">
        {(found) => <Month found={found} month={shown ?? found.today.slice(0, 7)} named={of === ALL} />}
      </Answer>
    </section>
  );
}

function Month({ found, month, named }: { found: Times; month: string; named: boolean }) {
  const days = daysOf(month);
  const of = (day: string) => found.entries.filter((entry) => entry.day === day);
  return (
    <>
      <p className={styles.note}>Times by the clock of {found.zone}.</p>
      {found.cut.length > 0 && <p className={styles.note} role="status">Not every time is shown of {found.cut.join(", ")}. Choose one schedule to see more of it.</p>}
      {found.left_out > 0 && <p className={styles.note} role="status">{count(found.left_out, "more schedule")} not shown. Choose one to see its times.</p>}
      {found.entries.length === 0 && <Empty title="Nothing was due in this month, and nothing is to come" />}
      <div className={styles.weekdays} aria-hidden="true">{WEEKDAYS.map((day) => <span key={day}>{day}</span>)}</div>
      <ol className={styles.month} aria-label={monthName(month)}>
        {days.map((day, at) => <Day key={day} day={day} first={at === 0} today={found.today} entries={of(day)} named={named} />)}
      </ol>
    </>
  );
}

function Day({ day, first, today, entries, named }: { day: string; first: boolean; today: string; entries: readonly TimeEntry[]; named: boolean }) {
  const [all, setAll] = useState(false);
  const shown = all ? entries : entries.slice(0, SHOWN);
  const more = entries.length - shown.length;
  return (
    <li className={styles.day} style={first ? { gridColumnStart: column(day) } : undefined} data-empty={entries.length === 0 || undefined} data-today={day === today || undefined} aria-current={day === today ? "date" : undefined}>
      <h3>
        <span aria-hidden="true" className={styles.number}>{Number(day.slice(8))}</span>
        <span className={styles.name}>{dayName(day)}{day === today && ", today"}</span>
      </h3>
      {entries.length > 0 && <ul>{shown.map((entry) => <Entry key={`${entry.schedule} ${entry.at}`} entry={entry} today={today} named={named} />)}</ul>}
      {more > 0 && <Button look="link" aria-expanded={false} onClick={() => setAll(true)}>{count(more, "more time")}<span className="visually-hidden"> on {dayName(day)}</span></Button>}
    </li>
  );
}
