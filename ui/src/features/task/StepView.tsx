// What a step promises: what it counts on, what it is to leave, what must hold at its end, and how it is undone.
import { capital, plain, said } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import type { StepInput, StepRow } from "~/ipc/generated/task";
import { Facts } from "~/primitives/Facts";
import { Answer } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Task.module.css";

export function StepView({ task, step }: { task: string; step: string }) {
  const asked = useAsk("task.steps", { task });
  return (
    <Answer asked={asked} what="the step" lines={3} isEmpty={(page) => page.rows.every((row) => row.step_id !== step)} empty={<p className={styles.none}>This step is not here.</p>}>
      {(page) => page.rows.filter((row) => row.step_id === step).map((row) => <Step key={row.step_id} row={row} />)}
    </Answer>
  );
}

function Step({ row }: { row: StepRow }) {
  const contract = row.contract ?? null;
  const list = (all: readonly string[]) => <ul className={styles.promised}>{all.map((one) => <li key={one}><Words of={one} /></li>)}</ul>;
  return (
    <>
      <div className={styles.heading}><h3><Words of={said(row.title)} /></h3><span className={styles.space} /><span className={styles.faint}>{plain(row.status)}</span></div>
      {contract === null ? <p className={styles.none}>What this step promises was erased.</p> : (
        <Facts ruled rows={[
          ["For", capital(plain(row.kind))],
          ["To reach", <Words key="objective" of={contract.objective} />],
          ["Counts on", contract.inputs.length === 0 ? "Nothing but the folder" : <ul key="inputs" className={styles.promised}>{contract.inputs.map((one) => <li key={one.artifact_id ?? one.step_id}><Input of={one} /></li>)}</ul>],
          ["Leaves", contract.leaves.length === 0 ? "Nothing that was said" : list(contract.leaves)],
          ["Done when", list(contract.done_when)],
          ["May", contract.may.length === 0 ? "What the policy of the task allows" : contract.may.map(plain).join(", ")],
          ["Undone by", contract.undo === null ? "Nothing that was said" : <Words key="undo" of={contract.undo} />],
        ]} />
      )}
    </>
  );
}

function Input({ of }: { of: StepInput }) {
  const name = <Words of={said(of.title)} />;
  if (of.step_id === null) return <>{name}, which came with the goal</>;
  return <>what the step {name} ends with{of.leaves.length > 0 && <>: <Words of={of.leaves.join("; ")} /></>}</>;
}
