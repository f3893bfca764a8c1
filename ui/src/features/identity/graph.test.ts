// The drawing of a chain: a lane for each key, cuts where nothing leads on, and what is in sight.
import { expect, test } from "vitest";
import { KEYS, trustLink } from "~/test/identity";
import { STEP, inSight, rowsOf } from "./graph";
import { nameIn, sizeOf } from "./words";

test("a link is drawn in the lane of the key that is in force behind it, and a key keeps its number", () => {
  const links = [trustLink(1), trustLink(2, { kind: "handover", signed_by: [KEYS[0], KEYS[1]] }), trustLink(3, { signed_by: [] }), trustLink(4, { signed_by: [KEYS[0]] })];
  const rows = rowsOf({ links, findings: [{ what: "gap", number: 3, says: "" }, { what: "revoked_key", number: 4, says: "" }, { what: "fork", number: 4, says: "" }] });
  expect(rows.map((row) => [row.from, row.lane, row.isCut])).toEqual([[null, 0, false], [0, 1, false], [1, 1, true], [1, 0, true]]);
  expect(rows[1]?.keys.map((one) => one.number)).toEqual([1, 2]);
  expect(rows[3]?.findings).toHaveLength(2);
});

test("what is folded is counted, wherever it is, and nothing is left out twice", () => {
  const rows = rowsOf({ links: Array.from({ length: 10_000 }, (_, at) => trustLink(at + 1)), findings: [] });
  const sight = inSight(rows, 1, 5_000);
  expect(sight.map((one) => one.at).slice(0, 3)).toEqual([0, 4_999, 10_000 - 2 * STEP]);
  expect(sight.reduce((sum, one) => sum + one.left + 1, 0)).toBe(10_000);
  expect(inSight(rowsOf({ links: [], findings: [] }), 0, null)).toEqual([]);
});

test("the name of an instance is the first line that holds anything", () => {
  expect(nameIn("\n  \n# Ada of the harbour #\nmore")).toBe("Ada of the harbour");
  expect(nameIn("---\n\n> Ada\n")).toBe("Ada");
  expect(nameIn(" \n\n")).toBeNull();
  expect(nameIn("x".repeat(500))?.length).toBe(121);
  expect(sizeOf("ö")).toBe(2);
});
