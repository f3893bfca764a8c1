// What comes with words that are being written: files, which are taken in at once, and what they quote. Both are shown, and may
// be left out, until the words are sent.
import { type ClipboardEvent, type DragEvent, type ReactNode, useCallback, useEffect, useId, useState } from "react";
import type { Host } from "~/host/host";
import { useAct, useAsk, useHost } from "~/ipc/client";
import type { AttachedFile } from "~/ipc/generated/conversations";
import { Button } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Icon } from "~/primitives/Icon";
import { Answer, Empty, Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { type FileWith, type Quoted, useWithOf } from "~/screen/drafts";
import { count, folderName, said } from "~/screen/words";
import { Marked } from "./Spoken";
import styles from "./Enclosing.module.css";

/** Files of one message. The host takes no more. */
export const FILES_MAX = 16;
/** Bytes of one of them. */
export const FILE_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes that go within a command, where no file can be sent beside it. */
const INLINE_BYTES_MAX = 4 * 1024 * 1024;

/** Base64 of a file's bytes. */
function inline(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error ?? new Error(`“${file.name}” cannot be read`));
    reader.readAsDataURL(file);
  });
}

/** Why a file cannot come with words. */
function unfit(file: File, { files }: Host): string | null {
  const most = files === undefined ? INLINE_BYTES_MAX : FILE_BYTES_MAX;
  if (file.size > most) return `“${file.name}” has ${bytes(file.size)}, and at most ${bytes(most)} are taken with a message. Put it into the folder of the task and say where it is.`;
  return null;
}

/** Where files go that fall onto the window: the composer that is on the screen, if there is one. */
const takers: ((paths: readonly string[]) => void)[] = [];
export const takesDrops = (): ((paths: readonly string[]) => void) | undefined => takers.at(-1);

export type Enclosing = ReturnType<typeof useEnclosing>;

/** What comes with the draft of a conversation or task. */
export function useEnclosing(of: string) {
  const host = useHost();
  const [{ quoted, files, isSpoken }, change] = useWithOf(of);
  const ingest = useAct("artifacts.ingest");
  const [adding, setAdding] = useState(0);
  const [why, setWhy] = useState<string | null>(null);
  const [failed, setFailed] = useState<Parameters<typeof Failed>[0]["error"] | null>(null);
  const take = async (one: File | string): Promise<FileWith> => {
    const name = typeof one === "string" ? folderName(one) : one.name;
    const place = typeof one === "string" ? { path: one } : host.files === undefined ? { bytes: await inline(one) } : { path: await host.files.upload(one) };
    const taken = await ingest.mutateAsync({ ...place, name, channel: "app" });
    return { id: taken.artifact_id, name, size: taken.byte_size, media: typeof one === "string" ? "" : one.type };
  };
  const keep = (file: FileWith) => change((now) => (now.files.some((one) => one.id === file.id) || now.files.length >= FILES_MAX ? now : { ...now, files: [...now.files, file] }));
  const add = async (more: readonly (File | string)[]) => {
    setWhy(null);
    setFailed(null);
    const room = FILES_MAX - files.length - adding;
    const bad = more.map((one) => (typeof one === "string" ? null : unfit(one, host))).find((one) => one !== null);
    const fit = more.filter((one) => typeof one === "string" || unfit(one, host) === null).slice(0, Math.max(0, room));
    if (bad !== undefined) setWhy(bad);
    else if (more.length > room) setWhy(`${FILES_MAX} files is as many as one message takes; send the others with another.`);
    setAdding((now) => now + fit.length);
    for (const one of fit) {
      try {
        keep(await take(one));
      } catch (error) {
        setFailed(error as Parameters<typeof Failed>[0]["error"]);
      } finally {
        setAdding((now) => now - 1);
      }
    }
  };
  return {
    quoted, files, isSpoken: isSpoken === true, why, failed, isAdding: adding > 0,
    quote: useCallback((next: Quoted | null) => change((now) => ({ ...now, quoted: next })), [change]),
    spoken: () => change((now) => ({ ...now, isSpoken: true })),
    leaveOut: (id: string) => { setWhy(null); change((now) => ({ ...now, files: now.files.filter((file) => file.id !== id) })); },
    again: (file: AttachedFile) => {
      if (files.length >= FILES_MAX) setWhy(`${FILES_MAX} files is as many as one message takes; send the others with another.`);
      else keep({ id: file.artifact_id, name: said(file.name, "a file"), size: file.byte_size, media: file.media_type });
    },
    add,
    /** What a command is told of it. */
    said: () => ({
      ...(quoted === null ? {} : { quotes: quoted.id, ...(quoted.isPart === true ? { passage: quoted.text } : {}) }),
      ...(files.length === 0 ? {} : { encloses: files.map((file) => file.id) }),
      ...(isSpoken === true ? { spoken: true } : {}),
    }),
  };
}

