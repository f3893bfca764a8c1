// The folders that an act makes on the way to what its rows bring. They are no rows: nobody leaves one out, and with what
// is left out of a card they are not made.
import { useState } from "react";
import { Icon } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { Name } from "~/primitives/Words";
import type { Changes } from "~/ipc/generated/changes";
import { count } from "~/screen/words";
import { readable } from "./files";
import styles from "./Changes.module.css";

/** Names that are shown before somebody opens the rest. */
const FIRST = 20;

export function FoldersMade({ changes }: { changes: Changes }) {
  const [isOpen, setOpen] = useState(false);
  const makes = changes.makes;
  if (makes == null) return null;
  const shown = isOpen ? makes.first : makes.first.slice(0, FIRST);
  const beyond = makes.folders - makes.first.length;
  return (
    <section className={styles.made} aria-label="Folders that are made for it">
      <header>
        <Icon name="folder" size={14} />
        <span>Makes {count(makes.folders, "folder")} for it, {makes.folders > 1 && "each "}unless it is there by then</span>
      </header>
      <ul>{shown.map((path) => <li key={path}><code><Name of={readable(path)} /></code></li>)}</ul>
      {shown.length < makes.first.length && <button type="button" onClick={() => setOpen(true)}>Show {many(makes.first.length - shown.length)} more</button>}
      {beyond > 0 && <p>{many(beyond)} more stand under every value that is signed.</p>}
      {makes.more && <p>It may make more folders than these; the receipt names each.</p>}
    </section>
  );
}
