// What came of each run: before and after on what was held out, whether it is offered, and the model that was made of it.
import { useAct } from "~/ipc/client";
import type { MeasuresRow, RunRow, Trainings } from "~/ipc/generated/training";
import { Button } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { Empty, Failed } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Training.module.css";
import { perCent } from "./words";

export function Runs({ of }: { of: Trainings }) {
  return (
    <section className={styles.section} aria-labelledby="runs">
      <h2 id="runs">Trained adapters</h2>
      {of.runs.length === 0 && <Empty title="Nothing was trained yet" small>An adapter is what a model has learned. Hermit measures it before and after on work that it did not see, and offers none that is worse.</Empty>}
      <ul className={styles.list}>{of.runs.map((run) => <li key={run.run_id}><Run of={run} /></li>)}</ul>
    </section>
  );
}

function Run({ of }: { of: RunRow }) {
  const make = useAct("training.export");
  const stands = of.recalled !== null ? "Learned from something that you recalled: no longer offered" : of.offered ? "Offered" : "Not offered";
  return (
    <article className={styles.card} aria-label={of.run_id}>
      <header><strong>{stands}</strong><Hash of={of.run_id} what="training run" /><Time at={of.at} ago /></header>
      {of.words !== null && <p><Words of={of.words} /></p>}
      {of.before !== null && of.after !== null && (
        <table className={styles.table}>
          <caption className="visually-hidden">Before and after, on {of.after.examples} held-out examples</caption>
          <thead><tr><td /><th scope="col">Exact next act</th><th scope="col">Valid act</th><th scope="col">Perplexity</th></tr></thead>
          <tbody><Measured name="Before" of={of.before} /><Measured name="After" of={of.after} /></tbody>
        </table>
      )}
      {of.baseline_per_mille !== null && <p>Always giving the most frequent answer: {perCent(of.baseline_per_mille)}</p>}
      {of.ran_on.map((where) => <p key={where}>Ran on <Words of={where} /></p>)}
      {of.exported !== null
        ? <p>Model: <code>{of.exported.address}</code></p>
        : of.offered && <div className={styles.buttons}><Button because={make.isPending ? "Beginning" : null} onClick={() => make.mutate({ run: of.run_id })}>Make a model of it</Button></div>}
      {make.error !== null && <Failed error={make.error} />}
    </article>
  );
}

function Measured({ name, of }: { name: string; of: MeasuresRow }) {
  return <tr><th scope="row">{name}</th><td>{perCent(of.next_act_per_mille)}</td><td>{perCent(of.valid_per_mille)}</td><td>{of.perplexity}</td></tr>;
}
