// What a person wants done, in words. `@` names a file of the folder.
import { type KeyboardEvent, useDeferredValue, useId, useRef, useState } from "react";
import { useAsk } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { Icon } from "~/primitives/Icon";
import { Words } from "~/primitives/Words";
import { isComposing } from "~/screen/keyboard";
import styles from "./Tasks.module.css";

/** Goals to begin with: what each is called, and its words. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ["Summarise", "Summarise what changed in these notes and write it into SUMMARY.md."],
  ["Fix a test", "Find out why the tests fail, fix it with the smallest change, and run them again."],
  ["Rename by content", "Rename the files in this folder by what is in them: the date first, then a few words."],
  ["Split a table", "Split the CSV in this folder into one file for each value of its first column."],
  ["Answer", "Answer this from the files in the folder, and name the file and line for each fact: "],
];

/** The file that is being named before the caret: where its `@` stands, and what follows it. */
export function naming(text: string, caret: number): { at: number; find: string } | null {
  const found = /(^|[\s(])@([^\s@`]*)$/.exec(text.slice(0, caret));
  return found === null ? null : { at: caret - (found[2]?.length ?? 0) - 1, find: found[2] ?? "" };
}

export function GoalField({ label, folder, value, onChange }: { label: string; folder: string; value: string; onChange: (goal: string) => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [closed, setClosed] = useState(false);
  const named = naming(value, caret);
  const find = useDeferredValue(named?.find ?? null);
  const asked = useAsk("workspaces.files", { folder: folder.trim(), find: find ?? "", folders: false }, { enabled: find !== null && folder.trim() !== "", keep: true, staleTime: 5_000 });
  const paths = named === null || closed || folder.trim() === "" ? [] : (asked.data?.paths ?? []).slice(0, 8);
  const at = Math.min(chosen, Math.max(0, paths.length - 1));

  const put = (path: string) => {
    if (named === null) return;
    const words = `\`${path}\` `;
    onChange(`${value.slice(0, named.at)}${words}${value.slice(caret)}`);
    const to = named.at + words.length;
    setCaret(to);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(to, to);
    });
  };
  const press = (event: KeyboardEvent) => {
    if (paths.length === 0 || isComposing(event)) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setChosen((at + step + paths.length) % paths.length);
    else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) put(paths[at] ?? "");
    else if (event.key === "Escape") setClosed(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={styles.goal}>
      <TextArea
        ref={field} label={label} rows={3} value={value} hint="Type @ to name a file of the folder."
        placeholder="Summarise what changed in these notes into SUMMARY.md"
        aria-autocomplete="list" aria-controls={paths.length > 0 ? list : undefined} aria-activedescendant={paths.length > 0 ? `${list}-${at}` : undefined}
        onChange={(event) => {
          onChange(event.target.value);
          setCaret(event.target.selectionStart);
          setChosen(0);
          setClosed(false);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)} onKeyDown={press} onBlur={() => setClosed(true)} onFocus={() => setClosed(false)}
      />
      {paths.length > 0 && (
        <ul id={list} className={styles.named} role="listbox" aria-label="Files of the folder">
          {paths.map((path, n) => (
            <li key={path} id={`${list}-${n}`} role="option" aria-selected={n === at} onMouseDown={(event) => { event.preventDefault(); put(path); }}>
              <Icon name="file" size={12} /><Words of={path} />
            </li>
          ))}
        </ul>
      )}
      {value.trim() === "" && (
        <div className={styles.recent} role="group" aria-label="Goals to begin with">
          {BEGINNINGS.map(([name, words]) => <Button key={name} look="quiet" title={words} onClick={() => { onChange(words); field.current?.focus(); }}>{name}</Button>)}
        </div>
      )}
    </div>
  );
}
