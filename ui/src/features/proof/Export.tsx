// A proof of one task, for somebody else: what goes along, what is left out, and what a reader will not see.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { brief, capital, count, plain, said } from "~/screen/words";
import { useSavePlace } from "~/screen/savePlace";
import { readable } from "~/features/approvals/files";
import { useAsk, useHost, useMake } from "~/ipc/client";
import { Button, Segmented } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Select, TextField } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { many } from "~/primitives/number";
import { Answer, Empty, Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import styles from "./Proof.module.css";

/** What the file is called, unless a person says otherwise. */
const FILE = "proof.zip";

/** The newest tasks, to choose from. */
const CHOICES = 100;

type Files = "records" | "all" | "none";
type Redact = "none" | "paths" | "content" | "all";

export function Export({ task }: { task: string | undefined }) {
  const asked = useAsk("task.list", { limit: CHOICES });
  return (
    <Answer asked={asked} what="tasks" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="No proof to export yet">When a task has done something, you can export its proof as one file.</Empty>}>
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
  const { files: transfer } = host;
  const log = useAsk("keys.list", {}).data?.keys.find((key) => key.purpose === "log" && key.status === "in_force")?.keyid;
  const make = useMake("proof.export");
  const [path, setPath] = useSavePlace(FILE, make.data);
  const because = transfer === undefined && path.trim() === "" ? "Choose where to save it" : make.isPending ? "Writing the proof" : null;
  const words = { task, artifacts: [files], redact: [redact] };
  const begin = () => make.mutate(transfer === undefined ? () => host.call("proof.export", { ...words, path: path.trim() }) : () => transfer.download("proof.export", words, FILE));
  const choose = async () => {
    const found = await host.pick?.("save", FILE);
    if (found != null) setPath(found);
  };
  return (
    <div className={styles.two}>
      <section>
        <h2>Export a proof</h2>
        <Select label="Task" value={task} options={tasks} onChange={(event) => setTask(event.target.value)} />
        <div>
          <span className={styles.label}>Include files</span>
          <Segmented<Files> label="Include files" value={files} onChange={setFiles} options={[{ value: "records", label: "Records" }, { value: "all", label: "All content" }, { value: "none", label: "None" }]} />
        </div>
        <div>
          <span className={styles.label}>Hide, and export only fingerprints</span>
          <Segmented<Redact> label="Hide, and export only fingerprints" value={redact} onChange={setRedact} options={[{ value: "none", label: "Nothing" }, { value: "paths", label: "Paths" }, { value: "content", label: "Words and content" }, { value: "all", label: "Everything" }]} />
        </div>
        {transfer === undefined && <div className={host.pick === undefined ? undefined : styles.withbutton}>
          <TextField label="Save as" mono value={path} placeholder="/home/you/proof.zip" hint="A new file on the machine that runs Hermit. A name ending in .zip makes a zip, any other a folder." onChange={(event) => setPath(event.target.value)} />
          {host.pick !== undefined && <Button icon="folder" onClick={() => void choose()}>Choose</Button>}
        </div>}
        <div className={styles.row}>
          <Button look="person" loose because={because} onClick={begin}>{transfer === undefined ? "Export" : "Download"}</Button>
        </div>
        {make.error !== null && <Failed error={make.error} />}
        {make.data !== undefined && (
          <div className={styles.checked} data-verdict="valid">
            <Said tone="done">{transfer === undefined ? <>Written to <code>{make.data.path}</code></> : `Downloaded as ${FILE}`}</Said>
            <Facts wide rows={[
              ["Contents", `${count(make.data.files, "file")}, ${bytes(make.data.byte_size)}`],
              ["Fingerprint", <Hash key="sums" of={make.data.sums_sha256} />],
              make.data.left_out.length === 0 ? null : ["Left out", make.data.left_out.join(", ")],
            ]} />
            <p>Anybody checks it with <code>hermit-verify</code>, or with <code>sha256sum</code>, <code>openssl</code> and <code>ssh-keygen</code> alone.</p>
            {log !== undefined && <p>Whose it is, a reader learns from a key that did not come with it. Tell them yours another way: <Hash of={log} what="key" />. They add <code>--trust</code> and this key.</p>}
          </div>
        )}
      </section>
      <Preview task={task} redact={redact} files={files} />
    </div>
  );
}

/** What stands at a place of the records, for those that most proofs have. */
const PLACES: Record<string, string> = {
  "/payload/artifact/task_local_alias": "Names of what was read or made", "/payload/artifact/uri": "Where content is kept", "/payload/decision/rationale": "Reasons of decisions",
  "/payload/decision/summary": "Decisions", "/payload/lease/resource_scope/*": "Files it may reach", "/payload/lease/root_path": "Folder",
  "/payload/record/model_decision": "What the model or playbook said", "/payload/record/state_summary": "State of each turn", "/payload/record/error": "Errors", "/payload/step/title": "Title of a step",
  "/payload/summary": "What was proposed and done", "/payload/task/goal": "Goal", "/payload/task/title": "Title", "/payload/text": "What was written to it",
  "/predicate/changes/*/resource": "Files in receipts", "/predicate/result_summary": "Results in receipts",
};

/** A place of the records in words. */
function placed(pointer: string): string {
  return PLACES[pointer] ?? capital(plain(pointer.split("/").filter((part) => part !== "" && part !== "*" && part !== "payload" && part !== "predicate").slice(-2).join(": ")));
}

/** A value as a person reads it: without the quotes of its record, and a file by its name. */
export function read(example: string): string {
  let value: unknown = example;
  try {
    value = JSON.parse(example);
  } catch {
    // One that was cut is no JSON any more, and stands as it is.
  }
  const text = typeof value === "string" ? value : example;
  const file = /^file:wsp_[0-9a-f]{32}\/(.*)$/s.exec(text)?.[1];
  return file === undefined ? text : file === "" ? "the whole folder" : readable(file);
}

/** What would leave this machine, as the host tells it: the same words would make the same proof. */
function Preview({ task, redact, files }: { task: string; redact: Redact; files: Files }) {
  const asked = useAsk("proof.preview", { task, artifacts: [files], redact: [redact] }, { keep: true });
  return (
    <section className={styles.preview} aria-label="What a reader sees">
      <h2>What a reader sees</h2>
      <Answer asked={asked} what="what the proof would hold">
        {(found) => (
          <>
            <Facts wide rows={[
              ["Events", `${count(found.events, "event")}, their order, times and fingerprints`],
              ["Receipts", count(found.receipts, "receipt")],
              ["Values", `${count(found.values.reduce((sum, one) => sum + one.count, 0), "value")} readable, ${many(found.withheld)} as fingerprints only`],
              ["Files", `${count(found.artifacts.reduce((sum, one) => sum + one.count, 0), "file")}, ${bytes(found.artifacts.reduce((sum, one) => sum + one.byte_size, 0))}; ${many(found.artifacts_withheld)} as fingerprints only`],
              (found.links ?? 0) + (found.anchors ?? 0) === 0 ? null : ["Instance", `its keys and ${count(found.links ?? 0, "link")} of its chain, ${count(found.anchors ?? 0, "anchor")}`],
              found.left_out.length === 0 ? null : ["Left out", found.left_out.join(", ")],
            ]} />
            {found.values.length > 0 && (
              <table className={table.table}>
                <thead><tr><th>What can be read</th><th>First of them</th><th className={table.right}>Count</th></tr></thead>
                <tbody>{found.values.map((one) => (
                  <tr key={one.pointer}><td title={one.pointer}>{placed(one.pointer)}</td><td className={table.main}><Words of={read(one.example)} /></td><td className={table.right}>{many(one.count)}</td></tr>
                ))}</tbody>
              </table>
            )}
            {found.artifacts.length > 0 && (
              <table className={table.table}>
                <thead><tr><th>Readable files</th><th className={table.right}>Size</th><th className={table.right}>Count</th></tr></thead>
                <tbody>{found.artifacts.map((one) => (
                  <tr key={one.kind}><td>{capital((one.kind ?? "unknown").replaceAll("_", " "))}</td><td className={table.right}>{bytes(one.byte_size)}</td><td className={table.right}>{many(one.count)}</td></tr>
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
