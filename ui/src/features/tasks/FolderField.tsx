// The folder a task works in: named, chosen from those that were worked in, or completed while it is typed.
import { useDeferredValue, useId } from "react";
import { useAsk, useHost } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { folderName } from "~/screen/words";
import styles from "./Tasks.module.css";

/** A path as it was meant: file managers and terminals put quotes around one, or give its address. */
export function meant(text: string): string {
  const quoted = /^\s*(["'])(.+)\1\s*$/.exec(text)?.[2];
  if (quoted !== undefined) return quoted;
  if (!/^file:\/\/\//.test(text)) return text;
  try {
    return decodeURIComponent(text.replace(/^file:\/\/(?:\/(?=[A-Za-z]:))?/, ""));
  } catch {
    return text;
  }
}

/** Whether a path is the folder in which Hermit keeps its records, or lies in it. */
function isOwn(own: string | undefined, folder: string): boolean {
  return own !== undefined && (folder === own || folder.startsWith(`${own}/`) || folder.startsWith(`${own}\\`));
}

/** Folders that are offered. */
const RECENT = 6;

export function FolderField({ label, value, onChange, hint }: { label: string; value: string; onChange: (folder: string) => void; hint?: string }) {
  const host = useHost();
  const list = useId();
  const typed = useDeferredValue(value.trim());
  const recent = useAsk("workspaces.list", {});
  const own = useAsk("host.status", {}).data?.dir;
  // Only a path that has begun can be completed.
  const begun = /^(~|\/|[A-Za-z]:\\)/.test(typed);
  const names = useAsk("workspaces.files", { folder: typed, find: "", folders: true }, { enabled: begun, keep: true, staleTime: 5_000 });
  const folders = (recent.data?.workspaces ?? []).map((one) => one.folder).filter((folder) => typeof folder === "string").filter((folder) => !isOwn(own, folder)).slice(0, RECENT);
  return (
    <>
      <div className={host.pick === undefined ? undefined : styles.withbutton}>
        <TextField
          label={label} mono required value={value} placeholder="/home/you/Downloads" list={list} autoComplete="off" spellCheck={false}
          {...(hint === undefined ? {} : { hint })} onChange={(event) => onChange(meant(event.target.value))}
        />
        {host.pick !== undefined && <Button icon="folder" onClick={() => void host.pick?.("folder").then((path) => path !== null && onChange(path))}>Choose</Button>}
      </div>
      <datalist id={list}>{(begun ? names.data?.paths ?? [] : []).map((path) => <option key={path} value={path} />)}</datalist>
      {folders.length > 0 && (
        <div className={styles.recent} role="group" aria-label="Recent folders">
          {folders.map((folder) => <Button key={folder} icon="folder" look="quiet" title={folder} aria-pressed={folder === value.trim()} onClick={() => onChange(folder)}>{folderName(folder)}</Button>)}
        </div>
      )}
    </>
  );
}
