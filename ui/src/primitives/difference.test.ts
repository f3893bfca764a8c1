import { describe, expect, test } from "vitest";
import { counts, difference, hunks, splitLines } from "./difference";

/** Applying a difference to the text before gives the text after, and the other way round. */
function sides(before: string, after: string) {
  const lines = difference(before, after);
  return {
    before: lines.filter((line) => line.kind !== "add").map((line) => line.text),
    after: lines.filter((line) => line.kind !== "del").map((line) => line.text),
  };
}

/** Small numbers from a seed, so that a failure can be seen again. */
function numbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return state % below;
  };
}

describe("a difference", () => {
  test("keeps both texts whole, whatever they are", () => {
    for (let seed = 1; seed <= 400; seed += 1) {
      const next = numbers(seed);
      const text = () => Array.from({ length: next(14) }, () => "abcd"[next(4)] ?? "a").map((word) => `${word}\n`).join("");
      const [before, after] = [text(), text()];
      expect(sides(before, after), `seed ${seed}`).toEqual({ before: splitLines(before), after: splitLines(after) });
    }
  });

  test("is the smallest where one line changed", () => {
    expect(counts(difference("a\nb\nc\n", "a\nx\nc\n"))).toEqual({ del: 1, add: 1 });
  });

  test("tells deletions before additions", () => {
    expect(difference("a\nb\n", "x\ny\n").map((line) => line.kind)).toEqual(["del", "del", "add", "add"]);
  });

  test("numbers lines as the files have them", () => {
    const lines = difference("a\nb\nc\n", "a\nc\nd\n");
    expect(lines.map((line) => [line.before, line.after])).toEqual([[1, 1], [2, null], [3, 2], [null, 3]]);
  });

  test("stays whole where the texts are long and share nothing", () => {
    const text = (word: string) => Array.from({ length: 3000 }, (_, at) => `${word}${at}\n`).join("");
    const made = sides(text("a"), text("b"));
    expect([made.before.length, made.after.length]).toEqual([3000, 3000]);
  });

  test("counts every line that a fold leaves out", () => {
    const before = Array.from({ length: 40 }, (_, at) => `${at}\n`).join("");
    const { hunks: parts, skippedAfter } = hunks(difference(before, before.replace("20\n", "x\n")));
    const shown = parts.reduce((sum, part) => sum + part.lines.length + part.skipped, 0);
    expect(shown + skippedAfter).toBe(41);
    expect(parts[0]?.skipped).toBe(17);
  });
});