/** Files that are pasted come with the words; a text that is pasted is words. */
export function pasted(event: ClipboardEvent, enclosing: Enclosing): void {
  const files = [...event.clipboardData.files];
  if (files.length === 0) return;
  event.preventDefault();
  void enclosing.add(files);
}

/** Everything below it takes files that are let fall there. */
export function DropZone({ enclosing, className, children }: { enclosing: Enclosing; className?: string | undefined; children: ReactNode }) {
  const [isOver, setOver] = useState(false);
  const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");
  const { add } = enclosing;
  useEffect(() => {
    const taker = (paths: readonly string[]) => void add(paths);
    takers.push(taker);
    return () => { takers.splice(takers.indexOf(taker), 1); };
  });
  return (
    <div
      className={className} data-over={isOver || undefined}
      onDragOver={(event) => { if (hasFiles(event)) { event.preventDefault(); setOver(true); } }}
      onDragLeave={(event) => { if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false); }}
      onDrop={(event) => { setOver(false); if (hasFiles(event)) { event.preventDefault(); void enclosing.add([...event.dataTransfer.files]); } }}
    >
      {children}
    </div>
  );
}

/** What comes with the words, above the field they are written in. */
export function Enclosed({ enclosing }: { enclosing: Enclosing }) {
  const { quoted, files, isSpoken, isAdding, why, failed } = enclosing;
  return (
    <>
      {quoted !== null && (
        <div className={styles.quoted}>
          <Icon name="right" size={12} /><blockquote><Words of={quoted.text} /></blockquote>
          <Button look="quiet" icon="cross" aria-label="Do not quote it" onClick={() => enclosing.quote(null)} />
        </div>
      )}
      {(files.length > 0 || isAdding) && (
        <ul className={styles.files} aria-label="Comes with your message">
          {files.map((file) => (
            <li key={file.id} className={styles.chip}>
              <Icon name="file" size={12} /><span><Words of={file.name} /></span><small>{bytes(file.size)}</small>
              <Button look="quiet" icon="cross" aria-label={`Leave out ${file.name}`} onClick={() => enclosing.leaveOut(file.id)} />
            </li>
          ))}
          {isAdding && <li className={styles.chip} aria-busy="true">Taking it in</li>}
        </ul>
      )}
      <Marked isSpoken={isSpoken} />
      {why !== null && <p className={styles.why} role="status">{why}</p>}
      {failed !== null && <Failed error={failed} />}
    </>
  );
}

/** Chooses files, from the system or of what came with earlier messages. */
export function Attach({ enclosing, conversation }: { enclosing: Enclosing; conversation: string | null }) {
  const { pick, files } = useHost();
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const choose = pick === undefined
    ? <label className={styles.attach} htmlFor={id} title="Attach files; you may also drop or paste them"><Icon name="file" size={14} />Attach<input id={id} type="file" multiple aria-label="Attach files" onChange={(event) => { void enclosing.add([...(event.target.files ?? [])]); event.target.value = ""; }} /></label>
    : <Button look="quiet" icon="file" onClick={() => void pick("file").then((path) => (path === null ? undefined : enclosing.add([path])))}>Attach</Button>;
  return (
    <>
      {(pick !== undefined || files !== undefined) && choose}
      {conversation !== null && <Button look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>Files</Button>}
      {isOpen && conversation !== null && <Earlier conversation={conversation} enclosing={enclosing} />}
    </>
  );
}

/** Messages whose files are listed at once. */
const MESSAGES = 50;

function Earlier({ conversation, enclosing }: { conversation: string; enclosing: Enclosing }) {
  const asked = useAsk("conversations.files", { conversation, limit: MESSAGES });
  const chosen = new Set(enclosing.files.map((file) => file.id));
  return (
    <div className={styles.earlier} role="group" aria-label="Files of this conversation">
      <Answer asked={asked} what="its files" lines={2} isEmpty={(found) => found.rows.length === 0} empty={<Empty small title="No file came with a message here yet" />}>
        {(found) => (
          <>
            <ul>
              {distinct(found.rows).map((file) => (
                <li key={file.artifact_id}>
                  <Icon name="file" size={12} /><span><Words of={said(file.name, "a file")} /></span><small>{bytes(file.byte_size)}</small>
                  {file.is_erased ? <small>erased</small> : <Button look="link" because={chosen.has(file.artifact_id) ? "It comes with your message" : null} aria-label={`Attach ${said(file.name, "a file")} again`} onClick={() => enclosing.again(file)}>Attach</Button>}
                </li>
              ))}
            </ul>
            {found.next != null && <small>These are the files of the newest {count(MESSAGES, "message")} that have some.</small>}
          </>
        )}
      </Answer>
    </div>
  );
}

/** A file that came twice is one. */
function distinct(rows: readonly AttachedFile[]): readonly AttachedFile[] {
  return rows.filter((row, at) => rows.findIndex((other) => other.artifact_id === row.artifact_id) === at);
}
