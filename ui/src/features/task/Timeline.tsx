// Steps, attempts and phases along one track; the track has a bite with a dot wherever a person decided.
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { brief } from "~/features/words";
import type { useEvents } from "./events";
import { Button } from "~/primitives/Button";
import { Mark } from "~/primitives/Icon";
import { Answer } from "~/primitives/States";
import { Cite } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { VirtualRows } from "~/primitives/VirtualRows";
import { Words } from "~/primitives/Words";
import { type Row, type See, type Story, sameSee } from "./story";
import styles from "./Task.module.css";

export function Timeline({ story, events, chosen, see, until }: {
  story: Story; events: ReturnType<typeof useEvents>; chosen: See | null; see: (see: See) => void; until: number | null;
}) {
  const [raw, setRaw] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const last = story.rows.length;
  useEffect(() => {
    void list.current?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [last]);
  const all = (events.data ?? []).filter((event) => until === null || event.seq <= until);
  const stepped = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const buttons = [...event.currentTarget.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + step];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <section className={styles.column} aria-label="Timeline">
      <header>
        <h2>Timeline</h2>
        <span>{all.length} events</span>
        <Button look="link" aria-pressed={raw} onClick={() => setRaw(!raw)}>{raw ? "Story" : "Every event"}</Button>
      </header>
      <div className={styles.track} ref={list} onKeyDown={stepped}>
        <Answer asked={events} what="events" lines={10}>
          {() => raw ? (
            <VirtualRows rows={all} height={24} rowKey={(event) => event.event_id}>
              {(event) => (
                <button type="button" className={styles.event} aria-current={sameSee(chosen, { kind: "event", seq: event.seq }) || undefined} onClick={() => see({ kind: "event", seq: event.seq })}>
                  <span>{event.seq}</span><code>{event.event_type}</code><span>{event.actor_type.replace("_", " ")}</span>
                </button>
              )}
            </VirtualRows>
          ) : (
            <ol>{story.rows.map((row) => <Line key={row.key} row={row} on={sameSee(chosen, row.see)} see={see} />)}</ol>
          )}
        </Answer>
      </div>
    </section>
  );
}

function Line({ row, on, see }: { row: Row; on: boolean; see: (see: See) => void }) {
  return (
    <li className={styles.line} data-level={row.level} data-person={row.person ?? undefined} data-tone={row.tone}>
      <span className={styles.node}>
        {row.level === "step" && row.mark !== null ? <Mark name={row.mark} size={14} /> : <i />}
      </span>
      <button type="button" aria-current={on || undefined} onClick={() => see(row.see)}>
        {row.level !== "step" && row.mark !== null && <Mark name={row.mark} size={11} />}
        <span><Words of={brief(row.text)} /></span>
        {row.cite !== null && <Cite>{row.cite}</Cite>}
        <Time at={row.at} clock />
      </button>
    </li>
  );
}
