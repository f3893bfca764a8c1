// What was remembered at a point of the past: a slider over the points, the list as it was, and what came of it since.
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { Memory, MemoryPoint, MemoryThen, MemoryThenList } from "~/ipc/generated/knowledge";
import type { MemoryType } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { exact, Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { capital, count, plain, said } from "~/screen/words";
import { NotTold } from "./NotTold";
import styles from "./Knowledge.module.css";

/** Points that the slider has: the newest. */
const POINTS = 200;
const LIMIT = 200;

/** The points of the past, the oldest first. */
export function usePoints(): readonly MemoryPoint[] {
  const asked = useAsk("knowledge.memory_points", { after: null, limit: POINTS }, { keep: true });
  return [...(asked.data?.rows ?? [])].reverse();
}

/** A point in words, as a reader of screens says it. */
const inWords = (point: MemoryPoint | undefined, isNow: boolean) => (isNow ? "Now" : point === undefined ? "An earlier point" : `${exact(point.at)}${point.checkpoint === null ? "" : `, checkpoint ${point.checkpoint}`}`);

/** The last place of the slider is now. */
export function TimeSlider({ points, at, choose }: { points: readonly MemoryPoint[]; at: number | null; choose: (number: number | null) => void }) {
  const place = at === null ? points.length : points.findIndex((point) => point.number === at);
  const point = at === null ? undefined : points[place];
  if (points.length === 0) return null;
  return (
    <div className={styles.time} role="group" aria-label="Memory as of">
      <div className={styles.then}>
        <b>{at === null ? "Now" : "As it was"}</b>
        <span>{at === null ? count(points.length, "earlier point") : point === undefined ? "an earlier point" : <Time at={point.at} clock />}</span>
      </div>
      <input
        type="range" min={0} max={points.length} step={1} value={place < 0 ? points.length : place} aria-label="Point in time" aria-valuetext={inWords(point, at === null)}
        onChange={(event) => choose(points[Number(event.target.value)]?.number ?? null)}
      />
      <Button because={at === null ? "This is now" : null} onClick={() => choose(null)}>Back to now</Button>
    </div>
  );
}

/** What became of a record since then. */
const since = (row: Memory) => (row.status === "active" ? "Still in force" : row.superseded_by !== null ? "Replaced" : capital(plain(row.status)));

const place = (row: Memory) => (row.project === null ? "Every project" : said(row.project.name, row.project.hash.slice(0, 12)));

export function Past({ number, kind, folder }: { number: number; kind: MemoryType | null; folder: string }) {
  const params = { checkpoint: null, number, at: null, memory_type: kind, folder: folder === "" ? null : folder, limit: LIMIT };
  const asked = useAsk("knowledge.memory_then", { ...params, after: null }, { keep: true });
  return (
    <Answer asked={asked} what="memory as it was">
      {(then) => (
        <div className={styles.past}>
          <Standing then={then} />
          {then.rows.length === 0 ? <Empty title="Nothing was remembered then" small /> : <Rows then={then} />}
          <Further key={`${then.point.number} ${then.next ?? ""}`} params={{ ...params, number: then.point.number }} after={then.next} />
          <Added then={then} />
        </div>
      )}
    </Answer>
  );
}

type Params = Omit<MemoryThen, "after">;

/** What is behind the records that are shown, once a person asks for it. */
function Further({ params, after }: { params: Params; after: string | null }) {
  const [shows, setShows] = useState(false);
  if (after === null) return null;
  return shows ? <Part params={params} after={after} /> : <div><Button onClick={() => setShows(true)}>Show more records</Button></div>;
}

function Part({ params, after }: { params: Params; after: string }) {
  const asked = useAsk("knowledge.memory_then", { ...params, after });
  return (
    <Answer asked={asked} what="more of memory as it was">
      {(then) => (
        <>
          {then.standing === "differs" && <Standing then={then} />}
          <Rows then={then} />
          <Further params={params} after={then.next} />
        </>
      )}
    </Answer>
  );
}

/** How far it is proven, and by what. */
function Standing({ then }: { then: MemoryThenList }) {
  const [shows, setShows] = useState(false);
  const { point, standing } = then;
  const told = {
    proven: ["done", "Proven", `The roots follow from these records, and checkpoint ${point.checkpoint ?? ""} of the log covers them.`],
    unsigned: ["mute", "Not signed yet", "The roots follow from these records. The next signed checkpoint covers them."],
    differs: ["failed", "Not proven", "These records do not give the roots that were stated. Make the list anew from the log with `hermit ledger rebuild`."],
  } as const;
  const [tone, title, words] = told[standing];
  return (
    <div className={styles.standing} role="status">
      <p><StateTag tone={tone}>{title}</StateTag> As of <Time at={point.at} clock />. {words} <Button look="link" aria-expanded={shows} onClick={() => setShows(!shows)}>{shows ? "Hide the roots" : "Show the roots"}</Button></p>
      {shows && (
        <ul className={styles.evidence} aria-label="Roots">
          <li><span>All conversations and memory</span><Hash of={point.state_root} what="root" /></li>
          {then.roots.map((root) => (
            <li key={root.project?.hash ?? ""}>
              <span>{root.project === null ? "Every project" : said(root.project.name, root.project.hash.slice(0, 12))}, {count(root.size, "record")}{root.matches ? "" : ", does not match"}</span>
              <Hash of={root.root} what="root" />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Rows({ then }: { then: MemoryThenList }) {
  return (
    <table className={table.table}>
      <thead><tr><th>Claim</th><th>Type</th><th>Project</th><th>Since then</th><th className={table.right}>Saved</th></tr></thead>
      <tbody>
        {then.rows.map((row) => (
          <tr key={row.memory_id}>
            <td className={table.main}><Words of={said(row.claim)} />{row.retention === "pinned" && <> <StateTag tone="mute">pinned</StateTag></>}<NotTold memory={row} /></td>
            <td>{row.memory_type === null ? "" : capital(row.memory_type)}</td>
            <td><Words of={place(row)} /></td>
            <td>{since(row)}{row.end_reason !== null && <div className={table.faint}><Words of={said(row.end_reason)} /></div>}</td>
            <td className={table.right}><Time at={row.created_at} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Added({ then }: { then: MemoryThenList }) {
  if (then.added.length === 0) return <p className={styles.none}>Nothing was added since.</p>;
  return (
    <section className={styles.added} aria-label="Added since">
      <h3>{then.added_more ? "Added since, the newest" : `Added since: ${then.added.length}`}</h3>
      <ul className={styles.evidence}>
        {then.added.map((row) => <li key={row.memory_id}><Words of={said(row.claim)} /><span>{row.status === "active" ? "" : `${since(row)}, `}<Time at={row.created_at} ago /></span></li>)}
      </ul>
    </section>
  );
}
