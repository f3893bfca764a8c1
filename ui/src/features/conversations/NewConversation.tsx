// A new conversation: a folder to work in, and a title that may be left to its folder.
import { type FormEvent, useState } from "react";
import { FolderField } from "~/features/tasks/FolderField";
import { useAct } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { folderName } from "~/screen/words";
import styles from "./Conversations.module.css";

export function NewConversation({ opened, back }: { opened: (id: string) => void; back: () => void }) {
  const open = useAct("conversations.open");
  const [folder, setFolder] = useState("");
  const [title, setTitle] = useState("");
  const because = folder.trim() === "" ? "Name a folder first" : open.isPending ? "Opening" : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (because !== null) return;
    const name = title.trim() === "" ? folderName(folder.trim()) : title.trim();
    open.mutate({ title: name, folder: folder.trim() }, { onSuccess: (made) => opened(made.conversation_id) });
  };
  return (
    <section className={styles.pane} aria-label="New conversation">
      <form className={styles.form} onSubmit={submit}>
        <h2>New conversation</h2>
        <FolderField label="Folder to work in" value={folder} onChange={setFolder} hint="What you say here becomes tasks in this folder." />
        <TextField label="Title" value={title} placeholder={folder.trim() === "" ? "Its folder" : folderName(folder.trim())} maxLength={120} onChange={(event) => setTitle(event.target.value)} />
        <div className={styles.row}>
          <Button look="person" type="submit" because={because}>Open</Button>
          <Button look="quiet" onClick={back}>Back</Button>
        </div>
        {open.error !== null && <Failed error={open.error} />}
      </form>
    </section>
  );
}
