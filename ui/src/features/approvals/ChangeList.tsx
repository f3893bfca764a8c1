// The changes of an act, row by row, read from the host as far as they are in sight: an act may have 100,000 of them.
// Many moves into one folder stand together as one row that opens in place. A difference of a long list is worked out
// when somebody opens it.
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { many as number } from "~/primitives/number";
import { FileDiff, type HunkChoice, folderWord, isLeft, look } from "~/primitives/Diff";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { FixedRows } from "~/primitives/FixedRows";
import { Icon } from "~/primitives/Icon";
import { Answer } from "~/primitives/States";
import { Name } from "~/primitives/Words";
import { useAsk } from "~/ipc/client";
import type { Rows } from "~/ipc/generated/approvals";
import type { Changes, Group } from "~/ipc/generated/changes";
import { diffFile, readable } from "./files";
import styles from "./Changes.module.css";

/** Up to so many rows all of them are drawn, with their differences. */
export const FEW = 80;
/** Pixels of a row of a long list. */
const ROW = 29;
/** Rows that are read at a time. */
const WINDOW = 200;

/** The first rows of an act; of a short list all of them. */
export function useChanges(of: string) {
  return useAsk("changes.show", { of, from: 0, limit: FEW });
}

/** What a person leaves out of an act: rows and whole groups, by their places, and hunks of a text. Nothing is left out
 *  at first. */
export interface Choice {
  left: ReadonlySet<At>;
  turn: (at: At) => void;
  /** Of files of which some hunks are left out, by their places. */
  hunks: ReadonlyMap<At, LeftHunks>;
  turnHunk: (at: At, path: string, hunk: number, many: number) => void;
}

/** Hunks of one file that are left out. */
export interface LeftHunks {
  path: string;
  many: number;
  left: ReadonlySet<number>;
}

/** The choice among the hunks of one file. */
function hunkChoice(at: At, path: string, first: Changes, choice: Choice | undefined): HunkChoice | undefined {
  if (choice === undefined) return undefined;
  const isOut = !isChosen(at, first, choice.left);
  return { left: choice.hunks.get(at)?.left ?? new Set<number>(), isOut, turn: (hunk, many) => choice.turnHunk(at, path, hunk, many) };
}

/** Rows that are chosen, as they follow each other. */
export function chosenRows({ groups, total }: Pick<Changes, "groups" | "total">, left: ReadonlySet<At>): Rows[] {
  const rows: Rows[] = [];
  const add = (from: number, many: number) => {
    const last = rows.at(-1);
    if (many <= 0) return;
    if (last !== undefined && last.from + last.rows === from) last.rows += many;
    else rows.push({ from, rows: many });
  };
  const gone = [...left].filter((at) => at >= 0).map((at) => ({ from: at, rows: 1 }));
  for (const at of left) {
    const group = at < 0 ? groups[-1 - at] : undefined;
    if (group !== undefined) gone.push({ from: group.from, rows: group.rows });
  }
  gone.sort((one, other) => one.from - other.from);
  let at = 0;
  for (const { from, rows: many } of gone) {
    add(at, from - at);
    at = Math.max(at, from + many);
  }
  add(at, total - at);
  return rows;
}

/** A row of what is shown: of the list by its place, of a group by -1 minus its place. */
type At = number;

/** Rows that follow each other: a header, or files from `at` on. */
interface Run { row: number; at: At; rows: number }

/** What is shown, told by runs and not row by row: a group may have a hundred thousand. */
function runsOf({ groups, total }: Pick<Changes, "groups" | "total">, open: ReadonlySet<number>): Run[] {
  const runs: Run[] = [];
  let row = 0;
  let at = 0;
  const add = (from: At, rows: number) => {
    if (rows > 0) runs.push({ row, at: from, rows });
    row += rows;
  };
  for (const [nth, group] of groups.entries()) {
    add(at, group.from - at);
    add(-1 - nth, 1);
    at = group.from;
    if (open.has(nth)) add(at, group.rows);
    at += group.rows;
  }
  add(at, total - at);
  return runs;
}

const manyOf = (runs: readonly Run[]) => runs.reduce((sum, run) => sum + run.rows, 0);

