// Exactly what was sent to a model, and what came back: the stored bytes, and a reading of them.
import { useState } from "react";
import { asText, capital, count, plain, said, tokens, trust } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import { TRUST_TIER } from "~/ipc/generated/words";
import { oneOf } from "~/ipc/words";
import type { Sent, Turn } from "~/ipc/generated/context";
import type { Task } from "~/ipc/generated/task";
import { Segmented } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { useParts } from "~/primitives/Parts";
import { Answer, Empty } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { list, number, record, word } from "./events";
import type { See } from "~/screen/see";
import styles from "./Task.module.css";

export function TurnsView({ task, onSee }: { task: Task; onSee: (see: See) => void }) {
  const asked = useAsk("context.show", { task: task.row.task_id });
  return (
    <Answer asked={asked} what="what was sent" isEmpty={(context) => context.turns.length === 0} empty={<Empty title="Nothing was sent yet" small>Hermit stores the exact bytes of each request before it sends them.</Empty>}>
      {(context) => (
        <Turns turns={context.turns} onSee={onSee} />
      )}
    </Answer>
  );
}

function Turns({ turns, onSee }: { turns: readonly Turn[]; onSee: (see: See) => void }) {
  const { shown, rest } = useParts(turns);
  return (
    <>
      <ul className={styles.turns}>
        {shown.map((turn) => (
          <li key={`${turn.attempt}:${turn.iteration}`}>
            <button type="button" onClick={() => onSee({ kind: "turn", attempt: turn.attempt, iteration: turn.iteration })}>
              <b>Attempt {turn.attempt}, turn {turn.iteration}</b>
              <span>{turn.provider ?? "nobody"}{turn.model !== null && ` ${turn.model}`}{turn.remote === true && ", left this machine"}</span>
              <span>{count(turn.pack_items ?? 0, "item")}, {tokens(turn.pack_tokens ?? 0)} tokens{(turn.pack_omissions ?? 0) > 0 && `, ${turn.pack_omissions} left out`}</span>
              {turn.completed_at !== null && <Time at={turn.completed_at} clock />}
            </button>
          </li>
        ))}
      </ul>
      {rest}
    </>
  );
}

type Part = "pack" | "request" | "response";

export function TurnView({ task, attempt, iteration }: { task: Task; attempt: number; iteration: number }) {
  const asked = useAsk("context.show", { task: task.row.task_id, attempt, iteration });
  const [part, setPart] = useState<Part>("pack");
  return (
    <Answer asked={asked} what="what was sent">
      {(context) => {
        const turn = context.turns.find((one) => one.attempt === attempt && one.iteration === iteration);
        const sent = context.shown?.[part] ?? null;
        return (
          <>
            <div className={styles.heading}>
              <h3>Attempt {attempt}, turn {iteration}</h3>
              <span className={styles.space} />
              <Segmented<Part> label="Which bytes" value={part} onChange={setPart} options={[{ value: "pack", label: "Context" }, { value: "request", label: "Sent" }, { value: "response", label: "Answer" }]} />
            </div>
            {turn !== undefined && (
              <Facts ruled rows={[
                ["Model", `${turn.provider ?? "none"} ${turn.model ?? ""}${turn.remote === true ? ", on another machine" : ", on this machine"}`],
                ["Tokens", `${tokens(turn.tokens_in ?? 0)} in, ${tokens(turn.tokens_out ?? 0)} out`],
                turn.finish_reason === null ? null : ["It ended", plain(turn.finish_reason)],
                turn.error === null ? null : ["Trouble", said(turn.error)],
              ]} />
            )}
            {sent === null ? <Empty title="There is nothing of that" small /> : <Bytes sent={sent} isPack={part === "pack"} />}
          </>
        );
      }}
    </Answer>
  );
}

