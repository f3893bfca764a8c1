import { expect, test } from "vitest";
import { joined } from "./client";

test("words that a page heard and those its host had of the same answer are one text, each piece once", () => {
  for (const [told, heard, whole] of [
    ["", "once upon", "once upon"],
    ["once upon", "", "once upon"],
    ["once upon", "upon a time", "once upon a time"],
    ["once ", "upon", "once upon"],
    ["once", "once upon a time", "once upon a time"],
    ["upon", "once upon a time", "once upon a time"],
    ["once upon a time", "upon", "once upon a timeupon"],
    ["once upon a time", "a time", "once upon a time"],
  ] as const) expect(joined(told, heard), `${told}|${heard}`).toBe(whole);
});
