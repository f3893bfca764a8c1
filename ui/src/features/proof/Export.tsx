// A proof of one task, for somebody else: what goes along, what is left out, and what a reader will not see.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { capital, count, plain, said } from "~/features/words";
import { useAct, useAsk, useHost } from "~/ipc/client";
import type { Event } from "~/ipc/generated/task_events";
import { Button, Segmented } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Check, Select, TextField } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty, Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Proof.module.css";

type Files = "records" | "all" | "none";
const SAMPLE = 40;

export function Export({ task }: { task: string | undefined }) {
  const asked = useAsk("task.list", { limit: 200 });
  return (
    <Answer asked={asked} what="tasks" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="There is nothing to prove yet">A task that did something can be handed over as one file.</Empty>}>
      {(page) => <Form tasks={page.rows.map((row) => ({ value: row.task_id, label: said(row.title) }))} task={task ?? page.rows[0]?.task_id ?? ""} />}
    </Answer>
  );
}

function Form({ tasks, task: first }: { tasks: { value: string; label: string }[]; task: string }) {
  const host = useHost();
  const [task, setTask] = useState(first);
  const [files, setFiles] = useState<Files>("records");
  const [redact, setRedact] = useState(false);
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
        <Check label="Leave only digests of sensitive values" checked={redact} onChange={(event) => setRedact(event.target.checked)} />
        <div className={host.pick === undefined ? undefined : styles.withbutton}>
          <TextField label="Where to" mono value={path} placeholder="/home/you/proof.zip" hint="A new file on the machine that runs Hermit. A name ending in .zip makes a zip, any other a folder." onChange={(event) => setPath(event.target.value)} />
          {host.pick !== undefined && <Button icon="folder" onClick={() => void choose()}>Choose</Button>}
        </div>
        <div className={styles.row}>
          <Button look="person" loose because={because} onClick={() => make.mutate({ task, path: path.trim(), artifacts: [files], redact })}>Export</Button>
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

/** The words of the task as a reader of the proof would find them. */
function Preview({ task, redact, files }: { task: string; redact: boolean; files: Files }) {
  const asked = useAsk("task_events.list", { task, limit: SAMPLE });
  const found = useAsk("artifacts.list", { task, limit: 500 });
  const goes = (found.data?.rows ?? []).filter((row) => files === "all" || (files === "records" && row.class === "audit"));
  return (
    <section className={styles.preview} aria-label="What a reader sees">
      <h2>What a reader sees</h2>
      <Facts wide rows={[
        ["Files", found.data === undefined ? "…" : `${count(goes.length, "file")}, ${bytes(goes.reduce((sum, row) => sum + row.byte_size, 0))}`],
        ["Left behind", found.data === undefined ? "…" : `${count(found.data.rows.length - goes.length, "file")}, named by digest`],
        ["Words", redact ? "Only digests of goals, paths and claims" : "Goals, paths and claims as they were said"],
      ]} />
      <Answer asked={asked} what="its events">
        {(part) => (
          <>
            <ul>
              {part.events.flatMap((event) => words(event)).slice(0, 14).map((line, at) => (
                <li key={at}>
                  <span>{plain(line.name)}</span>
                  {redact ? <span className={styles.gone} aria-label="left out">{"█".repeat(Math.min(28, Math.max(6, Math.ceil(line.text.length / 3))))}</span> : <span><Words of={line.text} /></span>}
                </li>
              ))}
            </ul>
            <p className={styles.small}>From the first {SAMPLE} events of {part.last_seq}. The order, the times and the digests of all of them always go along. <Link to="/task/$id" params={{ id: task }}>Open the task</Link></p>
          </>
        )}
      </Answer>
    </section>
  );
}

/** Leaves that are kept apart in the ledger, so that they can be left out or erased. */
const SENSITIVE = new Set(["goal", "summary", "uri", "root_path", "title", "claim", "text", "question", "rationale", "feedback", "alias"]);

function words(event: Event): { name: string; text: string }[] {
  const found: { name: string; text: string }[] = [];
  const walk = (value: unknown, name: string) => {
    if (typeof value === "string") {
      if (SENSITIVE.has(name) && value !== "" && !value.startsWith("sha256:")) found.push({ name: capital(name), text: value });
    } else if (typeof value === "object" && value !== null) {
      for (const [inner, part] of Object.entries(value)) walk(part, inner);
    }
  };
  walk(event.body, "");
  return found;
}
