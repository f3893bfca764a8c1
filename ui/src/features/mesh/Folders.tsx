// Folders that other machines may send goals to. They are told a name of each, never where it is.
import { type KeyboardEvent, useState } from "react";
import { FolderField } from "~/features/tasks/FolderField";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Words } from "~/primitives/Words";
import { folderName } from "~/screen/words";
import styles from "./Mesh.module.css";
import { wrongAlias } from "./words";

export function Folders({ folders, onChange }: { folders: Readonly<Record<string, string>>; onChange: (folders: Record<string, string>) => void }) {
  const [isOpen, setOpen] = useState(false);
  const [folder, setFolder] = useState("");
  const [typed, setTyped] = useState<string | null>(null);
  const alias = (typed ?? folderName(folder.trim())).trim();
  const because = folder.trim() === "" ? "Name a folder" : wrongAlias(alias, folders);
  const take = (gone: string) => onChange(Object.fromEntries(Object.entries(folders).filter(([one]) => one !== gone)));
  const add = () => {
    onChange({ ...folders, [alias]: folder.trim() });
    setFolder("");
    setTyped(null);
    setOpen(false);
  };
  // Enter adds the folder; it does not save what stands around it.
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (because === null) add();
  };
  return (
    <fieldset className={styles.choice}>
      <legend>Folders that other machines may send goals to</legend>
      {Object.keys(folders).length === 0 && <p className={styles.note}>None: this machine sends goals and takes none.</p>}
      <ul className={styles.rows}>
        {Object.entries(folders).map(([one, path]) => (
          <li key={one} className={styles.head}>
            <b><Words of={one} /></b><code><Words of={path} /></code>
            <Button look="link" aria-label={`Remove the folder ${one}`} onClick={() => take(one)}>Remove</Button>
          </li>
        ))}
      </ul>
      {isOpen ? (
        <div className={styles.inner} role="group" aria-label="Another folder" onKeyDown={enter}>
          <FolderField label="Folder" value={folder} hint="On this machine. Nothing outside it is touched by goals that are sent to it." onChange={setFolder} />
          <TextField label="Name for your other machines" value={typed ?? alias} spellCheck={false} hint="They see this name and no path." onChange={(event) => setTyped(event.target.value)} />
          <div className={styles.buttons}>
            <Button because={because} onClick={add}>Add this folder</Button>
            <Button look="link" onClick={() => setOpen(false)}>Cancel</Button>
          </div>
        </div>
      ) : <div className={styles.buttons}><Button icon="folder" onClick={() => setOpen(true)}>Add a folder</Button></div>}
    </fieldset>
  );
}
