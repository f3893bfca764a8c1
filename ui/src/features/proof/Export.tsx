// A proof of one task, for somebody else: what goes along, what is left out, and what a reader will not see.
import { Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { brief, capital, count, plain, said } from "~/features/words";
import { useAct, useAsk, useHost } from "~/ipc/client";
import { Button, Segmented } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Select, TextField } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty, Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import styles from "./Proof.module.css";

/** The newest tasks, to choose from. */
const CHOICES = 100;

type Files = "records" | "all" | "none";
type Redact = "none" | "paths" | "content" | "all";

export function Export({ task }: { task: string | undefined }) {
  const asked = useAsk("task.list", { limit: CHOICES });
  return (
    <Answer asked={asked} what="tasks" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="There is nothing to prove yet">A task that did something can be handed over as one file.</Empty>}>
      {(page) => <Form tasks={page.rows.map((row) => ({ value: row.task_id, label: said(row.title) }))} task={task ?? page.rows[0]?.task_id ?? ""} />}
    </Answer>
  );
}

function Form({ tasks: newest, task: first }: { tasks: { value: string; label: string }[]; task: string }) {
  // A task that is older than those to choose from is one of them when somebody came here with it.
  const tasks = newest.some((one) => one.value === first) ? newest : [{ value: first, label: brief(first) }, ...newest];
  const host = useHost();
  const [task, setTask] = useState(first);
  const [files, setFiles] = useState<Files>("records");
  const [redact, setRedact] = useState<Redact>("none");
  const [path, setPath] = useState("");
  const make = useAct("proof.export");
  const because = path.trim() === "" ? "Say where to" : make.isPending ? "It is being written" : null;
  const choose = async () => {
    const found = await host.pick?.("save", "proof.zip");
    if (found != null) setPath(found);
  };
  return (
    <div className={styles.two}>
      <section>
        <h2>Hand over</h2>
        <Select label="Task" value={task} options={tasks} onChange={(event) => setTask(event.target.value)} />
        <div>
          <span className={styles.label}>Files that go along</span>
          <Segmented<Files> label="Files that go along" value={files} onChange={setFiles} options={[{ value: "records", label: "Records" }, { value: "all", label: "Content too" }, { value: "none", label: "None" }]} />
        </div>
        <div>
          <span className={styles.label}>Of these only digests leave</span>
          <Segmented<Redact> label="Of these only digests leave" value={redact} onChange={setRedact} options={[{ value: "none", label: "Nothing" }, { value: "paths", label: "Paths" }, { value: "content", label: "Words and content" }, { value: "all", label: "All of it" }]} />
        </div>
        <div className={host.pick === undefined ? undefined : styles.withbutton}>
          <TextField label="Where to" mono value={path} placeholder="/home/you/proof.zip" hint="A new file on the machine that runs Hermit. A name ending in .zip makes a zip, any other a folder." onChange={(event) => setPath(event.target.value)} />
          {host.pick !== undefined && <Button icon="folder" onClick={() => void choose()}>Choose</Button>}
        </div>
        <div className={styles.row}>
          <Button look="person" loose because={because} onClick={() => make.mutate({ task, path: path.trim(), artifacts: [files], redact: [redact] })}>Export</Button>
        </div>
        {make.error !== null && <Failed error={make.error} />}
        {make.data !== undefined && (
          <div className={styles.checked} data-verdict="valid">
            <Said tone="done">Written to <code>{make.data.path}</code></Said>
            <Facts wide rows={[
              ["Holds", `${count(make.data.files, "file")}, ${bytes(make.data.byte_size)}`],
              ["Names it all", <Hash key="sums" of={make.data.sums_sha256} />],
              make.data.left_out.length === 0 ? null : ["Left out", make.data.left_out.join(", ")],
            ]} />
            <p>Anybody checks it with <code>hermit-verify</code>, or with <code>sha256sum</code>, <code>openssl</code> and <code>ssh-keygen</code> alone.</p>
          </div>
        )}
      </section>
      <Preview task={task} redact={redact} files={files} />
    </div>
  );
}

/** A pointer that breaks into lines between its names and not within them. */
function breakable(pointer: string) {
  return pointer.split(/(?<=[/_])/).map((part, at) => <Fragment key={at}>{part}<wbr /></Fragment>);
}

/** What would leave this machine, as the host tells it: the same words would make the same proof. */
function Preview({ task, redact, files }: { task: string; redact: Redact; files: Files }) {
  const asked = useAsk("proof.preview", { task, artifacts: [files], redact: [redact] }, { keep: true });
  return (
    <section className={styles.preview} aria-label="What a reader sees">
      <h2>What a reader sees</h2>
      <Answer asked={asked} what="what would leave">
        {(found) => (
          <>
            <Facts wide rows={[
              ["Events", `${count(found.events, "event")}, their order, times and digests`],
              ["Receipts", count(found.receipts, "receipt")],
              ["Values", `${count(found.values.reduce((sum, one) => sum + one.count, 0), "value")} readable, ${found.withheld.toLocaleString("en")} as digests only`],
              ["Files", `${count(found.artifacts.reduce((sum, one) => sum + one.count, 0), "file")}, ${bytes(found.artifacts.reduce((sum, one) => sum + one.byte_size, 0))}; ${found.artifacts_withheld} as digests only`],
              found.left_out.length === 0 ? null : ["Cannot go along", found.left_out.join(", ")],
            ]} />
            {found.values.length > 0 && (
              <table className={table.table}>
                <thead><tr><th>Readable value</th><th>First of them</th><th className={table.right}>Count</th></tr></thead>
                <tbody>{found.values.map((one) => (
                  <tr key={one.pointer}><td><code>{breakable(one.pointer)}</code></td><td className={table.main}><Words of={one.example} /></td><td className={table.right}>{one.count}</td></tr>
                ))}</tbody>
              </table>
            )}
            {found.artifacts.length > 0 && (
              <table className={table.table}>
                <thead><tr><th>Readable files</th><th className={table.right}>Size</th><th className={table.right}>Count</th></tr></thead>
                <tbody>{found.artifacts.map((one) => (
                  <tr key={one.kind}><td>{capital(plain(one.kind))}</td><td className={table.right}>{bytes(one.byte_size)}</td><td className={table.right}>{one.count}</td></tr>
                ))}</tbody>
              </table>
            )}
            <p className={styles.small}><Link to="/task/$id" params={{ id: task }}>Open the task</Link></p>
          </>
        )}
      </Answer>
    </section>
  );
}
