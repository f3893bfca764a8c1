// Files and folders that fall onto the window. What is done with them is said by the person, not guessed.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { count, folderName } from "~/screen/words";
import { useAct } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Icon } from "~/primitives/Icon";
import { Arcs } from "~/primitives/Shell";
import { Failed, Said } from "~/primitives/States";
import { takesDrops } from "~/features/enclosing/Enclosing";
import type { Dropped } from "./Root";
import styles from "./Drop.module.css";

/** The folder a path lies in. */
function above(path: string): string {
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return at <= 0 ? path : path.slice(0, at);
}

export function Drop({ over, dropped, away }: { over: number; dropped: Dropped | null; away: () => void }) {
  if (dropped !== null) return <Choose dropped={dropped} away={away} />;
  if (over === 0) return null;
  return (
    <div className={styles.over} role="status">
      <Arcs size={144} person />
      <h2>Drop to add {count(over, "thing")}</h2>
      <p>Nothing is read or changed until you say what to do.</p>
    </div>
  );
}

function Choose({ dropped, away }: { dropped: Dropped; away: () => void }) {
  const navigate = useNavigate();
  const ingest = useAct("artifacts.ingest");
  const panel = useRef<HTMLDivElement>(null);
  const folders = [...new Set([...dropped.folders, ...dropped.files.map(above)])];
  const things = [...dropped.folders, ...dropped.files];
  useEffect(() => panel.current?.focus(), []);
  const work = (folder: string) => {
    away();
    void navigate({ to: "/tasks/new", search: { folder } });
  };
  const take = async () => {
    for (const path of dropped.files) await ingest.mutateAsync({ path, channel: "app" });
  };
  const toMessage = takesDrops();
  const taken = ingest.isSuccess && !ingest.isPending;
  return (
    <div className={styles.veil}>
      <div ref={panel} className={styles.panel} role="dialog" aria-modal="true" aria-labelledby="dropped" tabIndex={-1} onKeyDown={(event) => event.key === "Escape" && away()}>
        <h2 id="dropped">{count(things.length, "thing")} handed over</h2>
        <ul>{things.slice(0, 12).map((path) => <li key={path}><Icon name={dropped.folders.includes(path) ? "folder" : "file"} size={14} /><code>{path}</code></li>)}</ul>
        {things.length > 12 && <p>and {count(things.length - 12, "more thing")}</p>}
        {dropped.left_out > 0 && <p>{count(dropped.left_out, "thing")} cannot be taken: neither file nor folder, or a name that is no text.</p>}
        {ingest.error !== null && <Failed error={ingest.error} />}
        {taken && <Said tone="done">Copied as they are now, each with its digest. They count as untrusted until you say otherwise.</Said>}
        <footer>
          {folders.slice(0, 3).map((folder) => <Button key={folder} icon="task" onClick={() => work(folder)}>New task in {folderName(folder)}</Button>)}
          {dropped.files.length > 0 && toMessage !== undefined && <Button icon="talk" onClick={() => { toMessage(dropped.files); away(); }}>Attach to your message</Button>}
          {dropped.files.length > 0 && !taken && (
            <Button icon="down_to" because={ingest.isPending ? "Adding" : null} onClick={() => void take().catch(() => undefined)}>Take in {count(dropped.files.length, "file")}</Button>
          )}
          <Button look="quiet" onClick={away}>{taken ? "Close" : "Nothing"}</Button>
        </footer>
      </div>
    </div>
  );
}
