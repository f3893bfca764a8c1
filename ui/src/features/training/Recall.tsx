// A recall: a source goes out of datasets, and adapters that saw it are marked.
import { useState } from "react";
import { useAct } from "~/ipc/client";
import type { Trainings } from "~/ipc/generated/training";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Failed, Said } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { count } from "~/screen/words";
import styles from "./Training.module.css";

export function Recall({ of }: { of: Trainings }) {
  const recall = useAct("training.recall");
  const [source, setSource] = useState("");
  const named = source.trim();
  return (
    <section className={styles.section} aria-labelledby="recall">
      <h2 id="recall">Recall</h2>
      <p>Hermit takes what you name out of every dataset and never learns from it again. It no longer offers adapters that saw it.</p>
      <TextField label="Task, receipt, artifact or folder" value={source} onChange={(event) => setSource(event.target.value)} />
      <div className={styles.buttons}>
        <Button look="danger" because={recall.isPending ? "Recalling" : named === "" ? "Name what is recalled" : null} onClick={() => recall.mutate({ source: named })}>Recall it</Button>
      </div>
      {recall.error !== null && <Failed error={recall.error} />}
      {recall.data !== undefined && <Said tone="done">{count(recall.data.recall.datasets.length, "dataset")} lost examples, and {count(recall.data.recall.runs.length, "adapter")} saw some.</Said>}
      {recall.data?.standard != null && <Said tone="note"><Words of={recall.data.standard} /></Said>}
      {of.recalls.length > 0 && (
        <ul className={styles.list} aria-label="Recalls">
          {of.recalls.map((one, at) => <li key={of.recalls.length - at}><p>{one.source === null ? "(erased)" : <Words of={one.source} />}: {count(one.datasets.length, "dataset")}, {count(one.runs.length, "adapter")}, <Time at={one.at} ago /></p></li>)}
        </ul>
      )}
    </section>
  );
}
