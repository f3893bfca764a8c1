// What is held true, and on what it rests.
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { Screen } from "~/screen/Screen";
import { capital, count, plain, said, trust } from "~/screen/words";
import { type Pages, useAct, useAsk, usePages } from "~/ipc/client";
import type { Belief, Decision, Hit } from "~/ipc/generated/knowledge";
import { Button, Segmented } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty, Failed } from "~/primitives/States";
import { useParts } from "~/primitives/Parts";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { EvidenceList, Refute } from "./Evidence";
import { KnownSkills } from "./KnownSkills";
import { Memories } from "./Memories";
import styles from "./Knowledge.module.css";

type Kind = "beliefs" | "memory" | "skills" | "decisions" | "search";
const LIMIT = 200;
/** Places of a search that are shown: whoever looks further gives another word. */
const HITS = 60;

export function Knowledge() {
  const [kind, setKind] = useState<Kind>("beliefs");
  return (
    <Screen
      title="Knowledge"
      sub={
        <Segmented<Kind>
          label="Which" value={kind} onChange={setKind}
          options={[{ value: "beliefs", label: "Beliefs" }, { value: "memory", label: "Memory" }, { value: "skills", label: "Skills" }, { value: "decisions", label: "Decisions" }, { value: "search", label: "Search" }]}
        />
      }
    >
      {kind === "beliefs" && <Beliefs />}
      {kind === "memory" && <Memories />}
      {kind === "skills" && <KnownSkills />}
      {kind === "decisions" && <Decisions />}
      {kind === "search" && <Search />}
    </Screen>
  );
}

function Beliefs() {
  const asked = usePages("knowledge.beliefs", { limit: LIMIT });
  return (
    <Answer asked={asked} what="beliefs" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="No beliefs yet">A belief is a claim that a task backed with evidence. They appear here as tasks record them.</Empty>}>
      {(page) => <BeliefTable page={page} further={asked.further} />}
    </Answer>
  );
}

function BeliefTable({ page, further }: { page: Pages<Belief>; further: () => void }) {
  const [at, setAt] = useState<string | null>(null);
  const { shown, rest } = useParts(page.rows, { pages: { more: page.more, further } });
  const chosen = page.rows.find((row) => row.belief_id === at) ?? page.rows[0];
  return (
    <div className={styles.split}>
      <div className={styles.rows}>
        <table className={table.table}>
          <thead><tr><th>Claim</th><th>Trust</th><th className={table.right}>Confidence</th><th>State</th><th className={table.right}>Since</th></tr></thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.belief_id} tabIndex={0} aria-selected={row === chosen} onClick={() => setAt(row.belief_id)} onKeyDown={(event) => event.key === "Enter" && setAt(row.belief_id)}>
                <td className={table.main}><Words of={said(row.claim)} />{row.contradicts.length > 0 && <> <StateTag tone="failed" mark="failed">contradicts {row.contradicts.length}</StateTag></>}</td>
                <td>{trust(row.trust)}</td>
                <td className={table.right}>{row.confidence / 10} %</td>
                <td>{plain(row.status)}</td>
                <td className={table.right}><Time at={row.updated_at} /></td>
              </tr>
            ))}
          </tbody>
        </table>
        {rest}
      </div>
      {chosen !== undefined && <OneBelief key={chosen.belief_id} belief={chosen} />}
    </div>
  );
}

function OneBelief({ belief }: { belief: Belief }) {
  const revoke = useAct("knowledge.revoke");
  return (
    <aside className={styles.detail} aria-label="Belief">
      <h2><Words of={said(belief.claim)} /></h2>
      <Facts wide rows={[
        ["Scope", said(belief.scope) === "" ? "This task" : <Words key="scope" of={said(belief.scope)} />],
        ["Revision", String(belief.revision)],
        ["Reason", belief.reason === null || said(belief.reason) === said(belief.claim) ? "None given" : <Words key="reason" of={said(belief.reason)} />],
        ["Task", <Link key="task" to="/task/$id" params={{ id: belief.task_id }}>Open the task</Link>],
        belief.superseded_by === null ? null : ["Replaced by", <Hash key="by" of={belief.superseded_by} what="belief" />],
        belief.contradicts.length === 0 ? null : ["Contradicts", <span key="contra">{belief.contradicts.map((id) => <Hash key={id} of={id} what="belief" />)}</span>],
      ]} />
      <h3>Evidence</h3>
      <EvidenceList of={belief.evidence} />
      <p><Link to="/lineage" search={{ of: belief.belief_id }}>What depends on it</Link></p>
      {belief.revision > 1 && <Revisions of={belief.belief_id} claim={belief.claim} />}
      {(belief.status === "active" || belief.status === "contradicted") && (
        <>
          <Refute label="Why it is wrong" act="Take it back" asked={revoke} give={(reason) => revoke.mutate({ belief: belief.belief_id, reason })} />
          <Correct belief={belief.belief_id} />
        </>
      )}
    </aside>
  );
}

