// One file's change. Deletions first inside a hunk, folded lines counted and opened in place, nothing cut silently.
import { type KeyboardEvent, type ReactNode, createContext, useContext, useMemo, useRef, useState } from "react";
import { Comment, type Comments, CommentsOn } from "./Comments";
import { type DiffLine, type Edit, counts, difference, fromEdits, hunks } from "./difference";
import { Icon } from "./Icon";
import { Name, Words, hiddenIn } from "./Words";
import { many as grouped } from "./number";
import styles from "./Diff.module.css";

/** Lines of one run shown before it is folded. */
const RUN_MAX = 12;

/** Where a difference leads: to where a file, or a line of it as the file is now, came from; and out of a browser. */
export interface Ways {
  origin: (path: string, line: number | null) => void;
  /** Saves the text of a file; null where nothing is downloaded. */
  save: ((path: string, text: string) => void) | null;
  /** Downloads bytes that are no text, by their digest; null where nothing is downloaded. */
  take: ((path: string, sha256: string) => void) | null;
}

/** Null where a difference leads nowhere. */
export const WaysOn = createContext<Ways | null>(null);

export interface DiffSide {
  text: string | null;
  /** Why there is no text. */
  missing: string | null;
  sha256: string;
  byteSize: number | null;
}

export interface DiffFile {
  op: "delete" | "write" | "move" | "folder";
  path: string;
  to: string | null;
  before: DiffSide | null;
  after: DiffSide | null;
  outcome: string | null;
  /** Of a folder that is to go: on what that depends; of one that went, that it was empty; or why it is there still. */
  note?: string | null;
  /** What the host has worked out as the difference; none where this page does. */
  edits: readonly Edit[];
}

/** What a person takes of one file, hunk by hunk. */
export interface HunkChoice {
  left: ReadonlySet<number>;
  /** The whole file is left out. */
  isOut: boolean;
  turn: (hunk: number, many: number) => void;
}

/** Whether what stood there stands there still: an undo leaves it, or nothing came of the change. */
export function isLeft({ op, before, after, outcome }: { op: string; before: { sha256: string } | null; after: { sha256: string } | null; outcome: string | null }): boolean {
  return outcome === "not_done" && op === "write" && before !== null && before.sha256 !== "" && before.sha256 === after?.sha256;
}

/** How a line of a folder begins that goes only if it is empty by then, that went, or that stayed; the note follows its name. Null of all else. */
export function folderWord({ note, outcome }: { note?: string | null; outcome: string | null }): string | null {
  if (note == null) return null;
  return outcome === null ? "Remove the folder" : outcome === "done" ? "Removed the folder" : "The folder";
}

export function hunksOf({ edits }: Pick<DiffFile, "edits">): number {
  return edits.at(-1)?.hunk ?? 0;
}

export function bytes(size: number): string {
  if (size < 1000) return `${size} B`;
  for (const [unit, of] of [["kB", 1e3], ["MB", 1e6], ["GB", 1e9]] as const) {
    if (size < of * 1000) return `${(size / of).toFixed(size < of * 10 ? 1 : 0)} ${unit}`;
  }
  return `${(size / 1e12).toFixed(1)} TB`;
}

function linesOf(file: DiffFile): DiffLine[] {
  if (file.op === "move" || file.op === "folder") return [];
  const before = file.before === null ? "" : file.before.text;
  const after = file.after === null ? "" : file.after.text;
  if (before === null || after === null) {
    // One side is not at hand: the other is still shown whole.
    const shown = after ?? before;
    const kind = after === null ? "del" : "add";
    if (shown === null) return [];
    return difference("", shown).map((line) => ({ ...line, kind, before: kind === "del" ? line.after : null }));
  }
  return file.edits.length > 0 ? fromEdits(before, after, file.edits) : difference(before, after);
}

