// Steps, attempts and phases along one track; the track has a bite with a dot wherever a person decided. However long the
// story is, only the rows in sight exist; what is chosen anywhere else is brought into sight here.
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { isTyping } from "~/screen/commands";
import { isComposing } from "~/screen/keyboard";
import { brief } from "~/screen/words";
import type { Event } from "~/ipc/generated/task_events";
import type { useEvents } from "./events";
import { Button } from "~/primitives/Button";
import { Mark } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { Answer } from "~/primitives/States";
import { Cite } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { VirtualRows } from "~/primitives/VirtualRows";
import { Words } from "~/primitives/Words";
import { type See, seeKey } from "~/screen/see";
import { rowOf } from "./rows";
import type { Row, Story } from "./story";
import styles from "./Task.module.css";

const keyOfRow = (row: Row) => row.key;
const keyOfEvent = (event: Event) => event.event_id;
const PAD = [8, 16] as const;

export function Timeline({ story, events, chosen, see, until }: {
  story: Story; events: ReturnType<typeof useEvents>; chosen: See | null; see: (see: See) => void; until: number | null;
}) {
  const [raw, setRaw] = useState(false);
  const [finding, setFinding] = useState(false);
  const [words, setWords] = useState("");
  const [picked, setPicked] = useState<string | null>(null);
  const all = useMemo(() => (events.data ?? []).filter((event) => until === null || event.seq <= until), [events.data, until]);
  const rows = story.rows;
  const at = useMemo(() => {
    if (raw) return chosen?.kind === "event" ? all.findIndex((event) => event.seq === chosen.seq) : -1;
    const own = rows.findIndex((row) => row.key === picked);
    return own >= 0 && chosen !== null && seeKey((rows[own] as Row).see) === seeKey(chosen) ? own : rowOf(rows, chosen);
  }, [raw, all, rows, chosen, picked]);
  const pick = useCallback((row: Row) => { setPicked(row.key); see(row.see); }, [see]);
  const found = useMemo(() => {
    const wanted = words.trim().toLowerCase();
    if (!finding || wanted === "") return null;
    const texts = raw ? all.map((event) => `${event.seq} ${event.event_type} ${event.actor_type}`) : rows.map((row) => `${row.text} ${row.cite ?? ""}`);
    return texts.flatMap((text, place) => (text.toLowerCase().includes(wanted) ? [place] : []));
  }, [words, finding, raw, all, rows]);
  const go = (by: 1 | -1) => {
    if (found === null) return;
    const next = by > 0 ? found.find((place) => place > at) ?? found[0] : found.findLast((place) => place < at) ?? found.at(-1);
    if (next === undefined) return;
    if (raw) see({ kind: "event", seq: all[next]?.seq ?? 0 });
    else pick(rows[next] as Row);
  };
  useEffect(() => {
    const pressed = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("[role=dialog]") !== null) return;
      event.preventDefault();
      setFinding(true);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  const current = chosen === null ? null : seeKey(chosen);
  return (
    <section className={styles.column} aria-label="Timeline">
      <header>
        <h2>Timeline</h2>
        {finding
          ? <Find words={words} setWords={setWords} found={found} at={at} go={go} close={() => setFinding(false)} />
          : <><span>{many(all.length)} events</span><Button look="quiet" icon="find" aria-label="Find in the timeline" title="Find in the timeline (/)" onClick={() => setFinding(true)} /></>}
        <Button look="link" aria-pressed={raw} onClick={() => setRaw(!raw)}>{raw ? "Story" : "Every event"}</Button>
      </header>
      <div className={styles.track}>
        <Answer asked={events} what="events" large lines={10}>
          {() => raw ? (
            <VirtualRows key="events" rows={all} height={24} rowKey={keyOfEvent} role="list" label="Every event" pad={PAD} show={until === null ? at : all.length - 1}>
              {(event, _, stop) => (
                <button type="button" tabIndex={stop} className={styles.event} aria-current={current === `event ${event.seq}` || undefined} onClick={() => see({ kind: "event", seq: event.seq })}>
                  <span>{event.seq}</span><code>{event.event_type}</code><span>{event.actor_type.replace("_", " ")}</span>
                </button>
              )}
            </VirtualRows>
          ) : (
            <VirtualRows key="story" rows={rows} height={26} measured rowKey={keyOfRow} role="list" label="What happened" pad={PAD} show={until === null ? at : rows.length - 1}>
              {(row, place, stop) => <Line row={row} on={place === at} kin={place !== at && seeKey(row.see) === current} stop={stop} pick={pick} />}
            </VirtualRows>
          )}
        </Answer>
      </div>
    </section>
  );
}

/** Finds rows by their words, also rows that do not exist at the moment: Enter goes to the next, with Shift to the one before. */
function Find({ words, setWords, found, at, go, close }: {
  words: string; setWords: (words: string) => void; found: readonly number[] | null; at: number; go: (by: 1 | -1) => void; close: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const pressed = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === "Enter" || event.key === "ArrowDown" || event.key === "ArrowUp") go(event.key === "ArrowUp" || event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  };
  const place = found?.indexOf(at) ?? -1;
  return (
    <>
      <input
        ref={field} type="search" className={styles.find} aria-label="Find in the timeline" placeholder="Find" title="Enter for the next, Shift Enter for the one before"
        value={words} onChange={(event) => setWords(event.target.value)} onKeyDown={pressed}
      />
      <span role="status">{found === null ? "" : found.length === 0 ? "none" : `${place >= 0 ? `${place + 1} of ` : ""}${many(found.length)}`}</span>
      <Button look="quiet" icon="cross" aria-label="Leave the search" onClick={close} />
    </>
  );
}

function Line({ row, on, kin, stop, pick }: { row: Row; on: boolean; kin: boolean; stop: 0 | -1; pick: (row: Row) => void }) {
  return (
    <div className={styles.line} data-level={row.level} data-person={row.person ?? undefined} data-tone={row.tone} data-kin={kin || undefined}>
      <span className={styles.node}>
        {row.level === "step" && row.mark !== null ? <Mark name={row.mark} size={14} /> : <i />}
      </span>
      <button type="button" tabIndex={stop} aria-current={on || undefined} onClick={() => pick(row)}>
        {row.level !== "step" && row.mark !== null && <Mark name={row.mark} size={11} />}
        <span><Words of={brief(row.text)} /></span>
        {row.cite !== null && <Cite>{row.cite}</Cite>}
        <Time at={row.at} clock />
      </button>
    </div>
  );
}
