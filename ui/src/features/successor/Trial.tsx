// One trial on one page: what changed, what was run, what differed act by act, what it cost, and why the verdict is what it is.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { Trial as Shown, TrialAsked, TrialParentTests, TrialRow, TrialVerdict } from "~/ipc/generated/successor";
import { ACTION_CLASS } from "~/ipc/generated/words";
import { oneOf } from "~/ipc/words";
import { Button } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Lines } from "~/primitives/Lines";
import { many } from "~/primitives/number";
import { Answer, Failed } from "~/primitives/States";
import tables from "~/primitives/Table.module.css";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { capital, className, count, plain, said } from "~/screen/words";
import { Adopt, isAdoptable } from "./Adopt";
import { Edits } from "./Edits";
import { MayUse } from "./MayUse";
import { Race, Standing } from "./Race";
import styles from "./Successor.module.css";
import { kindName, measureName, measured, partName, saidOf } from "./words";

/** How often it is looked how far a trial is: answers of a model that it asks stand in no log. */
const LOOK_MS = 2_000;

/** So many tasks of a list are asked for their titles: each is one call to the host. */
const TITLES_MAX = 20;

export function Trial({ id }: { id: string }) {
  const asked = useAsk("successor.show", { trial: id }, { keep: true, refetchInterval: (query) => (query.state.data?.trial.state === "running" ? LOOK_MS : false) });
  return <Answer asked={asked} what="the trial" lines={6}>{(shown) => <One shown={shown} />}</Answer>;
}