export function tally(files: readonly DiffFile[]) {
  let del = 0;
  let add = 0;
  for (const file of files) {
    const counted = counts(linesOf(file));
    del += counted.del;
    add += counted.add;
  }
  const of = (test: (file: DiffFile) => boolean) => files.filter(test).length;
  return {
    del,
    add,
    deleted: of((f) => f.op === "delete"),
    replaced: of((f) => f.op === "write" && f.before !== null),
    created: of((f) => f.op === "write" && f.before === null),
    moved: of((f) => f.op === "move"),
    folders: of((f) => f.op === "folder"),
  };
}

const MISSING: Record<string, string> = {
  binary: "These bytes are no text. Their digest is what is compared.",
  large: "Too large to show here.",
  gone: "The bytes are not kept here, only their digest.",
  drifted: "The folder holds other bytes now than when this was asked. It cannot be carried out as shown.",
};

/** The look of a row: a folder that goes if it is empty is no deletion of a person's file. */
export function look({ op, note }: { op: string; note?: string | null }): string {
  return op === "delete" && note != null ? "remove" : op;
}

/** What is asked is named, and only what was done is told as done. */
function word(file: DiffFile): string {
  const isDone = file.outcome === "done";
  if (isLeft(file)) return "Left as it is";
  if (file.op === "delete") return folderWord(file) ?? (isDone ? "Deleted" : "Delete");
  if (file.op === "move") return isDone ? "Moved" : "Move";
  if (file.op === "folder") return isDone ? "Folder made" : "Make folder";
  if (file.before === null) return isDone ? "Created" : "Create";
  return isDone ? "Replaced" : "Replace";
}

