// One file's change. Deletions first inside a hunk, folded lines counted and opened in place, nothing cut silently.
import { type ReactNode, useMemo, useState } from "react";
import { type DiffLine, type Edit, counts, difference, fromEdits, hunks } from "./difference";
import { Icon } from "./Icon";
import { Name, Words, hiddenIn } from "./Words";
import styles from "./Diff.module.css";

/** Lines of one run shown before it is folded. */
const RUN_MAX = 12;

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
  large: "Too large to show here. Open it as an artifact to read it in parts.",
  gone: "The bytes are not kept here, only their digest.",
  drifted: "The folder holds other bytes now than when this was asked. It cannot be carried out as shown.",
};

/** What is asked is named, and only what was done is told as done. */
function word(file: DiffFile): string {
  const isDone = file.outcome === "done";
  if (file.op === "delete") return isDone ? "Deleted" : "Delete";
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
  const size = (file.after ?? file.before)?.byteSize ?? null;
  const hidden = useMemo(() => countHidden(lines), [lines]);
  const missing = file.op === "move" ? [] : [...new Set([file.before?.missing, file.after?.missing].filter((why) => why !== null && why !== undefined))];
  return (
    <section className={styles.file} data-op={file.op} aria-label={`${word(file)} ${file.path}`}>
      <header>
        <Icon name={file.op === "folder" ? "folder" : "file"} size={14} />
        <span className={styles.word}>{word(file)}</span>
        <code><Name of={file.path} /></code>
        {file.to !== null && <><span className={styles.to}>to</span><code><Name of={file.to} /></code></>}
        {file.outcome !== null && file.outcome !== "done" && <span className={styles.word}>{file.outcome.replace("_", " ")}</span>}
        <span className={styles.counts}>
          {del > 0 && <span className={styles.del}>−{del}</span>}
          {add > 0 && <span className={styles.add}>+{add}</span>}
          {size !== null && <span>{bytes(size)}</span>}
        </span>
      </header>
      {missing.map((why, at) => (
        <p key={at} className={styles.missing} data-drifted={why === "drifted" || undefined}>{MISSING[why ?? ""] ?? why}</p>
      ))}
      {hidden !== null && (
        <p className={styles.hidden}>
          <Icon name="eye" size={14} />
          <span>
            Line {hidden.line} holds {hidden.count} {hidden.count === 1 ? "character that does" : "characters that do"} not
            show or reorder text. {hidden.more > 0 && `${hidden.more} more lines hold such. `}
            Shown as code points, in file order.
          </span>
        </p>
      )}
      {parts.map((part, at) => (
        <Fragmented key={at} lines={part.lines} skipped={part.skipped}>
          {choice !== undefined && many > 1 && <PickHunk hunk={part.lines.find((line) => line.hunk !== undefined)?.hunk ?? 0} many={many} path={file.path} choice={choice} />}
        </Fragmented>
      ))}
      {parts.length > 0 && skippedAfter > 0 && <p className={styles.same}>{skippedAfter} unchanged {skippedAfter === 1 ? "line" : "lines"}</p>}
    </section>
  );
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

function Fragmented({ lines, skipped, children }: { lines: DiffLine[]; skipped: number; children?: ReactNode }) {
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
      {runs.map((run, at) => <Run key={at} lines={run} />)}
    </>
  );
}

const SIGN = { same: " ", del: "-", add: "+" } as const;
const SAID = { same: "", del: "deleted ", add: "added " } as const;

function Run({ lines }: { lines: DiffLine[] }) {
  const [open, setOpen] = useState(false);
  const kind = lines[0]?.kind ?? "same";
  const shown = open || kind === "same" || lines.length <= RUN_MAX + 3 ? lines : lines.slice(0, RUN_MAX);
  const rest = lines.length - shown.length;
  return (
    <>
      {shown.map((line, at) => (
        <div key={at} className={styles.line} data-kind={line.kind}>
          <span className={styles.number}>{line.after ?? line.before}</span>
          <span aria-hidden="true">{SIGN[line.kind]}</span>
          <span className={styles.text}>
            {at === 0 && SAID[line.kind] !== "" && <span className="visually-hidden">{SAID[line.kind]}</span>}
            <Words of={line.text} />
          </span>
        </div>
      ))}
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