function One({ shown }: { shown: Shown }) {
  const { trial: row, verdict } = shown;
  const stop = useAct("successor.stop");
  const [looked, setLooked] = useState<ReadonlySet<string>>(new Set());
  const turn = (sha256: string, isLooked: boolean) => setLooked((before) => new Set(isLooked ? [...before, sha256] : [...before].filter((one) => one !== sha256)));
  const asksForLook = row.state === "judged" && isAdoptable(row.outcome, shown.waits_for_look);
  return (
    <article className={styles.section} aria-label="Trial">
      <header className={styles.section}>
        <Standing row={row} />
        <h2><Words of={row.says ?? "Its words were erased"} /></h2>
        <p>{kindName(row.kind)}, begun <Time at={row.began_at} ago />.{row.about !== null && <> What the change is to do: <Words of={row.about} />.</>}</p>
        {row.proposed_by !== null && <p>Proposed by <Link to="/task/$id" params={{ id: row.proposed_by }}>a task</Link>, not by you.</p>}
        {row.why !== null && <p className={styles.note}><Words of={capital(row.why)} /></p>}
        {row.state === "running" && <div><Button because={stop.isPending ? "Stopping" : null} onClick={() => stop.mutate({ trial: row.trial_id, reason: null })}>Stop this trial</Button></div>}
        {stop.error !== null && <Failed error={stop.error} />}
      </header>
      <section className={styles.section} aria-labelledby="changed">
        <h3 id="changed">What changed</h3>
        {shown.changes.map((piece) => <Lines key={piece.what} title={`${capital(piece.what)} (${count(piece.text.split("\n").length, "line")})`} lines={piece.text.split("\n")} mono diff={/^(?:diff --git |--- |@@ )/m.test(piece.text)} />)}
        <p>Sources: {shown.sources.map((source, at) => <span key={source}>{at > 0 && "; "}<Words of={source} /></span>)}</p>
        <p>Change <Hash of={shown.patch_sha256} what="change" /></p>
      </section>
      <section className={styles.section} aria-labelledby="run">
        <h3 id="run">What was run</h3>
        <p>{count(shown.tasks.length, "task")} of yours, named or drawn at random with the seed {String(row.seed)}: <TaskLinks of={shown.tasks} unnamed="task" /></p>
        {shown.left_out.length > 0 && <p className={styles.note}>{count(shown.left_out.length, "task")} left out of the draw, because too large for this trial: <TaskLinks of={shown.left_out} unnamed="left-out task" /></p>}
        {row.state === "running" && <MayUse of={shown.budget} />}
        {row.asked !== null && <Asked row={row} asked={row.asked} />}
        {verdict?.tests != null && (
          <>
            <p><Words of={verdict.tests.suite} />: {many(verdict.tests.passed)} passed, {count(verdict.tests.failed.length, "test")} failed.</p>
            {verdict.tests.edited.map((file) => <p key={file} className={styles.note}>It edits or removes the test <Words of={file} />. Look at that first.</p>)}
            {verdict.tests.parent !== null && <AsBefore run={verdict.tests.parent} />}
          </>
        )}
        {verdict !== null && <Planted verdict={verdict} />}
      </section>
      {shown.edited_tests.length > 0 && <Edits of={shown.edited_tests} looked={asksForLook ? looked : null} turn={turn} />}
      {verdict !== null && <Differed verdict={verdict} />}
      {verdict !== null && (
        <section className={styles.section} aria-labelledby="cost">
          <h3 id="cost">What it cost</h3>
          <table className={tables.table} aria-label="Cost">
            <thead><tr><th scope="col">Measure</th><th scope="col" className={tables.right}>Without</th><th scope="col" className={tables.right}>With the change</th></tr></thead>
            <tbody>
              {row.measures.map((one) => (
                <tr key={one.name}>
                  <td className={tables.main}>{measureName(one.name)}{one.measured_by === "successor" && <div className={styles.faint}>Counted by the changed program itself</div>}</td>
                  <td className={tables.right}>{measured(one.name, one.parent)}</td>
                  <td className={tables.right}>{measured(one.name, one.successor)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {row.measures.some((one) => one.measured_by === "successor") && <p className={styles.note}>What the changed program counts of itself can make this verdict worse, never better.</p>}
          {verdict.ended_for !== null && <p className={styles.note}>A copy used up its {partName(verdict.ended_for)}, so Hermit ended it.</p>}
        </section>
      )}
      {verdict !== null && <Why verdict={verdict} />}
      {verdict !== null && <Adopt trial={row.trial_id} kind={row.kind} outcome={row.outcome} constitutional={verdict.constitutional} edits={shown.edited_tests.map((one) => one.sha256)} waits={shown.waits_for_look} looked={looked} />}
      {shown.rivals.length > 0 && (
        <section className={styles.section} aria-labelledby="race">
          <h3 id="race">Changes that raced over the same tasks</h3>
          <Race rows={[row, ...shown.rivals]} of={row.trial_id} />
        </section>
      )}
    </article>
  );
}

/** Links to tasks by their titles; by their place in the list where a title is not known, or the list is long. */
function TaskLinks({ of, unnamed }: { of: readonly string[]; unnamed: string }) {
  return <>{of.map((task, at) => <span key={task}>{at > 0 && "; "}<TaskLink task={task} isNamed={at < TITLES_MAX} otherwise={`${unnamed} ${at + 1}`} /></span>)}</>;
}

function TaskLink({ task, isNamed, otherwise }: { task: string; isNamed: boolean; otherwise: string }) {
  const shown = useAsk("task.show", { task }, { enabled: isNamed });
  return <Link to="/task/$id" params={{ id: task }}><Words of={said(shown.data?.row.title, otherwise)} /></Link>;
}

/** The model that was asked again in both copies, or is while the trial runs. */
function Asked({ row, asked: { model, parent, successor } }: { row: TrialRow; asked: TrialAsked }) {
  const runs = row.state === "running";
  return <p role={runs ? "status" : undefined}>The model <Words of={model} /> {runs ? "is" : "was"} asked again, with the same settings, and the same seed where its server takes one: {count(parent, "answer")} without the change and {many(successor)} with it{runs && " until now"}.</p>;
}

/** The suite over the change, with the tests that it edits or removes as they were before. */
function AsBefore({ run }: { run: TrialParentTests }) {
  return (
    <>
      <p className={run.failed.length > 0 ? styles.bad : undefined}>With these tests as they were before: {many(run.passed)} passed, {count(run.failed.length, "test")} failed{run.failed.map((test, at) => <span key={test}>{at === 0 ? ": " : ", "}<Words of={test} /></span>)}.</p>
      {run.not_run.map((file) => <p key={file} className={styles.note}>The tests of <Words of={file} /> could not be run as they were before.</p>)}
    </>
  );
}

/** Bad changes of the same run: where one of them passed, nothing else on this page counts. */
function Planted({ verdict }: { verdict: TrialVerdict }) {
  const passed = verdict.planted.filter((one) => !one.refused);
  if (passed.length > 0) return <p className={styles.bad}>In the same run the bad change {passed.map((one) => plain(one.name)).join(", ")} was not refused, so this verdict does not count.</p>;
  return <p>{count(verdict.planted.length, "change")} known to be bad, tried in the same run, {verdict.planted.length === 1 ? "was" : "were"} refused.</p>;
}

/** What kind of act it is; in the words of the host, where this page knows no better. */
function kindOf(word: string): string {
  const known = oneOf(ACTION_CLASS, word);
  return known === null ? plain(word) : className(known);
}

function Differed({ verdict }: { verdict: TrialVerdict }) {
  const { differences, more_differences: more, has_evidence: has } = verdict;
  return (
    <section className={styles.section} aria-labelledby="differed">
      <h3 id="differed">What differed</h3>
      {!has && <p className={styles.note}>The evidence was erased, so acts can no longer be compared.</p>}
      {has && differences.length === 0 && <p>Nothing: the same acts, with the same effects.</p>}
      {differences.length > 0 && (
        <div className={styles.wide}>
          <table className={tables.table} aria-label="Acts that differ">
            <thead><tr><th scope="col">Act</th><th scope="col">Without</th><th scope="col">With the change</th><th scope="col">Effect</th></tr></thead>
            <tbody>
              {differences.map((one, at) => (
                // The same act may differ twice in one task.
                <tr key={`${one.task_id} ${at}`}>
                  <td className={tables.main}><Words of={one.summary} /><div className={styles.faint}>{capital(kindOf(one.class))}</div></td>
                  <td>{saidOf(one.before)}</td>
                  <td>{saidOf(one.after)}</td>
                  <td>{one.effect_differs ? "Another one" : "The same"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more > 0 && <p className={styles.note}>{count(more, "more difference")} not shown.</p>}
    </section>
  );
}

function Why({ verdict }: { verdict: TrialVerdict }) {
  return (
    <section className={styles.section} aria-labelledby="why">
      <h3 id="why">Why this verdict</h3>
      {verdict.reasons.length === 0
        ? <p>No rule was met: there is no difference that counts.</p>
        : <ul className={styles.list}>{verdict.reasons.map((one) => <li key={`${one.rule} ${one.says}`}><p><Words of={capital(one.says)} /> <span className={styles.faint}>({plain(one.rule)})</span></p></li>)}</ul>}
      {verdict.constitutional.length > 0 && <p className={styles.bad}>It touches what checks every change: {verdict.constitutional.map(plain).join(", ")}.</p>}
      {verdict.opinion !== null && <p className={styles.note}>A model thinks, and that decides nothing: <Words of={verdict.opinion} /></p>}
      {verdict.is_signed === false && <p className={styles.bad}>The signature of this verdict does not hold. Do not rely on it.</p>}
      <Facts rows={[
        ["Signature", verdict.is_signed === true ? "Holds, by the key of this store's log" : verdict.is_signed === null ? "By a key that is not known here" : "Does not hold"],
        ["Verdict", <Hash key="verdict" of={verdict.verdict_sha256} what="verdict" />],
        ["Judged by", <Hash key="evaluator" of={verdict.evaluator_sha256} what="program" />],
      ]} />
    </section>
  );
}
