// The task as it was at any event: bars say how much happened, dots where a person decided.
import { memo, useEffect, useMemo, useState } from "react";
import type { Event } from "~/ipc/generated/task_events";
import { Button } from "~/primitives/Button";
import { Time } from "~/primitives/Time";
import { count } from "~/screen/words";
import { type Story, shortReceipt } from "./story";
import styles from "./Task.module.css";

const BARS = 96;
const PLAY_MS = 90;

/** Dots, and names of receipts, that have room beside each other. */
const DOTS_MAX = 160;
const NAMES_MAX = 24;

export const Slider = memo(function Slider({ events, story, whole, until, setUntil }: {
  events: readonly Event[]; story: Story; whole: Story; until: number | null; setUntil: (until: number | null) => void;
}) {
  const last = events.at(-1)?.seq ?? 0;
  const at = until ?? last;
  const dots = useMemo(() => apart(whole.rows.filter((row) => row.person !== null), last, DOTS_MAX), [whole, last]);
  const named = useMemo(() => apart(whole.receipts, last, NAMES_MAX), [whole, last]);
  const bars = useMemo(() => heights(events), [events]);
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => setUntil(at >= last ? null : at + Math.max(1, Math.ceil(last / 160))), PLAY_MS);
    if (at >= last) setPlaying(false);
    return () => clearInterval(timer);
  }, [playing, at, last, setUntil]);
  if (last === 0) return <div className={styles.slider} />;
  const place = (seq: number) => `${(seq / last) * 100}%`;
  const here = events[at - (events[0]?.seq ?? 1)];
  return (
    <div className={styles.slider}>
      <div className={styles.now}>
        <b>{until === null || until >= last ? "Now" : "As it was"}</b>
        <span>Event {at} of {last}{here !== undefined && <>, <Time at={here.at} clock /></>}</span>
      </div>
      <div className={styles.scale}>
        <svg viewBox={`0 0 ${BARS} 20`} preserveAspectRatio="none" aria-hidden="true">
          {bars.map((height, bar) => (
            <rect key={bar} x={bar + 0.18} width={0.64} y={20 - height} height={height} data-ahead={((bar + 0.5) / BARS) * last > at || undefined} />
          ))}
        </svg>
        {dots.map((row) => <i key={row.key} className={styles.dot} data-person={row.person} style={{ left: place(row.seq) }} />)}
        {named.map((one) => <span key={one.id} className={styles.tick} style={{ left: place(one.seq) }} title={one.id}>{shortReceipt(one.id)}</span>)}
        <input
          type="range" min={1} max={last} value={at} aria-label="Moment" aria-valuetext={`Event ${at} of ${last}`}
          onChange={(event) => { const next = Number(event.target.value); setUntil(next >= last ? null : next); }}
        />
      </div>
      {until === null && !playing ? (
        <Button icon="play" onClick={() => { setUntil(1); setPlaying(true); }}>Play from start</Button>
      ) : (
        <Button icon={playing ? "pause" : "right"} onClick={() => { setPlaying(false); if (!playing) setUntil(null); }}>{playing ? "Stop" : "To now"}</Button>
      )}
      <span className="visually-hidden" role="status">{until !== null && !playing ? `${count(story.rows.length, "thing")} had happened` : ""}</span>
    </div>
  );
});

/** Of those that would lie on each other the last, which is the one that still matters. */
function apart<T extends { seq: number }>(all: readonly T[], last: number, most: number): T[] {
  const places = new Map(all.map((one) => [Math.floor((one.seq / Math.max(1, last)) * most), one]));
  return [...places.values()];
}

/** How much happened around each place, 2 to 18; no bar where nothing did. */
function heights(events: readonly Event[]): number[] {
  const bars = Array.from({ length: BARS }, () => 0);
  const first = events[0]?.seq ?? 0;
  const last = events.at(-1)?.seq ?? 1;
  for (const event of events) {
    const bar = Math.min(BARS - 1, Math.floor(((event.seq - first) / Math.max(1, last - first + 1)) * BARS));
    const weight = event.event_type === "artifact.created" ? 0.4 : 1;
    bars[bar] = (bars[bar] ?? 0) + weight;
  }
  const most = Math.max(1, ...bars);
  return bars.map((bar) => (bar === 0 ? 0 : 2 + (bar / most) * 14));
}