function rowAt(runs: readonly Run[], row: number): At | null {
  let [low, high] = [0, runs.length - 1];
  while (low < high) {
    const mid = Math.ceil((low + high) / 2);
    if ((runs[mid]?.row ?? 0) <= row) low = mid;
    else high = mid - 1;
  }
  const run = runs[low];
  if (run === undefined) return null;
  return run.at < 0 ? run.at : run.at + row - run.row;
}

/** Whether a row stays in the choice, by itself and with its group. */
function isChosen(at: At, { groups }: Pick<Changes, "groups">, left: ReadonlySet<At>): boolean {
  if (left.has(at)) return false;
  return at < 0 || !groups.some((group, nth) => left.has(-1 - nth) && at >= group.from && at < group.from + group.rows);
}

function Pick({ at, name, first, choice }: { at: At; name: string; first: Changes; choice: Choice | undefined }) {
  if (choice === undefined) return null;
  const isGroupOut = at >= 0 && !choice.left.has(at) && !isChosen(at, first, choice.left);
  return <input type="checkbox" className={styles.pick} aria-label={`Approve ${name}`} checked={isChosen(at, first, choice.left)} disabled={isGroupOut} onChange={() => choice.turn(at)} />;
}

/** `hunks`: whether texts can be chosen hunk by hunk. */
export function ChangeList({ of, first, choice, hunks = false }: { of: string; first: Changes; choice?: Choice | undefined; hunks?: boolean }) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [find, setFind] = useState("");
  const isLong = first.total > FEW;
  const turn = useCallback((nth: number) => setOpen((before) => {
    const after = new Set(before);
    if (!after.delete(nth)) after.add(nth);
    return after;
  }), []);
  const runs = useMemo(() => runsOf(first, open), [first, open]);
  const header = (at: At) => {
    const group = first.groups[-1 - at];
    if (group === undefined) return null;
    return (
      <div className={styles.picked}>
        <Pick at={at} name={group.to === null ? "the folders" : `what goes to ${group.to === "" ? "this folder" : readable(group.to)}`} first={first} choice={choice} />
        <GroupRow group={group} isOpen={open.has(-1 - at)} turn={() => turn(-1 - at)} />
      </div>
    );
  };
  if (!isLong) {
    return (
      <>
        {Array.from({ length: manyOf(runs) }, (_, row) => rowAt(runs, row) ?? 0).map((at) => {
          const file = first.files[at];
          // What the first answer had no room for is read by itself.
          const isLater = file?.before?.missing === "later" || file?.after?.missing === "later";
          return <div key={at}>{at < 0 ? header(at) : isLater ? <One of={of} at={at} find="" choiceOf={(path) => hunkChoice(at, path, first, hunks ? choice : undefined)} /> : file !== undefined && (
            <div className={styles.picked}><Pick at={at} name={readable(file.path)} first={first} choice={choice} /><div><FileDiff file={diffFile(file)} choice={hunkChoice(at, file.path, first, hunks ? choice : undefined)} /></div></div>
          )}</div>;
        })}
      </>
    );
  }
  return (
    <>
      <div className={styles.find}>
        <TextField label="Find a file" type="search" value={find} onChange={(event) => setFind(event.target.value)} hint={`Of ${number(first.total)} rows`} />
      </div>
      {find.trim() === ""
        ? <Long of={of} runs={runs} find="" label="Files" header={header} pick={(at, name) => <Pick at={at} name={name} first={first} choice={choice} />} choiceOf={(at, path) => hunkChoice(at, path, first, hunks ? choice : undefined)} />
        : <Found of={of} find={find.trim()} />}
    </>
  );
}

/** The rows whose path holds these words. */
function Found({ of, find }: { of: string; find: string }) {
  const asked = useAsk("changes.show", { of, from: 0, limit: WINDOW, find, brief: true });
  const found = asked.data?.total ?? 0;
  const runs = useMemo(() => [{ row: 0, at: 0, rows: found }], [found]);
  return (
    <Answer asked={asked} what="the files" lines={3}>
      {({ total }) => total === 0 ? <p className={styles.none}>No file has that name.</p> : (
        <>
          <p className={styles.none} role="status">{number(total)} found</p>
          <Long of={of} runs={runs} find={find} label="Files found" header={() => null} pick={() => null} choiceOf={() => undefined} />
        </>
      )}
    </Answer>
  );
}

