// The difference of two texts by lines: Myers' greedy walk over what lies between the common ends.

export interface DiffLine {
  kind: "same" | "del" | "add";
  /** Number before and after; null where the line is not there. */
  before: number | null;
  after: number | null;
  text: string;
  /** The number of the hunk that a changed line belongs to, where the host has said it. */
  hunk?: number;
}

/** Lines from a place on, counted from 0, and what comes instead. */
export interface Edit {
  hunk: number;
  before: number;
  before_lines: number;
  after: number;
  after_lines: number;
}

interface Hunk {
  lines: DiffLine[];
  /** Lines left out before it. */
  skipped: number;
}

/** Edits beyond which the middle is told as removed and added whole: a walk would take too long and read no better. */
const EDITS_MAX = 1_200;
const CONTEXT = 3;

export function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Which lines of `a` and `b` stay, as pairs of places, in order. */
function kept(a: readonly string[], b: readonly string[]): [number, number][] {
  const most = Math.min(a.length + b.length, EDITS_MAX);
  const trace: Map<number, number>[] = [];
  const reach = new Map<number, number>([[1, 0]]);
  const at = (k: number) => reach.get(k) ?? -1;
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      let x = k === -edits || (k !== edits && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a, b);
    }
  }
  return [];
}

function walkBack(trace: Map<number, number>[], a: readonly string[], b: readonly string[]): [number, number][] {
  const pairs: [number, number][] = [];
  let x = a.length;
  let y = b.length;
  for (let edits = trace.length - 1; edits >= 0 && (x > 0 || y > 0); edits -= 1) {
    const reach = trace[edits];
    const at = (k: number) => reach?.get(k) ?? -1;
    const k = x - y;
    const from = k === -edits || (k !== edits && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const beforeX = edits === 0 ? 0 : at(from);
    const beforeY = edits === 0 ? 0 : beforeX - from;
    while (x > beforeX && y > beforeY && x > 0 && y > 0) {
      x -= 1;
      y -= 1;
      pairs.push([x, y]);
    }
    x = beforeX;
    y = beforeY;
  }
  return pairs.reverse();
}

/** Every line, deletions before additions wherever they stand together. */
export function difference(before: string, after: string): DiffLine[] {
  const a = splitLines(before);
  const b = splitLines(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const middle = kept(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const pairs: [number, number][] = [
    ...Array.from({ length: head }, (_, at): [number, number] => [at, at]),
    ...middle.map(([x, y]): [number, number] => [x + head, y + head]),
    ...Array.from({ length: tail }, (_, at): [number, number] => [a.length - tail + at, b.length - tail + at]),
    [a.length, b.length],
  ];
  const lines: DiffLine[] = [];
  let x = 0;
  let y = 0;
  for (const [nextX, nextY] of pairs) {
    for (; x < nextX; x += 1) lines.push({ kind: "del", before: x + 1, after: null, text: a[x] ?? "" });
    for (; y < nextY; y += 1) lines.push({ kind: "add", before: null, after: y + 1, text: b[y] ?? "" });
    if (nextX < a.length && nextY < b.length) {
      lines.push({ kind: "same", before: x + 1, after: y + 1, text: a[x] ?? "" });
      x += 1;
      y += 1;
    }
  }
  return lines;
}

/** Every line, as the host has worked the difference out: its hunks are those that a person takes one by one. */
export function fromEdits(before: string, after: string, edits: readonly Edit[]): DiffLine[] {
  const a = splitLines(before);
  const b = splitLines(after);
  const lines: DiffLine[] = [];
  let x = 0;
  let y = 0;
  const same = (end: number) => {
    for (; x < end; x += 1, y += 1) lines.push({ kind: "same", before: x + 1, after: y + 1, text: a[x] ?? "" });
  };
  for (const edit of edits) {
    same(edit.before);
    for (const end = x + edit.before_lines; x < end; x += 1) lines.push({ kind: "del", before: x + 1, after: null, text: a[x] ?? "", hunk: edit.hunk });
    for (const end = y + edit.after_lines; y < end; y += 1) lines.push({ kind: "add", before: null, after: y + 1, text: b[y] ?? "", hunk: edit.hunk });
  }
  same(a.length);
  return lines;
}

/** Runs of change with a few lines around each. */
export function hunks(lines: readonly DiffLine[]): { hunks: Hunk[]; skippedAfter: number } {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((line) => line.kind !== "same"),
  );
  const found: Hunk[] = [];
  let skipped = 0;
  let open: Hunk | null = null;
  lines.forEach((line, at) => {
    if (near[at] === true) {
      if (open === null) {
        open = { lines: [], skipped };
        found.push(open);
        skipped = 0;
      }
      open.lines.push(line);
    } else {
      open = null;
      skipped += 1;
    }
  });
  return { hunks: found, skippedAfter: skipped };
}

export function counts(lines: readonly DiffLine[]): { del: number; add: number } {
  let del = 0;
  let add = 0;
  for (const line of lines) {
    if (line.kind === "del") del += 1;
    if (line.kind === "add") add += 1;
  }
  return { del, add };
}
