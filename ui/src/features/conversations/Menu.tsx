// Commands behind a slash, in the list above where they are written.
import { type KeyboardEvent, useId, useState } from "react";
import { useAsk } from "~/ipc/client";
import type { SlashRow } from "~/ipc/generated/conversations";
import { chosen, meant } from "~/screen/slash";
import styles from "./Conversations.module.css";

/** The commands that a text may become, which of them is marked, and the keys that are theirs. */
export function useMenu(text: string, put: (text: string) => void) {
  const id = useId();
  const [at, setAt] = useState<{ of: string; row: number }>({ of: "", row: 0 });
  // What was closed stays closed until something else is written.
  const [closed, setClosed] = useState<string | null>(null);
  const commands = useAsk("conversations.commands", {});
  const offered = closed === text ? [] : meant(text, commands.data?.commands ?? []);
  const row = at.of === text ? Math.min(at.row, offered.length - 1) : 0;
  const marked = offered[row];
  const take = (command: SlashRow) => put(chosen(command));
  /** Whether a key was its own. */
  const pressed = (event: KeyboardEvent): boolean => {
    if (marked === undefined) return false;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? offered.length - 1 : 0;
    if (step !== 0) setAt({ of: text, row: (row + step) % offered.length });
    else if (event.key === "Escape") setClosed(text);
    // What is typed whole is sent, and Tab goes on from it; what is not is completed first.
    else if ((event.key === "Tab" && !event.shiftKey && chosen(marked) !== text) || (event.key === "Enter" && !event.shiftKey && text !== `/${marked.name}`)) take(marked);
    else return false;
    event.preventDefault();
    return true;
  };
  return { id, offered, marked, take, pressed };
}

const inView = (row: HTMLElement | null) => row?.scrollIntoView?.({ block: "nearest" });

/** The list can be focused too, with the same keys: where it is higher than its room, it scrolls. */
export function Menu({ of: { id, offered, marked, take, pressed } }: { of: ReturnType<typeof useMenu> }) {
  if (marked === undefined) return null;
  return (
    <ul className={styles.menu} id={id} role="listbox" aria-label="Commands" tabIndex={0} aria-activedescendant={`${id}-${marked.name}`} onKeyDown={pressed}>
      {offered.map((one) => (
        <li key={one.name} id={`${id}-${one.name}`} role="option" aria-selected={one === marked} ref={one === marked ? inView : undefined} onMouseDown={(event) => { event.preventDefault(); take(one); }}>
          <b>/{one.name}</b>{one.takes !== "" && <i>{one.takes}</i>}<span>{one.about}</span>
        </li>
      ))}
    </ul>
  );
}