/** `choice`: where its hunks can be left out. */
export function FileDiff({ file, choice }: { file: DiffFile; choice?: HunkChoice | undefined }) {
  const many = hunksOf(file);
  const lines = useMemo(() => linesOf(file), [file]);
  const { hunks: parts, skippedAfter } = useMemo(() => hunks(lines), [lines]);
  const { del, add } = counts(lines);
  // Models write files anew as they are; an empty difference alone would leave a person looking for what is missing. What the folder
  // holds by now is something else where it drifted, and nobody knows it where there is no digest.
  const isAsBefore = file.before !== null && file.before.sha256 !== "" && file.before.sha256 === file.after?.sha256;
  const isSame = isAsBefore && file.op === "write" && file.before?.missing !== "drifted";
  const size = (file.after ?? file.before)?.byteSize ?? null;
  const hidden = useMemo(() => countHidden(lines), [lines]);
  const ways = useContext(WaysOn);
  // What was done stands in the file now; what is only asked for does not yet.
  const isDone = file.outcome === "done";
  const path = isDone && file.to !== null ? file.to : file.path;
  const isFolder = file.op === "folder" || file.note != null;
  const isThere = !isFolder && (isDone ? file.op !== "delete" : file.before !== null || file.op !== "write");
  const lead: Lead | null = ways === null || !isThere ? null : { side: isDone ? "after" : "before", go: (line) => ways.origin(path, line) };
  const text = file.after?.missing == null ? file.after?.text ?? null : null;
  // What is shown as no text is kept as bytes: as it would be or was written, of what was deleted as it was.
  const whole = file.after ?? (isDone ? file.before : null);
  const bytesOf = whole?.missing === "binary" || whole?.missing === "large" ? whole.sha256 : null;
  const comments = useContext(CommentsOn);
  const open: Open | null = comments === null || file.outcome !== null || lines.length === 0 || isSame ? null : { path: file.path, comments };
  const section = useRef<HTMLElement>(null);
  const missing = file.op === "move" ? [] : [...new Set([file.before?.missing, file.after?.missing].filter((why) => why !== null && why !== undefined))];
  return (
    <section ref={section} className={styles.file} data-op={look(file)} data-comments={open !== null || undefined} aria-label={`${word(file)} ${file.path}`} onKeyDown={open !== null ? stepLines : undefined}>
      <header>
        <Icon name={isFolder ? "folder" : "file"} size={14} />
        <span className={styles.word}>{word(file)}</span>
        <code><Name of={file.path} /></code>
        {file.to !== null && <><span className={styles.to}>to</span><code><Name of={file.to} /></code></>}
        {file.note != null && <span className={styles.to}>{file.note}</span>}
        {file.outcome !== null && file.outcome !== "done" && !isLeft(file) && file.note == null && <span className={styles.word}>{file.outcome.replace("_", " ")}</span>}
        <span className={styles.counts}>
          {del > 0 && <span className={styles.del}>−{del}</span>}
          {add > 0 && <span className={styles.add}>+{add}</span>}
          {size !== null && <span>{bytes(size)}</span>}
          {open !== null && <button type="button" className={styles.origin} aria-label={`Comment on a line of ${file.path}`} title="Comment on a line: choose it with the arrow keys" onClick={() => lineButtons(section.current)[0]?.focus()}><Icon name="plus" size={14} /></button>}
          {ways?.save != null && text !== null && <button type="button" className={styles.origin} aria-label={`Download ${file.path}`} title={isDone ? "Download it as it was written" : "Download it as it would be written"} onClick={() => ways.save?.(file.path, text)}><Icon name="down_to" size={14} /></button>}
          {ways?.take != null && bytesOf !== null && <button type="button" className={styles.origin} aria-label={`Download ${file.path}`} title={file.after === null ? "Download it as it was" : isDone ? "Download it as it was written" : "Download it as it would be written"} onClick={() => ways.take?.(file.path, bytesOf)}><Icon name="down_to" size={14} /></button>}
          {lead !== null && <button type="button" className={styles.origin} aria-label={`Where ${path} came from`} title="Where the file came from" onClick={() => lead.go(null)}><Icon name="lineage" size={14} /></button>}
        </span>
      </header>
      {missing.map((why, at) => (
        <p key={at} className={styles.missing} data-drifted={why === "drifted" || undefined}>{MISSING[why ?? ""] ?? why}</p>
      ))}
      {isSame && (isDone || file.outcome === null) && <p className={styles.missing}>{isDone ? "It was written with the content that it had." : "Its content stays the same: this writes what is there already."}</p>}
      {hidden !== null && (
        <p className={styles.hidden}>
          <Icon name="eye" size={14} />
          <span>
            Line {hidden.line} holds {hidden.count} {hidden.count === 1 ? "character that does" : "characters that do"} not
            show or reorder text. {hidden.more > 0 && `${grouped(hidden.more)} more lines hold such. `}
            Shown as code points, in file order.
          </span>
        </p>
      )}
      {parts.map((part, at) => (
        <Fragmented key={at} lines={part.lines} skipped={part.skipped} lead={lead} open={open}>
          {choice !== undefined && many > 1 && <PickHunk hunk={part.lines.find((line) => line.hunk !== undefined)?.hunk ?? 0} many={many} path={file.path} choice={choice} />}
        </Fragmented>
      ))}
      {parts.length > 0 && skippedAfter > 0 && <p className={styles.same}>{skippedAfter} unchanged {skippedAfter === 1 ? "line" : "lines"}</p>}
    </section>
  );
}

const lineButtons = (section: Element | null) => [...(section?.querySelectorAll<HTMLElement>("[data-comment]") ?? [])];

/** By keys a person goes from line to line, where one has the keys. */
function stepLines(event: KeyboardEvent<HTMLElement>) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0 || !(event.target instanceof HTMLElement) || event.target.dataset.comment === undefined) return;
  event.preventDefault();
  const all = lineButtons(event.currentTarget);
  all[all.indexOf(event.target) + step]?.focus();
}

/** A line as a comment names it: by its number as it would be; one that would go, by its number as it is. */
function placeOf(path: string, line: DiffLine): string {
  const file = /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
  return line.after === null ? `${file}:${line.before ?? 0} as it is now` : `${file}:${line.after}`;
}

function countHidden(lines: readonly DiffLine[]) {
  const found = lines
    .filter((line) => line.kind === "add")
    .map((line) => ({ line: line.after ?? 0, count: hiddenIn(line.text).length }))
    .filter((line) => line.count > 0);
  const first = found[0];
  return first === undefined ? null : { ...first, more: found.length - 1 };
}

