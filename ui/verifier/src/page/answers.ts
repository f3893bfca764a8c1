/** What a model said at the end, sentence by sentence, each with what the log has for it, or marked. */
import type { Json } from "../verify/read/canon.ts";
import { digestOf } from "../verify/read/digest.ts";
import { append, h, icon, shortId } from "./dom.ts";
import { empty, type Go } from "./receipts.ts";
import type { Opened } from "./state.ts";
import { items, num, say, type Told } from "./story.ts";
import { count, shown } from "./words.ts";

/** Sentences that are put on the page. */
const SHOWN = 500;

/** A sentence of an answer. */
interface SentenceTold {
  /** What stands between it and the one before. */
  gap: string;
  text: string;
  /** What bears it; a word that is none of the closed list bears nothing. */
  support: "receipt" | "evidence" | "absence" | "claimless" | "unverified";
  receipts: string[];
  sources: { id: string; title: string }[];
  because?: string;
  /** Whether it is told like the record: unverified, and its first quotation is to be compared with it. */
  isNear: boolean;
  /** What the records say in their own words, where it is bound to them by what the model cited alone, or is to be compared with them. */
  quotes: string[];
}

/** An answer that was compared with the log. */
export interface AnswerTold {
  /** The event that says what came of it. */
  seq: number;
  counts: { receipt: number; evidence: number; absence: number; near: number; unverified: number };
  /** Nothing where the words or the comparison do not go along, or do not fit each other. */
  sentences?: SentenceTold[];
}

const SUPPORTS = ["receipt", "evidence", "absence", "claimless"] as const;

/** The answers of a bundle; `bytes` gives the content of an artifact by its digest. */
export function answersOf(events: readonly Told[], content: (digest: string) => Json | undefined, bytes: (digest: string) => Uint8Array | undefined): AnswerTold[] {
  return events.filter(({ type }) => type === "attempt.answer_checked").map(({ seq, payload }) => {
    const number = (name: string): number => num(payload, name) ?? 0;
    // Those that are told like the record are counted among the unverified.
    const near = Math.min(number("near"), number("unverified"));
    const counts = { receipt: number("by_receipt"), evidence: number("by_evidence"), absence: number("by_absence"), near, unverified: number("unverified") - near };
    const sha256 = say(payload, "answer", "sha256") ?? "";
    const told: AnswerTold = { seq, counts };
    const words = wordsOf(events, say(payload, "about_attempt_id"), sha256, bytes);
    const check = content(say(payload, "check", "sha256") ?? "");
    // The comparison is of these very words, or it is none of this answer.
    if (words && check !== undefined && say(check, "answer", "sha256") === sha256) {
      const sentences = cut(words, items(check, "sentences"));
      if (sentences) told.sentences = sentences;
    }
    return told;
  });
}

/** The words of an answer: its artifact, or what the end of the attempt says, where they have its digest. */
function wordsOf(events: readonly Told[], attempt: string | undefined, sha256: string, bytes: (digest: string) => Uint8Array | undefined): Uint8Array | undefined {
  const kept = bytes(sha256);
  if (kept && digestOf(kept) === sha256) return kept;
  for (const { type, payload } of events) {
    if (type !== "attempt.terminated" || say(payload, "about_attempt_id") !== attempt) continue;
    const said = new TextEncoder().encode(say(payload, "summary") ?? "");
    if (digestOf(said) === sha256) return said;
  }
  return undefined;
}

/** The words by their sentences, each byte of them once; nothing where they do not lie in order within the words. */
function cut(words: Uint8Array, all: readonly Json[]): SentenceTold[] | undefined {
  const text = (from: number, to: number): string => new TextDecoder().decode(words.subarray(from, to));
  const sentences: SentenceTold[] = [];
  let read = 0;
  for (const one of all) {
    const [start, length] = [num(one, "start") ?? -1, num(one, "length") ?? -1];
    if (start < read || length < 0 || start + length > words.length) return undefined;
    const because = say(one, "because");
    const receipts = items(one, "receipts").flatMap((id) => say(id) ?? []);
    const sources = items(one, "sources").map((source) => ({ id: say(source, "artifact_id") ?? "", title: say(source, "title") ?? "" }));
    const word = SUPPORTS.find((support) => support === say(one, "support")) ?? "unverified";
    // What names nothing is bound to nothing.
    const names = word === "receipt" ? receipts.length > 0 : word === "evidence" ? sources.length > 0 : true;
    const bound = names ? word : "unverified";
    const cites = items(one, "cites");
    const said = plain(words, start, start + length, cites);
    if (said === undefined) return undefined;
    // Beside a sentence that nothing bears, the words of what it cites stand to be compared.
    const cited = is(one, "cited") && (bound === "receipt" || bound === "evidence");
    const near = word === "unverified" ? say(one, "near") : undefined;
    const quotes = near !== undefined ? [near] : cites.flatMap((cite) => ((cited && is(cite, "bears")) || word === "unverified" ? say(cite, "quote") ?? [] : []));
    sentences.push({ gap: text(read, start), text: said, support: bound, isNear: near !== undefined, receipts, sources, quotes: [...new Set(quotes)], ...(because !== undefined && { because }) });
    read = start + length;
  }
  // Words behind the last sentence were compared with nothing.
  const rest = text(read, words.length);
  if (rest.trim() !== "") sentences.push({ gap: "", text: rest, support: "unverified", isNear: false, receipts: [], sources: [], quotes: [] });
  return sentences;
}