function Bytes({ sent, isPack }: { sent: Sent; isPack: boolean }) {
  const [exactly, setExactly] = useState(!isPack);
  const text = sent.bytes === null ? null : asText(sent.bytes);
  const items = isPack && text !== null ? itemsOf(text) : [];
  const alone = isPack && text !== null ? wordsAlone(text) : "";
  const far = isPack && text !== null ? vectorsMade(text) : "";
  const without = isPack && text !== null ? memoryLeftOut(text) : [];
  return (
    <>
      <div className={styles.heading}>
        <Hash of={sent.sha256} /><span className={styles.faint}>{bytes(sent.byte_size)}</span><span className={styles.space} />
        {isPack && items.length > 0 && (
          <Segmented label="How" value={exactly ? "bytes" : "items"} onChange={(value) => setExactly(value === "bytes")} options={[{ value: "items", label: "Items" }, { value: "bytes", label: "Exact bytes" }]} />
        )}
      </div>
      {sent.bytes === null && <Empty title="These bytes are no longer kept" small>Their digest above still tells what they were.</Empty>}
      {alone !== "" && <p className={styles.faint} role="status">Memory was found by words alone: <Words of={alone} />.</p>}
      {far !== "" && <p className={styles.faint} role="status">{far}</p>}
      {without.map(([why, records]) => <p key={why} className={styles.faint} role="status">{count(records, "record")} of memory left out: <Words of={why} />.</p>)}
      {text === null && sent.bytes !== null && <Empty title="These bytes are no text" small />}
      {text !== null && (exactly || items.length === 0
        ? <pre className={styles.raw}><Words of={text} /></pre>
        : items.map((item, at) => (
          <article key={at} className={styles.item} data-trust={item.trust}>
            <header><b>{item.title}</b><span>{plain(item.section)}, {trust(item.trust)}, {count(item.tokens, "token")}{item.cut && ", cut"}{item.found !== undefined && `, found by ${item.found}`}</span></header>
            <pre><Words of={item.text} /></pre>
          </article>
        )))}
    </>
  );
}

/** By what a memory was found. */
const FOUND: Readonly<Record<string, string>> = { words: "its words", meaning: "its meaning", both: "its words and its meaning" };

/** Why a pack holds no memory that was found by its meaning, where a model for it is named; empty where it could. */
function wordsAlone(text: string): string {
  try {
    return word(record(record(JSON.parse(text))["meaning"])["words_alone"]);
  } catch {
    return "";
  }
}

/** How far the vectors of a project's memory were made when a pack was compiled; empty where all were. */
function vectorsMade(text: string): string {
  try {
    const there = record(record(record(JSON.parse(text))["meaning"])["vectors"]);
    const [made, records] = [number(there["made"]), number(there["records"])];
    return made < records ? `Memory was searched by meaning in ${made} of ${count(records, "record")}; the others had no vector yet.` : "";
  } catch {
    return "";
  }
}

/** How every reason begins for which a whole item found no room. */
const NO_ROOM = "does not fit";

/** Why records of memory are not in a pack, and how many for each reason; what found no room is one. */
function memoryLeftOut(text: string): readonly (readonly [string, number])[] {
  try {
    const reasons = new Map<string, number>();
    for (const omission of list(record(JSON.parse(text))["omissions"]).map(record)) {
      if (!word(omission["source"]).startsWith("mem_")) continue;
      const reason = word(omission["reason"]);
      const why = reason.startsWith(NO_ROOM) ? NO_ROOM : reason;
      reasons.set(why, (reasons.get(why) ?? 0) + 1);
    }
    return [...reasons];
  } catch {
    return [];
  }
}

function itemsOf(text: string) {
  try {
    return list(record(JSON.parse(text))["items"]).map((item) => {
      const of = record(item);
      return { title: capital(word(of["title"])), section: word(of["section"]), trust: oneOf(TRUST_TIER, of["trust_tier"]) ?? "untrusted", text: word(of["text"]), tokens: number(of["tokens"]), cut: of["cut"] === true, found: FOUND[word(of["found_by"])] };
    });
  } catch {
    return [];
  }
}