function PickHunk({ hunk, many, path, choice }: { hunk: number; many: number; path: string; choice: HunkChoice }) {
  return (
    <label className={styles.hunk}>
      <input type="checkbox" aria-label={`Approve hunk ${hunk} of ${many} in ${path}`} checked={!choice.isOut && !choice.left.has(hunk)} disabled={choice.isOut} onChange={() => choice.turn(hunk, many)} />
      <span>Approve hunk {hunk} of {many}</span>
    </label>
  );
}

/** Where a line of a difference leads, by its number on the side that is in the file now. */
interface Lead { side: "before" | "after"; go: (line: number | null) => void }

/** A file whose lines can be commented on. */
interface Open { path: string; comments: Comments }

function Fragmented({ lines, skipped, lead, open, children }: { lines: DiffLine[]; skipped: number; lead: Lead | null; open: Open | null; children?: ReactNode }) {
  const runs: DiffLine[][] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (last?.[0]?.kind === line.kind) last.push(line);
    else runs.push([line]);
  }
  return (
    <>
      {skipped > 0 && <p className={styles.same}>{skipped} unchanged {skipped === 1 ? "line" : "lines"}</p>}
      {children}
      {runs.map((run, at) => <Run key={at} lines={run} lead={lead} open={open} />)}
    </>
  );
}

/** Its number, and with a pointer the way to where it came from; by keys the file leads there. */
function LineNumber({ line, lead }: { line: DiffLine; lead: Lead | null }) {
  const shown = line.after ?? line.before;
  const now = lead === null ? null : line[lead.side];
  if (lead === null || now === null) return <span className={styles.number}>{shown}</span>;
  return <button type="button" tabIndex={-1} className={styles.number} title={`Where line ${now} came from`} onClick={() => lead.go(now)}>{shown}</button>;
}

const SIGN = { same: " ", del: "-", add: "+" } as const;
const SAID = { same: "", del: "deleted ", add: "added " } as const;

function Line({ line, isFirst, lead }: { line: DiffLine; isFirst: boolean; lead: Lead | null }) {
  return (
    <>
      <LineNumber line={line} lead={lead} />
      <span aria-hidden="true">{SIGN[line.kind]}</span>
      <span className={styles.text}>
        {isFirst && SAID[line.kind] !== "" && <span className="visually-hidden">{SAID[line.kind]}</span>}
        <Words of={line.text} />
      </span>
    </>
  );
}

/** A line with the comment on it. */
function OpenLine({ line, isFirst, lead, on }: { line: DiffLine; isFirst: boolean; lead: Lead | null; on: Open }) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const place = placeOf(on.path, line);
  return (
    <>
      <div className={styles.line} data-kind={line.kind}>
        <Line line={line} isFirst={isFirst} lead={lead} />
        <button ref={button} type="button" tabIndex={-1} data-comment className={styles.comment} aria-label={`Comment on ${place}`} title="Comment on this line" onClick={() => setOpen(true)}>+</button>
      </div>
      <Comment on={on.comments} place={place} isOpen={isOpen} open={() => setOpen(true)} close={() => { setOpen(false); button.current?.focus(); }} />
    </>
  );
}

function Run({ lines, lead, open: on }: { lines: DiffLine[]; lead: Lead | null; open: Open | null }) {
  const [open, setOpen] = useState(false);
  const kind = lines[0]?.kind ?? "same";
  const shown = open || kind === "same" || lines.length <= RUN_MAX + 3 ? lines : lines.slice(0, RUN_MAX);
  const rest = lines.length - shown.length;
  return (
    <>
      {shown.map((line, at) => on === null
        ? <div key={at} className={styles.line} data-kind={line.kind}><Line line={line} isFirst={at === 0} lead={lead} /></div>
        : <OpenLine key={at} line={line} isFirst={at === 0} lead={lead} on={on} />)}
      {rest > 0 && (
        <p className={styles.more}>
          <button type="button" onClick={() => setOpen(true)}>
            Show the other {rest} {kind === "del" ? "deleted" : "added"} lines
          </button>
        </p>
      )}
    </>
  );
}
