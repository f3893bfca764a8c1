// Messages in a file that a person carries, where no way leads from one machine to the other. A page in a browser names no place of
// this machine: there the file is downloaded, and given back by choosing it.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { type Refused, refusal } from "~/host/host";
import { useAct, useHost, useMake } from "~/ipc/client";
import type { Carried } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { TextField } from "~/primitives/Field";
import { Failed, Said } from "~/primitives/States";
import { count } from "~/screen/words";
import styles from "./Mesh.module.css";

const FILE = "hermit-messages.jsonl";

export function Carry() {
  return (
    <section className={styles.section} aria-labelledby="carry">
      <h2 id="carry">On a stick</h2>
      <p>Without any network, everything that waits can be carried in a file. It is encrypted for the machines that it is for, and can be taken in more than once: each message counts once.</p>
      <Out />
      <In />
      <p className={styles.note}>At a terminal:</p>
      <Copyable text={`hermit mesh export ${FILE}`} />
      <Copyable text={`hermit mesh import ${FILE}`} />
    </section>
  );
}

function Out() {
  const host = useHost();
  const { files } = host;
  const make = useMake("mesh.export");
  const [path, setPath] = useState("");
  const because = make.isPending ? "Writing it" : files === undefined && path.trim() === "" ? "Name a new file" : null;
  const go = () => make.mutate(files === undefined ? () => host.call("mesh.export", { path: path.trim(), node: null }) : () => files.download("mesh.export", { node: null }, FILE));
  return (
    <div className={styles.form}>
      {files === undefined && (
        <div className={host.pick === undefined ? undefined : styles.withbutton}>
          <TextField label="Write what waits to" mono value={path} placeholder={`/media/stick/${FILE}`} spellCheck={false} hint="A new file." onChange={(event) => setPath(event.target.value)} />
          {host.pick !== undefined && <Button icon="folder" onClick={() => void host.pick?.("save", FILE).then((found) => found !== null && setPath(found))}>Choose</Button>}
        </div>
      )}
      <div className={styles.buttons}><Button icon="down_to" because={because} onClick={go}>{files === undefined ? "Write it" : "Download what waits"}</Button></div>
      {make.error !== null && <Failed error={make.error} />}
      {make.data !== undefined && <Said tone="done">{written(make.data)} What is in it still waits here until its machine says that it opened it.</Said>}
    </div>
  );
}

function In() {
  const host = useHost();
  const { files } = host;
  const take = useAct("mesh.import");
  const [path, setPath] = useState("");
  const upload = useMutation<Carried | undefined, Refused, File>({
    mutationFn: async (given) => {
      const sent = await files?.upload(given).catch((thrown: unknown) => { throw refusal(thrown); });
      return sent === undefined ? undefined : take.mutateAsync({ path: sent });
    },
  });
  const because = take.isPending ? "Reading it" : path.trim() === "" ? "Name the file" : null;
  const error = upload.error ?? take.error;
  return (
    <div className={styles.form}>
      {files === undefined ? (
        <>
          <div className={host.pick === undefined ? undefined : styles.withbutton}>
            <TextField label="Take in a file from another machine" mono value={path} placeholder={`/media/stick/${FILE}`} spellCheck={false} onChange={(event) => setPath(event.target.value)} />
            {host.pick !== undefined && <Button icon="folder" onClick={() => void host.pick?.("file").then((found) => found !== null && setPath(found))}>Choose</Button>}
          </div>
          <div className={styles.buttons}><Button because={because} onClick={() => take.mutate({ path: path.trim() })}>Take it in</Button></div>
        </>
      ) : <label className={styles.file}>File from another machine <input type="file" onChange={(event) => { const given = event.target.files?.[0]; if (given !== undefined) upload.mutate(given); }} /></label>}
      {upload.isPending && <p role="status">The file is being read.</p>}
      {error !== null && <Failed error={error} />}
      {take.data !== undefined && error === null && <Said tone="done">{taken(take.data)}</Said>}
    </div>
  );
}

/** How many messages are in a file, and that some did not fit. */
function written({ messages, left_out }: Carried): string {
  return `${count(messages, "message")} ${messages === 1 ? "is" : "are"} in the file${left_out > 0 ? `; ${count(left_out, "message")} did not fit` : ""}.`;
}

/** How many messages of a file were new, and that some of it cannot be read. */
function taken({ messages, left_out }: Carried): string {
  const came = messages === 0 ? "No message in the file is new here" : `${count(messages, "new message")} ${messages === 1 ? "is" : "are"} taken in`;
  return `${came}${left_out > 0 ? `; ${count(left_out, "line")} of the file cannot be read` : ""}.`;
}
