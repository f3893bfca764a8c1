/** What a model said at the end, as the page tells it: each sentence with what bears it, or marked. */
import { expect, test } from "vitest";
import type { Json } from "../src/verify/read/canon.ts";
import { digestOf } from "../src/verify/read/digest.ts";
import { answersOf } from "../src/page/answers.ts";
import type { Told } from "../src/page/story.ts";

const WORDS = "I wrote a.md. Größe: 5 €. The mail is out.";
const bytes = new TextEncoder().encode(WORDS);
const sha256 = digestOf(bytes);
const place = (text: string): { start: number; length: number } => ({ start: new TextEncoder().encode(WORDS.slice(0, WORDS.indexOf(text))).length, length: new TextEncoder().encode(text).length });
const SENTENCES: Json[] = [
  { ...place("I wrote a.md."), support: "receipt", receipts: ["rcp_1"] },
  { ...place("Größe: 5 €."), support: "evidence", sources: [{ artifact_id: "art_1", title: "read sizes.txt" }] },
  { ...place("The mail is out."), support: "unverified", because: "nothing that was seen says so" },
];

function told(type: Told["type"], seq: number, payload: Json): Told {
  return { seq, type, name: type ?? "", at: 0, actor: "service", payload, whole: payload, file: "task/events.jsonl" };
}

const ended = (summary: Json): Told => told("attempt.terminated", 7, { about_attempt_id: "att_1", summary });
const checked = told("attempt.answer_checked", 8, {
  about_attempt_id: "att_1", answer: { artifact_id: "art_9", sha256 }, check: { artifact_id: "art_8", sha256: "c".repeat(64) }, method: "m",
  by_receipt: 1, by_evidence: 1, by_absence: 0, claimless: 0, unverified: 1,
});

/** The answer of a bundle that has the comparison, with these sentences and of this answer. */
function answer(sentences: readonly Json[], { summary = WORDS as Json, of = sha256 }: { summary?: Json; of?: string } = {}) {
  const check: Json = { answer: { artifact_id: "art_9", sha256: of }, sentences: [...sentences] };
  return answersOf([ended(summary), checked], (digest) => (digest === "c".repeat(64) ? check : undefined), () => undefined)[0];
}

test("each sentence stands with what bears it, and the words are whole", () => {
  const found = answer(SENTENCES);
  expect(found?.sentences?.map((one) => [one.text, one.support])).toEqual([["I wrote a.md.", "receipt"], ["Größe: 5 €.", "evidence"], ["The mail is out.", "unverified"]]);
  expect(found?.sentences?.map((one) => one.gap + one.text).join("")).toBe(WORDS);
  expect(found?.counts).toEqual({ receipt: 1, evidence: 1, absence: 0, near: 0, unverified: 1 });
});

test("what names nothing, has a word of no list, or was not compared is marked", () => {
  const [first, second] = SENTENCES as { [name: string]: Json }[];
  const found = answer([{ ...first, receipts: [] }, { ...second, support: "proven" }]);
  expect(found?.sentences?.map((one) => one.support)).toEqual(["unverified", "unverified", "unverified"]);
  expect(found?.sentences?.at(-1)?.text).toBe(" The mail is out.");
});

test("words that are withheld, or are not those that were compared, are not shown as checked", () => {
  expect(answer(SENTENCES, { summary: { $sd: "d".repeat(64) } })?.sentences).toBeUndefined();
  expect(answer(SENTENCES, { summary: "I wrote a.md. Größe: 5 €. The mail is in." })?.sentences).toBeUndefined();
  expect(answer(SENTENCES, { of: "e".repeat(64) })?.sentences).toBeUndefined();
  // Places that overlap, or lie outside of the words.
  expect(answer([SENTENCES[0] ?? null, SENTENCES[0] ?? null])?.sentences).toBeUndefined();
  expect(answer([{ start: 0, length: 4_000, support: "receipt", receipts: ["rcp_1"] }])?.sentences).toBeUndefined();
});

const CITED = "The port is another now [r2]. It is out [r1, r3].";
const at = (text: string): { start: number; length: number } => ({ start: CITED.indexOf(text), length: text.length });
const cited: { [name: string]: Json }[] = [
  { ...at("The port is another now [r2]."), support: "receipt", receipts: ["rcp_1"], cited: true, cites: [{ ...at("[r2]"), number: 2, bears: true, receipts: ["rcp_1"], quote: "changed app.toml" }] },
  { ...at("It is out [r1, r3]."), support: "unverified", because: "what it cites does not show it", cites: [{ ...at("[r1,"), number: 1, bears: false, quote: "the mail is queued" }, { ...at(" r3]"), number: 3, bears: false }] },
];
const ofCited = (sentences: readonly Json[]) => answersOf(
  [ended(CITED), { ...checked, payload: { ...(checked.payload as { [name: string]: Json }), answer: { artifact_id: "art_9", sha256: digestOf(new TextEncoder().encode(CITED)) } } }],
  () => ({ answer: { artifact_id: "art_9", sha256: digestOf(new TextEncoder().encode(CITED)) }, sentences: [...sentences] }),
  () => undefined,
)[0];

test("a citation stands as the words of its record, and its mark does not", () => {
  expect(ofCited(cited)?.sentences?.map((one) => [one.text, one.support, one.quotes])).toEqual([["The port is another now.", "receipt", ["changed app.toml"]], ["It is out.", "unverified", ["the mail is queued"]]]);
});

test("words that are no mark are not taken out of an answer", () => {
  const [first] = cited as [{ [name: string]: Json }];
  // Nor what is written as a number of a result without its brackets.
  for (const words of ["another now", "r2"]) {
    expect(ofCited([{ ...first, cites: [{ ...at(words), number: 2, bears: true }] }])?.sentences).toBeUndefined();
  }
});

test("what is told like the record is not bound: the words of the record stand beside it, and it counts for itself", () => {
  const near: Json = { ...place("The mail is out."), support: "unverified", because: "no receipt shows that", receipts: ["rcp_1"], near: "the mail is queued" };
  const check: Json = { answer: { artifact_id: "art_9", sha256 }, sentences: [SENTENCES[0] ?? null, SENTENCES[1] ?? null, near] };
  const counted = { ...checked, payload: { ...(checked.payload as { [name: string]: Json }), near: 1 } };
  const [found] = answersOf([ended(WORDS), counted], () => check, () => undefined);
  expect(found?.counts).toEqual({ receipt: 1, evidence: 1, absence: 0, near: 1, unverified: 0 });
  expect(found?.sentences?.map((one) => [one.support, one.isNear, one.quotes])).toEqual([["receipt", false, []], ["evidence", false, []], ["unverified", true, ["the mail is queued"]]]);
  // A sentence that is bound is compared with nothing, and more of them than are unverified are none.
  const [bound] = answersOf([ended(WORDS), { ...checked, payload: { ...(checked.payload as { [name: string]: Json }), near: 9 } }], () => ({ ...check, sentences: [{ ...(SENTENCES[0] as { [name: string]: Json }), near: "x" }] }), () => undefined);
  expect(bound?.counts).toMatchObject({ near: 1, unverified: 0 });
  expect(bound?.sentences?.[0]).toMatchObject({ support: "receipt", isNear: false, quotes: [] });
});