/** One row of a long list: its window is read when it comes into sight. */
function Row({ of, at, find, open, pick }: { of: string; at: number; find: string; open: (at: number) => void; pick: (at: At, name: string) => ReactNode }) {
  const from = at - (at % WINDOW);
  const asked = useAsk("changes.show", { of, from, limit: WINDOW, ...(find === "" ? {} : { find }), brief: true });
  const file = asked.data?.files[at - from];
  if (file === undefined) return <div className={styles.row} aria-busy="true" />;
  const hasText = file.op !== "move" && file.op !== "folder" && file.note == null;
  return (
    <div className={styles.row} data-op={look(file)}>
      {pick(at, readable(file.path))}
      <span>{isLeft(file) ? "Left as it is" : folderWord(file) ?? wordOf(file.op, file.before !== null, file.outcome === "done")}</span>
      <code><Name of={readable(file.path)} /></code>
      {file.to !== null && <><span>to</span><code><Name of={readable(file.to)} /></code></>}
      {file.note != null && <span>{file.note}</span>}
      {file.outcome !== null && file.outcome !== "done" && !isLeft(file) && file.note == null && <span>{file.outcome.replace("_", " ")}</span>}
      {hasText && <Button onClick={() => open(at)}>Show</Button>}
    </div>
  );
}

/** Many rows, each of one height; the difference of the one that was opened stands below them. */
function Long({ of, runs, find, label, header, pick, choiceOf }: { of: string; runs: readonly Run[]; find: string; label: string; header: (at: At) => ReactNode; pick: (at: At, name: string) => ReactNode; choiceOf: (at: At, path: string) => HunkChoice | undefined }) {
  const [shown, setShown] = useState<number | null>(null);
  return (
    <>
      <div className={styles.many}>
        <FixedRows count={manyOf(runs)} height={ROW} label={label}>
          {(row) => {
            const at = rowAt(runs, row);
            return at === null ? null : at < 0 ? header(at) : <Row of={of} at={at} find={find} open={setShown} pick={pick} />;
          }}
        </FixedRows>
      </div>
      {shown !== null && <One of={of} at={shown} find={find} choiceOf={(path) => choiceOf(shown, path)} />}
    </>
  );
}

function wordOf(op: string, isThere: boolean, isDone: boolean): string {
  if (op === "delete") return isDone ? "Deleted" : "Delete";
  if (op === "move") return isDone ? "Moved" : "Move";
  if (op === "folder") return isDone ? "Folder made" : "Make folder";
  if (isThere) return isDone ? "Replaced" : "Replace";
  return isDone ? "Created" : "Create";
}

/** One row by itself, with the bytes of both sides. */
function One({ of, at, find, choiceOf }: { of: string; at: number; find: string; choiceOf: (path: string) => HunkChoice | undefined }) {
  const asked = useAsk("changes.show", { of, from: at, limit: 1, ...(find === "" ? {} : { find }) });
  return <Answer asked={asked} what="the file" lines={2}>{({ files: [file] }) => file === undefined ? null : <div className={styles.one}><FileDiff file={diffFile(file)} choice={choiceOf(file.path)} /></div>}</Answer>;
}

function GroupRow({ group, isOpen, turn }: { group: Group; isOpen: boolean; turn: () => void }) {
  const isDone = group.done === group.rows;
  const isFolders = group.op === "folder";
  const word = isFolders ? (isDone ? "folders made" : "folders to make") : isDone ? "files moved to" : "files to move to";
  return (
    <button type="button" className={styles.group} aria-expanded={isOpen} onClick={turn}>
      <Icon name={isOpen ? "down" : "right"} size={14} />
      <b>{number(group.rows)}</b> {word} {group.to !== null && (group.to === "" ? "this folder" : <code><Name of={readable(group.to)} /></code>)}
    </button>
  );
}
