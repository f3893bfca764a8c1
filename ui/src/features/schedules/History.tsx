// What became of the times of one schedule in the last weeks, the newest first, each with its reason.
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Answer } from "~/primitives/States";
import styles from "./Calendar.module.css";
import { Entry } from "./Entry";

/** How far back it goes: as far as is told at once. */
const SPAN_MS = 62 * 86_400_000;

export function History({ name }: { name: string }) {
  // When it was asked for; a question that moved with the clock would be another one each time.
  const [to, setTo] = useState<number | null>(null);
  if (to === null) return <div><Button onClick={() => setTo(Date.now())}>Show its history</Button></div>;
  return <Told name={name} to={to} />;
}

function Told({ name, to }: { name: string; to: number }) {
  const asked = useAsk("schedules.calendar", { month: null, from: to - SPAN_MS, to, zone: null, name }, { keep: true });
  return (
    <section aria-label={`History of ${name}`}>
      <h3>History of the last 62 days</h3>
      <Answer asked={asked} what="its history" lines={3}>
        {(found) => (
          <>
            {found.cut.length > 0 && <p className={styles.note} role="status">Older times are not shown; the calendar has them month by month.</p>}
            {found.entries.length === 0
              ? <p className={styles.note}>None of its times has come yet.</p>
              : <ol className={styles.history}>{found.entries.toReversed().map((entry) => <Entry key={entry.at} entry={entry} today={found.today} named={false} dated />)}</ol>}
          </>
        )}
      </Answer>
    </section>
  );
}
