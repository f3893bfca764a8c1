// Files that go along with a goal: chosen, dropped or named. What they say counts as untrusted.
import { type DragEvent, useId, useState } from "react";
import type { Files } from "~/host/host";
import { useHost } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Icon } from "~/primitives/Icon";
import { Words } from "~/primitives/Words";
import { folderName } from "~/screen/words";
import styles from "./Tasks.module.css";

/** A browser's file, or a path that the app told. */
export type Attached = File | string;

/** As many as a host keeps at once for a page. */
const MOST = 8;

/** What a command takes for each: its path, or what stands for it once its bytes are there. */
export async function pathsOf(attached: readonly Attached[], files: Files | undefined): Promise<string[]> {
  const paths: string[] = [];
  for (const one of attached) {
    if (typeof one === "string") paths.push(one);
    else if (files !== undefined) paths.push(await files.upload(one));
  }
  return paths;
}

export function Attachments({ value, onChange }: { value: readonly Attached[]; onChange: (files: readonly Attached[]) => void }) {
  const host = useHost();
  const id = useId();
  const [over, setOver] = useState(false);
  const { pick, files } = host;
  if (pick === undefined && files === undefined) return null;
  const add = (more: readonly Attached[]) => onChange([...value, ...more].slice(0, MOST));
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (files !== undefined) add([...event.dataTransfer.files]);
  };
  return (
    <div className={styles.attach} data-over={over || undefined} onDragOver={(event) => { event.preventDefault(); setOver(files !== undefined); }} onDragLeave={() => setOver(false)} onDrop={drop}>
      {pick !== undefined
        ? <Button icon="file" onClick={() => void pick("file").then((path) => path !== null && add([path]))}>Attach a file</Button>
        : <label htmlFor={id}>Attach files, or drop them here <input id={id} type="file" multiple onChange={(event) => { add([...(event.target.files ?? [])]); event.target.value = ""; }} /></label>}
      {value.length > 0 && (
        <ul aria-label="Attached files">
          {value.map((one, at) => {
            const name = typeof one === "string" ? folderName(one) : one.name;
            return (
              <li key={`${name}-${at}`}>
                <Icon name="file" size={12} /><Words of={name} />{typeof one !== "string" && <small>{bytes(one.size)}</small>}
                <Button look="quiet" icon="cross" aria-label={`Leave out ${name}`} onClick={() => onChange(value.filter((_, other) => other !== at))} />
              </li>
            );
          })}
        </ul>
      )}
      {value.length >= MOST && <p>{MOST} files is as many as one task takes.</p>}
    </div>
  );
}
