// A playbook of one's own, from a file: read here, checked by the host before anything is begun with it.
import { useId } from "react";
import { useAct } from "~/ipc/client";
import type { Playbook } from "~/ipc/generated/playbooks";
import { Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { textOf } from "~/screen/files";
import styles from "./Tasks.module.css";

/** As long as a playbook may be. */
const BYTES_MAX = 256 * 1024;

/** What was read from a file. */
export interface OwnPlaybook { file: string; text: string; playbook: Playbook }

export function OwnPlaybookField({ value, onChange }: { value: OwnPlaybook | null; onChange: (own: OwnPlaybook | null) => void }) {
  const id = useId();
  const read = useAct("playbooks.read");
  const take = async (file: File | undefined) => {
    onChange(null);
    read.reset();
    if (file === undefined) return;
    // What is too long is cut, and the host says that it is.
    const text = await textOf(file, BYTES_MAX + 1);
    read.mutate({ text }, { onSuccess: (playbook) => onChange({ file: file.name, text, playbook }) });
  };
  return (
    <div className={styles.attach}>
      <label htmlFor={id}>File of the playbook <input id={id} type="file" accept=".yaml,.yml,.txt" onChange={(event) => void take(event.target.files?.[0])} /></label>
      {read.isPending && <p role="status">Reading it…</p>}
      {value !== null && <Said tone="done"><b><Words of={value.playbook.name} /></b> from <Words of={value.file} />: <Words of={value.playbook.about} /></Said>}
      {read.error !== null && <Failed error={read.error} />}
    </div>
  );
}
