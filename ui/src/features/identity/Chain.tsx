// The chain from the first link to the newest: drawn beside its list, with a lane for each key. What is wrong stands at its link.
import { type CSSProperties, useEffect, useMemo, useRef, useState } from "react";
import type { Finding, TrustGraph } from "~/ipc/generated/identity";
import { Button } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Mark } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { StateWord } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { usePhone } from "~/screen/phone";
import { count } from "~/screen/words";
import { type Row, STEP, inSight, rowsOf } from "./graph";
import styles from "./Identity.module.css";
import { foundName, linkMeaning, linkName } from "./words";

/** Findings that are told on top; each is told at its link as well. */
const TOLD = 20;
/** Lanes that are drawn side by side; further keys begin again with the first. */
const LANES = 4;
const LANE = 18;
const EDGE = 10;
/** How far down its row a link is drawn. */
const DOWN = 14;

export function Chain({ graph }: { graph: TrustGraph }) {
  const rows = useMemo(() => rowsOf(graph), [graph]);
  const [steps, setSteps] = useState(0);
  const [at, setAt] = useState<number | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const isPhone = usePhone();
  useEffect(() => {
    if (at === null) return;
    const link = list.current?.querySelector<HTMLElement>(`[data-link="${at}"]`);
    link?.scrollIntoView({ block: "center" });
    link?.focus();
  }, [at]);
  const lanes = isPhone ? 1 : Math.min(LANES, Math.max(1, ...rows.map((row) => row.lane + 1)));
  const sight = inSight(rows, steps, at);
  const newestGap = sight.findLast((one) => one.left > 0)?.at;
  return (
    <section className={styles.section} aria-labelledby="chain">
      <h2 id="chain">Trust graph</h2>
      <p className={styles.note}>What the keys of this instance signed, from the first link to the newest. Each link names the one before it, so that nobody can leave one out or slip one in.</p>
      {rows.length === 0 && graph.findings.length === 0
        ? <p>Nothing is signed yet. The first link comes with the first SOUL.md that you approve.</p>
        : <Standing graph={graph} links={rows.length} see={setAt} has={(number) => rows.some((row) => row.link.number === number)} />}
      {rows.length > 0 && (
        <ol ref={list} className={styles.chain} aria-label="Chain, the first link first" style={{ "--lanes": `${EDGE * 2 + LANE * (lanes - 1)}px` } as CSSProperties}>
          {sight.map((one) => {
            const row = rows[one.at];
            if (row === undefined) return null;
            return [
              one.left > 0 && (
                <li key={`before ${row.link.number}`} className={styles.link}>
                  <span className={styles.rail}><i className={styles.folded} style={{ left: place(row.from ?? 0, lanes) }} /></span>
                  <div className={styles.said}>
                    <span className={styles.note}>{count(one.left, "link")} not shown</span>
                    {one.at === newestGap && <div><Button onClick={() => setSteps(steps + 1)}>Show {many(Math.min(STEP, one.left))} more</Button></div>}
                  </div>
                </li>
              ),
              <Link key={row.link.number} row={row} lanes={lanes} isLast={one.at === rows.length - 1} />,
            ];
          })}
        </ol>
      )}
    </section>
  );
}