/** What a person holds in the place of a belief, or against it. */
function Correct({ belief }: { belief: string }) {
  const correct = useAct("knowledge.correct");
  const [claim, setClaim] = useState("");
  const [why, setWhy] = useState("");
  const said = claim.trim();
  const because = said === "" ? "Say what holds first" : why.trim() === "" ? "Say first how you know it" : null;
  const give = (takesItsPlace: boolean) => correct.mutate({ belief, instead: takesItsPlace ? said : null, against: takesItsPlace ? null : said, reason: why.trim(), channel: "app" });
  return (
    <div className={styles.act}>
      <TextField label="What holds" value={claim} onChange={(event) => setClaim(event.target.value)} />
      <TextField label="How you know it" value={why} onChange={(event) => setWhy(event.target.value)} />
      <Button because={because} onClick={() => give(true)}>Replace the belief</Button>
      <Button because={because} onClick={() => give(false)}>Keep both as a contradiction</Button>
      {correct.error !== null && <Failed error={correct.error} />}
    </div>
  );
}

/** What a belief was before, the newest first. */
function Revisions({ of, claim }: { of: string; claim: Belief["claim"] }) {
  const asked = useAsk("knowledge.history", { belief: of, after: null, limit: LIMIT });
  return (
    <Answer asked={asked} what="its revisions">
      {(page) => (
        <>
          <h3>Revisions</h3>
          <ul className={styles.evidence} aria-label="Revisions">
            {page.rows.map((row) => (
              <li key={row.revision}><span>{row.revision}</span><span>{trust(row.trust)}, {row.confidence / 10} %</span><Time at={row.at} />{said(row.reason, "") !== said(claim) && <Words of={said(row.reason, "")} />}</li>
            ))}
          </ul>
        </>
      )}
    </Answer>
  );
}

function Decisions() {
  const asked = usePages("knowledge.decisions", { limit: LIMIT });
  return (
    <Answer asked={asked} what="decisions" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="No decisions yet">A decision records who decided, why, and what the alternatives were.</Empty>}>
      {(page) => <DecisionTable page={page} further={asked.further} />}
    </Answer>
  );
}

function DecisionTable({ page, further }: { page: Pages<Decision>; further: () => void }) {
  const { shown, rest } = useParts(page.rows, { pages: { more: page.more, further } });
  return (
    <div className={styles.rows}>
      <table className={table.table}>
        <thead><tr><th>Decision</th><th>Why</th><th>Risk</th><th>Reversible</th><th className={table.right}>When</th></tr></thead>
        <tbody>{shown.map((row) => (
          <tr key={row.decision_id}>
            <td className={table.main}><Link to="/task/$id" params={{ id: row.task_id }}><Words of={capital(said(row.summary))} /></Link></td>
            <td><Words of={said(row.rationale)} />{row.alternatives.length > 0 && <div className={table.faint}>{count(row.alternatives.length, "alternative")}: {row.alternatives.map((one) => said(one)).join("; ")}</div>}</td>
            <td>{row.risk}</td>
            <td>{row.reversible ? "yes" : "no"}</td>
            <td className={table.right}><Time at={row.created_at} clock /></td>
          </tr>
        ))}</tbody>
      </table>
      {rest}
    </div>
  );
}

/** What was found, under the task that it belongs to: each thing once, however many parts of it hold the words, and of a
 * receipt each file that was meant; the newest first. */
function byTask(hits: readonly Hit[]): [task: string, hits: Hit[]][] {
  const found = new Map<string, Hit>();
  for (const hit of hits) {
    const key = hit.part === "file" ? `${hit.id} ${said(hit.excerpt)}` : hit.id;
    if (!found.has(key)) found.set(key, hit);
  }
  const tasks = new Map<string, Hit[]>();
  for (const hit of [...found.values()].sort((a, b) => b.at - a.at)) tasks.set(hit.task_id, [...(tasks.get(hit.task_id) ?? []), hit]);
  return [...tasks];
}

function Search() {
  const [text, setText] = useState("");
  const words = useDeferredValue(text.trim());
  const asked = useAsk("knowledge.search", { text: words, limit: HITS }, { enabled: words !== "", keep: true });
  return (
    <div className={styles.search}>
      <TextField label="Search for all of these words" type="search" autoFocus value={text} onChange={(event) => setText(event.target.value)} />
      {words === "" ? <Empty title="Search everything that was said and done" small>Goals, conversations, files that were read, results and beliefs.</Empty> : (
        <Answer asked={asked} what="what was found" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="No results" small />}>
          {(page) => (
            <ul className={styles.hits}>
              {byTask(page.rows).map(([task, hits]) => (
                <li key={task}>
                  <h2>{hits[0]?.title == null ? "Messages and other records" : <Link to="/task/$id" params={{ id: task }}><Words of={said(hits[0].title)} /></Link>}</h2>
                  <ul>
                    {hits.map((hit) => (
                      <li key={`${hit.id} ${hit.part} ${said(hit.excerpt)}`}>
                        <Link to="/task/$id" params={{ id: hit.task_id }} search={/^(rcp|apr|act)_/.test(hit.id) ? { see: hit.id } : {}}><Words of={said(hit.excerpt)} /></Link>
                        <span><Words of={capital(hit.what)} />, <Time at={hit.at} ago /></span>
                      </li>
                    ))}
                  </ul>
                </li>
              ))}
              {page.next != null && <li className={styles.none}>There are more results. Add a word to narrow them.</li>}
            </ul>
          )}
        </Answer>
      )}
    </div>
  );
}
