// Checking a proof that somebody handed over: by its path, or dropped here.
import { useMutation } from "@tanstack/react-query";
import { type DragEvent, useState } from "react";
import { capital, plain } from "~/screen/words";
import { type Refused, refusal } from "~/host/host";
import { useAct, useHost } from "~/ipc/client";
import type { Report } from "~/ipc/generated/proof";
import { Button } from "~/primitives/Button";
import { TextArea, TextField } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Arcs } from "~/primitives/Shell";
import { Empty, Failed } from "~/primitives/States";
import { StateWord } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { VERDICT } from "./Proof";
import styles from "./Proof.module.css";

export function VerifyProof() {
  const host = useHost();
  const [path, setPath] = useState("");
  const [trust, setTrust] = useState("");
  const [authority, setAuthority] = useState("");
  const [headers, setHeaders] = useState("");
  const [over, setOver] = useState(false);
  const [file, setFile] = useState<File | null>(null);
  const { files } = host;
  const verify = useAct("proof.verify");
  const upload = useMutation<void, Refused, File>({
    mutationFn: async (given) => {
      const sent = await files?.upload(given).catch((thrown: unknown) => { throw refusal(thrown); });
      if (sent !== undefined) verify.mutate({ path: sent, trust: keys });
    },
  });
  const keys = trust.split(/\n\s*\n|\n(?!-----|[A-Za-z0-9+/=]{20,}$)/).map((key) => key.trim()).filter(Boolean);
  // What clocks are believed by are files of this machine, which a page elsewhere cannot name.
  const clocks = {
    ...(authority.trim() !== "" && { authorities: [authority.trim()] }),
    ...(headers.trim() !== "" && { bitcoin_headers: headers.trim() }),
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const given = event.dataTransfer.files[0];
    if (given === undefined) return;
    // A browser tells a file's name and bytes, never its place; the app tells its place.
    if (files !== undefined) setFile(given);
    else if ("path" in given && typeof given.path === "string") setPath(given.path);
  };
  const unnamed = files === undefined ? path.trim() === "" : file === null;
  const check = () => {
    if (files === undefined) verify.mutate({ path: path.trim(), trust: keys, ...clocks });
    else if (file !== null) upload.mutate(file);
  };
  return (
    <div className={styles.two}>
      <section>
        <h2>Verify a proof</h2>
        <div className={styles.drop} data-over={over || undefined} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
          <Arcs size={64} person={false} />
          <p>{files === undefined ? "Drop it here, or give its path." : file === null ? "Drop it here, or choose it." : file.name}</p>
        </div>
        {files !== undefined && <label>Proof to check <input type="file" accept=".zip" onChange={(event) => setFile(event.target.files?.[0] ?? null)} /></label>}
        {files === undefined && <div className={host.pick === undefined ? undefined : styles.withbutton}>
          <TextField label="File or folder" mono value={path} placeholder="/home/you/Downloads/proof.zip" onChange={(event) => setPath(event.target.value)} />
          {host.pick !== undefined && <Button icon="folder" onClick={() => void host.pick?.("file").then((found) => found !== null && setPath(found))}>Choose</Button>}
        </div>}
        <TextArea label="Keys you have from its owner" rows={3} value={trust} hint="PEM blocks, key ids or SSH fingerprints. A key that came with the proof only shows that the file is intact." onChange={(event) => setTrust(event.target.value)} />
        {files === undefined && (
          <details>
            <summary>What you trust about the time</summary>
            <TextField label="Certificate of a time-stamp authority" mono value={authority} placeholder="/home/you/authority.pem" onChange={(event) => setAuthority(event.target.value)} />
            <TextField label="Headers of Bitcoin blocks" mono value={headers} placeholder="/home/you/headers" hint="80 bytes each, or a line of hexadecimal digits each. Their work is checked; that they are Bitcoin's is on your word." onChange={(event) => setHeaders(event.target.value)} />
          </details>
        )}
        <div className={styles.row}>
          <Button look="person" loose because={unnamed ? "Name the file first" : verify.isPending || upload.isPending ? "Checking" : null} onClick={check}>Check it</Button>
        </div>
        {(upload.error ?? verify.error) !== null && <Failed error={(upload.error ?? verify.error) as Refused} />}
      </section>
      <section aria-live="polite">
        {verify.data === undefined ? (
          <Empty title="Nothing checked yet" small>Hermit reports any changed byte, any missing or swapped event, and any foreign signature.</Empty>
        ) : <Told report={verify.data} />}
      </section>
    </div>
  );
}

function Told({ report }: { report: Report }) {
  const came = VERDICT[report.verdict];
  return (
    <>
      <div className={styles.checked} data-verdict={report.verdict}>
        <StateWord tone={came.tone} mark={came.mark}>{came.word}</StateWord>
        <p><Words of={capital(report.reason)} /></p>
      </div>
      <Facts wide rows={[
        (report.trusted_as ?? []).length === 0 ? null : ["Signed by", <Words key="by" of={capital((report.trusted_as ?? []).join(", "))} />],
        report.task_id === null ? null : ["Task", <Hash key="task" of={report.task_id} what="task" />],
        report.task_root === null ? null : ["Tree head", <><Hash of={report.task_root} /> over {report.task_size} events</>],
        report.exported_at === null ? null : ["Exported", <Time key="at" at={report.exported_at} ago />],
        ...Object.entries(report.keys).map(([purpose, key]) => [capital(plain(purpose)), <span key={purpose}><Hash of={key} what="key id" /> {report.trusted.includes(purpose) ? "trusted" : "not trusted"}</span>] as const),
      ]} />
      <Lines title="Not signed by a key you trust" lines={report.unvouched} />
      <Lines title="Proven" lines={report.proven} />
      <Lines title="Asserted, not proven" lines={report.asserted} />
      <Lines title="Not shown" lines={report.not_shown} />
    </>
  );
}

function Lines({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div className={styles.lines}>
      <h3>{title}</h3>
      <ul>{lines.map((line) => <li key={line}><Words of={capital(line)} /></li>)}</ul>
    </div>
  );
}