/** Whether a field says yes. */
function is(of: Json, name: string): boolean {
  return typeof of === "object" && of !== null && !Array.isArray(of) && (of as { [name: string]: Json })[name] === true;
}

/** A sentence without the marks by which the model cites, and the space before each; nothing where they do not lie in it, or are no marks. */
function plain(words: Uint8Array, start: number, end: number, cites: readonly Json[]): string | undefined {
  const text = (from: number, to: number): string => new TextDecoder().decode(words.subarray(from, to));
  let said = "";
  let read = start;
  let goesOn = false;
  for (const cite of cites) {
    const [from, length] = [num(cite, "start") ?? -1, num(cite, "length") ?? -1];
    if (from < read || length < 0 || from + length > end) return undefined;
    // Only a mark is taken out, of `[r1, r2]` part by part: what else a comparison names as one stands on the page.
    const mark = text(from, from + length);
    if (!(goesOn && from === read ? /^ *[rR]\d{1,4} *[,;\]]$/ : /^\[ *[rR]\d{1,4} *[,;\]]$/).test(mark)) return undefined;
    said += text(read, from).trimEnd();
    read = from + length;
    goesOn = !mark.endsWith("]");
  }
  return cites.length === 0 ? text(start, end) : (said + text(read, end)).trim();
}

export function answersView(opened: Opened, go: Go): HTMLElement {
  const { answers } = opened.story;
  if (answers.length === 0) return empty("No answer was compared with the log.", "Where a model spoke at the end of a run, its words are unverified. What was done is what the receipts say.");
  const view = h("div", { class: "view answers" });
  for (const answer of answers) append(view, [one(answer, opened, go)]);
  return view;
}

function one(answer: AnswerTold, opened: Opened, go: Go): HTMLElement {
  const { receipt, evidence, absence, near, unverified } = answer.counts;
  const head = h("h2", {}, "What the model said at the end");
  const lead = h(
    "p",
    { class: "dim" },
    `Hermit compared it with its log, sentence by sentence: ${receipt + evidence + absence} verified (${receipt} by receipts, ${evidence} by what was seen, ${absence} by no receipt that says otherwise), `,
    ...(near > 0 ? [h("strong", {}, `${near} to compare`), ", "] : []),
    h("strong", {}, `${unverified} UNVERIFIED`),
    ". Verified is that it stands on record, not that it is true. ",
    h("button", { type: "button", class: "cite", click: () => go.event(answer.seq) }, `event ${answer.seq}`),
  );
  const section = h("section", { class: "answer", "aria-label": "Answer" }, head, lead);
  if (!answer.sentences) {
    append(section, [h("p", { class: "none" }, "Its words, or what they were compared with, do not go along with this bundle. Ask for an export with the artifacts answer and answer.check.")]);
    return section;
  }
  const said = h("div", { class: "answer-words" });
  for (const sentence of answer.sentences.slice(0, SHOWN)) {
    const quotes = sentence.quotes.map((quote) => h("q", { title: sentence.isNear ? "What is on record, in its own words: compare" : `${sentence.support === "unverified" ? "It does not show the sentence: compare" : "What the record says"}, in its own words; the model cited it` }, ...shown(quote)));
    append(said, [h("span", { "data-support": sentence.support }, ...shown(sentence.gap), h("span", { class: "words" }, ...shown(sentence.text)), ...support(sentence, opened, go), ...quotes)]);
  }
  append(section, [said]);
  if (answer.sentences.length > SHOWN) append(section, [h("p", { class: "dim" }, `The first ${SHOWN} of ${count(answer.sentences.length, "sentence")}.`)]);
  return section;
}

function support(sentence: SentenceTold, opened: Opened, go: Go): (Node | string)[] {
  switch (sentence.support) {
    case "receipt":
      return sentence.receipts.map((id) => {
        const here = opened.story.receipts.some((receipt) => receipt.id === id);
        return here ? h("button", { type: "button", class: "cite", title: `The receipt ${id}`, click: () => go.receipt(id) }, shortId(id)) : h("span", { class: "tag s-mute", title: id }, `receipt ${shortId(id)}, not in this bundle`);
      });
    case "evidence":
      return sentence.sources.map(({ id, title }) => {
        const here = opened.story.artifacts.some((artifact) => artifact.id === id);
        return here ? h("button", { type: "button", class: "cite", title: `These words stand in what the agent saw: ${title}`, click: () => go.artifact(id) }, ...shown(title)) : h("span", { class: "tag s-mute", title: id }, ...shown(title), ", not in this bundle");
      });
    case "absence":
      return [h("span", { class: "tag s-mute" }, "no receipt says otherwise")];
    case "claimless":
      return [];
    case "unverified":
      if (sentence.isNear) return [h("span", { class: "tag s-mute", title: `It is told like what is on record, and not every word of it is${sentence.because === undefined ? "" : `: ${sentence.because}`}` }, icon("ask", 11), "COMPARE")];
      return [h("span", { class: "tag s-wait", title: `Nothing on record shows this${sentence.because === undefined ? "" : `: ${sentence.because}`}` }, icon("ask", 11), "UNVERIFIED")];
  }
}