/** Whether the chain holds, and everything that is wrong with it. */
function Standing({ graph, links, see, has }: { graph: TrustGraph; links: number; see: (number: number) => void; has: (number: number) => boolean }) {
  const { findings } = graph;
  if (findings.length === 0 && graph.unbroken) {
    return (
      <div className={styles.standing}>
        <StateWord tone="done" mark="done">Unbroken</StateWord>
        <p>{count(links, "link")}, each signed by the key in force, back to the first. {graph.log_key === null ? "No key of a log signed the first key." : <>The log's key <Hash of={graph.log_key} what="key of the log" /> and the first key signed each other.</>}</p>
      </div>
    );
  }
  return (
    <div className={styles.standing} data-broken role="status">
      <StateWord tone="failed" mark="failed">Not to be relied on</StateWord>
      <p>{findings.length === 0 ? "The chain does not lead back to its first link." : `${count(findings.length, "thing")} ${findings.length === 1 ? "is" : "are"} wrong with this chain.`}</p>
      <ul aria-label="What is wrong">
        {findings.slice(0, TOLD).map((one, n) => (
          <li key={n}>
            <Found of={one} />
            {one.number !== null && has(one.number) && <Button look="link" onClick={() => see(one.number ?? 0)}>Go to link {one.number}</Button>}
          </li>
        ))}
      </ul>
      {findings.length > TOLD && <p className={styles.note}>{many(findings.length - TOLD)} more stand at their links.</p>}
    </div>
  );
}

function Found({ of: one }: { of: Finding }) {
  return <span className={styles.found}><Mark name="failed" /><span><b>{one.number === null ? "Key" : `Link ${one.number}`}: {foundName(one)}.</b> <Says of={one.says} /></span></span>;
}

/** The host's own words, which may hold what a stranger wrote. */
function Says({ of }: { of: string }) {
  return <Words of={of === "" ? "" : `${of.charAt(0).toUpperCase()}${of.slice(1)}${/[.!?]$/.test(of) ? "" : "."}`} />;
}

function place(lane: number, lanes: number): number {
  return EDGE + (lane % lanes) * LANE;
}

function Link({ row, lanes, isLast }: { row: Row; lanes: number; isLast: boolean }) {
  const { link } = row;
  const isWrong = row.findings.length > 0;
  const x = place(row.lane, lanes);
  const from = row.from === null ? null : place(row.from, lanes);
  return (
    <li className={styles.link} data-link={link.number} data-wrong={isWrong || undefined} tabIndex={-1}>
      <span className={styles.rail} aria-hidden="true">
        <svg width={EDGE * 2 + LANE * (lanes - 1)} height={DOWN * 2}>
          {from !== null && <path className={styles.line} data-cut={row.isCut || undefined} d={`M${from} 0C${from} ${DOWN} ${x} 0 ${x} ${DOWN}`} />}
          <Shape kind={link.kind} x={x} isWrong={isWrong} />
        </svg>
        {!isLast && <i style={{ left: x }} />}
      </span>
      <div className={styles.said}>
        <details>
          <summary>
            <b>Link {link.number}</b> <span>{linkName(link)}</span> <Time at={link.made_at} ago />
            {isWrong && <StateWord tone="failed" mark="failed">{row.findings.length === 1 ? "Wrong" : `${row.findings.length} things wrong`}</StateWord>}
          </summary>
          <p>{linkMeaning(link)}</p>
          <Facts wide rows={[
            ["Digest", <Hash key="digest" of={link.link_sha256} />],
            ["Link before", link.previous === null ? "None: this is a first link" : <Hash key="previous" of={link.previous} />],
            link.soul_sha256 === null ? null : ["SOUL.md", <Hash key="soul" of={link.soul_sha256} />],
            link.log_size === null ? null : ["Log", `Signed when it had ${count(link.log_size, "note")}`],
            link.published.length === 0 ? null : ["Published at", <Words key="at" of={link.published.join(", ")} />],
          ]} />
        </details>
        <div className={styles.signed}>
          {row.keys.length === 0 ? "Signed by nobody" : "Signed by "}
          {row.keys.map(({ key, number }, n) => <span key={`${number} ${n}`}>{n > 0 && " and "}key {number} <Hash of={key} what={`key ${number}`} /></span>)}
        </div>
        {row.findings.map((one, n) => <p key={n}><Found of={one} /></p>)}
      </div>
    </li>
  );
}

/** Each kind by a shape of its own: a dot, a diamond, a struck ring; a cross for what is wrong. */
function Shape({ kind, x, isWrong }: { kind: string; x: number; isWrong: boolean }) {
  if (isWrong) return <path className={styles.wrong} d={`M${x - 4} ${DOWN - 4}l8 8M${x + 4} ${DOWN - 4}l-8 8`} />;
  if (kind === "handover") return <path className={styles.node} d={`M${x} ${DOWN - 6}l6 6-6 6-6-6z`} />;
  if (kind === "revocation") return <><circle className={styles.node} data-hollow cx={x} cy={DOWN} r="5" /><path className={styles.line} d={`M${x - 3} ${DOWN}h6`} /></>;
  return <circle className={styles.node} cx={x} cy={DOWN} r="4.5" />;
}
