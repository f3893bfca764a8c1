// Checking a proof that somebody handed over: by its path, or dropped here.
import { type DragEvent, useState } from "react";
import { capital, plain } from "~/features/words";
import { useAct, useHost } from "~/ipc/client";
import type { Report } from "~/ipc/generated/proof";
import { Button } from "~/primitives/Button";
import { TextArea, TextField } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Arcs } from "~/primitives/Shell";
import { Empty, Failed, Said } from "~/primitives/States";
import { StateWord } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { VERDICT } from "./Proof";
import styles from "./Proof.module.css";

export function VerifyProof() {
  const host = useHost();
  const [path, setPath] = useState("");
  const [trust, setTrust] = useState("");
  const [over, setOver] = useState(false);
  const [dropped, setDropped] = useState<string | null>(null);
  const verify = useAct("proof.verify");
  const keys = trust.split(/\n\s*\n|\n(?!-----|[A-Za-z0-9+/=]{20,}$)/).map((key) => key.trim()).filter(Boolean);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file === undefined) return;
    // A browser tells a file's name and bytes, never its place; the host reads a place.
    const place = "path" in file && typeof file.path === "string" ? file.path : "";
    if (place !== "") setPath(place);
    else setDropped(file.name);
  };
  return (
    <div className={styles.two}>
      <section>
        <h2>A proof you were handed</h2>
        <div className={styles.drop} data-over={over || undefined} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
          <Arcs size={64} person={false} />
          <p>Drop it here, or give its path.</p>
        </div>
        {dropped !== null && <Said tone="note">A browser does not tell where <code>{dropped}</code> lies. Give its path, or check it with <code>hermit-verify {dropped}</code>.</Said>}
        <div className={host.pick === undefined ? undefined : styles.withbutton}>
          <TextField label="File or folder" mono value={path} placeholder="/home/you/Downloads/proof.zip" onChange={(event) => setPath(event.target.value)} />
          {host.pick !== undefined && <Button icon="folder" onClick={() => void host.pick?.("file").then((found) => found !== null && setPath(found))}>Choose</Button>}
        </div>
        <TextArea label="Keys you have from its owner" rows={3} value={trust} hint="PEM blocks, key ids or SSH fingerprints. A key that came with the file only shows that it is of one piece." onChange={(event) => setTrust(event.target.value)} />
        <div className={styles.row}>
          <Button look="person" loose because={path.trim() === "" ? "Name the file first" : verify.isPending ? "It is being read" : null} onClick={() => verify.mutate({ path: path.trim(), trust: keys })}>Check it</Button>
        </div>
        {verify.error !== null && <Failed error={verify.error} />}
      </section>
      <section aria-live="polite">
        {verify.data === undefined ? (
          <Empty title="Nothing was checked yet" small>Any changed byte, any missing or swapped event, and any signature by somebody else will be told here.</Empty>
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
        report.task_id === null ? null : ["Task", <Hash key="task" of={report.task_id} what="task" />],
        report.task_root === null ? null : ["Tree head", <><Hash of={report.task_root} /> over {report.task_size} events</>],
        report.exported_at === null ? null : ["Exported", <Time key="at" at={report.exported_at} ago />],
        ...Object.entries(report.keys).map(([purpose, key]) => [capital(plain(purpose)), <span key={purpose}><Hash of={key} what="key id" /> {report.trusted.includes(purpose) ? "trusted" : "not trusted"}</span>] as const),
      ]} />
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
