// What came from what: the same path as a graph and as a table, and what a bad source has touched.
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Screen } from "~/screen/Screen";
import { many } from "~/primitives/number";
import { count, kindWords, trust } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import type { Drawing } from "~/ipc/generated/lineage";
import { Button, Segmented } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Hash } from "~/primitives/Hash";
import { Mark } from "~/primitives/Icon";
import { Answer, Empty } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { ByFile, isIdentifier } from "./ByFile";
import { Graph } from "./Graph";
import { nodeNames } from "./layout";
import { BANDS, type View, band, inView } from "./path";
import styles from "./Lineage.module.css";

/** Rows of the table that are drawn at once; the rest when they are asked for. */
const ROWS = 100;

export function LineageScreen({ of }: { of: string | undefined }) {
  const receipts = useAsk("receipts.list", { limit: 40 }, { enabled: of === undefined });
  // Without a focus: the latest act that changed something.
  const first = receipts.data?.rows.find((row) => row.class !== "approval_resolution" && row.reversibility !== "no_effect")?.receipt_id
    ?? receipts.data?.rows[0]?.receipt_id;
  const focus = of ?? first;
  return (
    <Screen title="Lineage" sub={<span>Where something came from, and what depends on it</span>} actions={<Finder />}>
      {focus === undefined ? (
        <Answer asked={receipts} what="receipts" empty={null}>
          {() => <Empty title="No changes yet">After the first change you see its path here, from the goal to the file.</Empty>}
        </Answer>
      ) : isIdentifier(focus) ? <Focused key={focus} focus={focus} />
        : <ByFile key={focus} of={focus} path={(receipt) => <Focused key={receipt} focus={receipt} />} />}
    </Screen>
  );
}

function Finder() {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  return (
    <form className={styles.finder} onSubmit={(event) => { event.preventDefault(); if (text.trim() !== "") void navigate({ to: "/lineage", search: { of: text.trim() } }); }}>
      <TextField label="File, line of a file, or identifier" hideLabel mono placeholder="File, line or id" value={text} onChange={(event) => setText(event.target.value)} />
    </form>
  );
}

function Focused({ focus }: { focus: string }) {
  const asked = useAsk("lineage.draw", { of: focus });
  const navigate = useNavigate();
  const [view, setView] = useState<View>("path");
  const go = (id: string) => void navigate({ to: "/lineage", search: { of: id } });
  return (
    <Answer asked={asked} what="the path" large lines={10}>
      {(drawing) => <Shown drawing={drawing} view={view} setView={setView} go={go} />}
    </Answer>
  );
}

function Shown({ drawing, view, setView, go }: { drawing: Drawing; view: View; setView: (view: View) => void; go: (id: string) => void }) {
  const nodes = useMemo(() => inView(drawing, view), [drawing, view]);
  const names = useMemo(() => nodeNames(drawing), [drawing]);
  const [whole, setWhole] = useState(false);
  const focus = drawing.nodes.find((node) => node.id === drawing.focus);
  const tainted = drawing.nodes.filter((node) => node.tainted);
  const rows = useMemo(() => {
    const place = (node: (typeof nodes)[number]) => (view === "path" ? BANDS.indexOf(band(node) ?? "Effect") * 1e6 : 0) + node.layer;
    return [...nodes].sort((a, b) => place(a) - place(b) || a.row - b.row);
  }, [nodes, view]);
  return (
    <div className={styles.screen}>
      <div className={styles.focus}>
        <div className={styles.name}>
          <span>{view === "recall" ? "If this source is wrong" : "Why is this here?"}</span>
          <b><Words of={names.get(drawing.focus) ?? drawing.focus} /></b>
        </div>
        {focus !== undefined && (
          <div className={styles.facts}>
            <span>{kindWords(focus.kind)}{focus.detail !== "" && `, ${kindWords(focus.detail)}`}</span>
            {focus.trust !== null && <span data-untrusted={focus.trust === "untrusted" || undefined}>{trust(focus.trust)}</span>}
            <Hash of={focus.id} what="identifier" />
            {focus.sha256 !== null && <Hash of={focus.sha256} />}
            <Link to="/task/$id" params={{ id: focus.task_id }} search={focus.kind === "receipt" || focus.kind === "approval" ? { see: focus.id } : {}}>Open its task</Link>
          </div>
        )}
        <Segmented<View>
          label="What is drawn" value={view} onChange={setView}
          options={[{ value: "path", label: "Path" }, { value: "all", label: "All" }, { value: "recall", label: `Recall ${many(tainted.length)}` }]}
        />
      </div>
      <div className={styles.columns}>
        <section className={styles.graph} aria-label="As a graph">
          <header>
            <h2>{view === "recall" ? "What it reached" : "As a graph"}</h2>
            <span className={styles.key}><i data-line />{view === "recall" ? "content flowed" : "on the path"}</span>
            <span className={styles.key}><i data-dot />a person decided</span>
            <span className={styles.key}><Mark name="moderate" size={11} />untrusted</span>
          </header>
          {nodes.length > 1 || view !== "recall" ? <Graph drawing={drawing} nodes={nodes} names={names} view={view} go={go} /> : (
            <Empty title="Nothing depends on it" small>No belief, memory, file or action contains anything from it.</Empty>
          )}
        </section>
        <section className={styles.table} aria-label="As a table">
          <header>
            <h2>As a table</h2>
            <span className={styles.key}>{count(nodes.length, "node")} of {many(drawing.nodes.length)}{drawing.left_out > 0 && `, ${many(drawing.left_out)} more not drawn`}</span>
          </header>
          <div className={styles.scroll} tabIndex={0} role="region" aria-label="Nodes">
            <table className={table.table}>
              <thead><tr>{view === "path" && <th>Layer</th>}<th>What</th><th>Digest</th><th className={table.right}>When</th></tr></thead>
              <tbody>
                {(whole ? rows : rows.slice(0, ROWS)).map((node) => (
                  <tr key={node.id} aria-selected={node.id === drawing.focus}>
                    {view === "path" && <td>{band(node) ?? ""}</td>}
                    <td className={table.main}>
                      <button type="button" className={styles.open} onClick={() => go(node.id)}><Words of={names.get(node.id) ?? node.id} /></button>
                      <div className={table.faint}>
                        {node.kind === "artifact" ? kindWords(node.detail) : `${kindWords(node.kind)}${node.detail === "" ? "" : `, ${kindWords(node.detail)}`}`}{node.trust !== null && `, ${trust(node.trust)}`}
                      </div>
                    </td>
                    <td><Hash of={node.sha256 ?? node.id} what={node.sha256 === null ? "identifier" : "digest"} /></td>
                    <td className={table.right}><Time at={node.at} clock /></td>
                  </tr>
                ))}
              </tbody>
            </table>
            {!whole && rows.length > ROWS && <p className={styles.more}><Button onClick={() => setWhole(true)}>Show all {many(rows.length)} rows</Button></p>}
          </div>
          <footer>
            {drawing.scope !== "store" && <StateTag tone="mute">Only this task and its subtasks</StateTag>}
            {view !== "recall" && <Button onClick={() => setView("recall")} icon="eye">Recall this source</Button>}
          </footer>
        </section>
      </div>
    </div>
  );
}
