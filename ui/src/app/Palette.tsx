// Find or do: places, acts, tasks, and a search through everything that was said and done.
import { Dialog } from "@base-ui/react/dialog";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useAsk } from "~/ipc/client";
import { plain, run, said } from "~/screen/words";
import { Icon, type IconName, Mark } from "~/primitives/Icon";
import { Key } from "~/primitives/Tag";
import { Button } from "~/primitives/Button";
import { OTHER_KEYS, PLACES, askHalt, onPalette } from "~/screen/commands";
import { isComposing } from "~/screen/keyboard";
import { toggleTheme } from "~/screen/theme";
import { meant, useServerPrompts } from "~/features/tools/prompts";
import styles from "./Palette.module.css";

interface Entry {
  id: string;
  group: string;
  icon: IconName;
  label: string;
  second?: string;
  keys?: string;
  act: () => void;
}

const HITS_MAX = 8;

export function Palette({ go, help }: { go: (path: string) => void; help: () => void }) {
  const [open, setOpen] = useState(false);
  useEffect(() => onPalette(() => setOpen(true)), []);
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={styles.palette} aria-label="Find or do">
          {open && <Inside go={go} help={help} close={() => setOpen(false)} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function useLater(text: string, ms: number): string {
  const [later, setLater] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), ms);
    return () => clearTimeout(timer);
  }, [text, ms]);
  return later;
}

function Inside({ go, help, close }: { go: (path: string) => void; help: () => void; close: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const words = useLater(text.trim(), 150);
  const tasks = useAsk("task.list", { limit: HITS_MAX, ...(words === "" ? {} : { search: words }) }, { keep: true });
  const prompts = useServerPrompts(true);
  const hits = useAsk("knowledge.search", { text: words, limit: HITS_MAX }, { enabled: words.length > 2, keep: true });

  const entries = useMemo(() => {
    const does = (act: () => void) => () => { close(); act(); };
    const fixed: Entry[] = [
      ...PLACES.map((place) => ({ id: place.path, group: "Go to", icon: place.icon, label: place.label, keys: place.keys, act: does(() => go(place.path)) })),
      { id: "new", group: "Do", icon: "plus", label: "New task", keys: "n", act: does(() => go("/tasks/new")) },
      { id: "halt", group: "Do", icon: "stop", label: "Halt all work", act: does(askHalt) },
      { id: "theme", group: "Do", icon: "theme", label: "Change between light and dark", act: does(toggleTheme) },
      { id: "keys", group: "Do", icon: "key", label: "Show the keyboard map", keys: "?", act: does(help) },
      { id: "first", group: "Do", icon: "eye", label: "First steps", act: does(() => go("/first")) },
    ];
    const wanted = text.trim().toLowerCase();
    const found = fixed.filter((entry) => wanted === "" || entry.label.toLowerCase().includes(wanted));
    const ofTasks: Entry[] = (tasks.data?.rows ?? []).map((row) => ({
      id: row.task_id, group: "Tasks", icon: "task", label: said(row.title), second: run(row).word,
      act: does(() => go(`/task/${row.task_id}`)),
    }));
    const ofHits: Entry[] = words.length > 2 ? (hits.data?.rows ?? []).map((hit, place) => ({
      id: `${hit.id}:${hit.part}:${place}`, group: "Said and done", icon: "find", label: said(hit.excerpt), second: plain(hit.kind),
      act: does(() => go(hit.kind === "artifact" ? `/lineage?of=${hit.id}` : `/task/${hit.task_id}${/^(rcp|apr|act)_/.test(hit.id) ? `?see=${hit.id}` : ""}`)),
    })) : [];
    const ofServers: Entry[] = wanted.length < 2 ? [] : meant(prompts.data ?? [], wanted.startsWith("/") ? wanted : `/${wanted}`).slice(0, HITS_MAX).map((one) => ({
      id: `prompt:${one.typed}`, group: "Prompts of servers", icon: "chip", label: one.says === "" ? one.name : `${one.name}: ${one.says}`, second: one.server,
      act: does(() => go(`/tasks/new?goal=${encodeURIComponent(`/${one.typed}`)}`)),
    }));
    return wanted === "" ? [...ofTasks.slice(0, 4), ...found] : [...found, ...ofServers, ...ofTasks, ...ofHits];
  }, [text, words, tasks.data, hits.data, prompts.data, go, help, close]);

  const chosen = Math.min(at, Math.max(0, entries.length - 1));
  useEffect(() => {
    void list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, entries]);
  const pressed = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === "ArrowDown") setAt(Math.min(entries.length - 1, chosen + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, chosen - 1));
    else if (event.key === "Enter") entries[chosen]?.act();
    else return;
    event.preventDefault();
  };
  let group = "";
  return (
    <>
      <div className={styles.ask}>
        <Icon name="find" />
        <input
          autoFocus value={text} placeholder="Find or do" aria-label="Find or do" role="combobox" aria-expanded="true"
          aria-controls="palette-list" aria-activedescendant={entries[chosen] === undefined ? undefined : `palette-${chosen}`}
          onChange={(event) => { setText(event.target.value); setAt(0); }} onKeyDown={pressed}
        />
        <Key>Esc</Key>
      </div>
      <ul className={styles.list} ref={list} id="palette-list" role="listbox" aria-label="Found">
        {entries.map((entry, place) => {
          const head = entry.group === group ? null : (group = entry.group);
          return (
            <li key={entry.id} role="presentation">
              {head !== null && <div className={styles.group} role="presentation">{head}</div>}
              <div
                id={`palette-${place}`} role="option" aria-selected={place === chosen} className={styles.entry}
                onClick={entry.act} onMouseMove={() => setAt(place)}
              >
                <Icon name={entry.icon} size={14} />
                <span>{entry.label}</span>
                {entry.second !== undefined && <span className={styles.second}>{entry.second}</span>}
                {entry.keys !== undefined && <Key>{entry.keys}</Key>}
              </div>
            </li>
          );
        })}
        {entries.length === 0 && <li className={styles.none} role="presentation">No result. Words inside tasks are found from three letters on.</li>}
      </ul>
      {hits.error !== null && <p className={styles.none}><Mark name="failed" /> {hits.error.message}</p>}
    </>
  );
}

export function KeyboardHelp({ open, onClose }: { open: boolean; onClose: () => void }) {
  const rows = [...PLACES.map((place) => ({ keys: place.keys, does: `Go to ${place.label}` })), ...OTHER_KEYS];
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={styles.help}>
          <Dialog.Title render={<h2 />}>Keyboard</Dialog.Title>
          <dl>
            {rows.map((row) => (
              <div key={row.keys}>
                <dt>{row.keys.split(" ").map((key) => <Key key={key}>{key}</Key>)}</dt>
                <dd>{row.does}</dd>
              </div>
            ))}
          </dl>
          <p>No keyboard shortcut approves anything: you approve with your passphrase, or by holding a button in the approval window.</p>
          <Dialog.Close render={<Button>Close</Button>} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
