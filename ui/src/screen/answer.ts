// The closing answer of a model with what shows each sentence, in words. Pure.
import type { AnswerCheck, AnswerSentence } from "~/ipc/generated/answer";
import type { Task } from "~/ipc/generated/task";

/** Whether nothing on record shows any of it, or is like it. */
export function isBare(check: AnswerCheck): boolean {
  return !check.sentences.some((one) => one.near !== null || (one.support !== "unverified" && one.support !== "claimless"));
}

/** How many sentences are verified, are to be compared, and are neither; those that claim nothing do not count. */
export function countsOf(check: AnswerCheck): string {
  const open = check.sentences.filter((one) => one.support === "unverified");
  const near = open.filter((one) => one.near !== null).length;
  const verified = check.sentences.filter((one) => one.support !== "claimless").length - open.length;
  return [`${verified} verified`, ...(near > 0 ? [`${near} to compare`] : []), `${open.length - near} unverified`].join(", ");
}

/** What shows the sentences of a message, where it is a task's last words; of the words of an attempt before, nobody asks it here. */
export function checkOf(task: Task, message: { final: boolean; text: string }): AnswerCheck | null {
  const check = task.answer_check ?? null;
  const whole = check?.sentences.map((one) => one.gap + one.text).join("").trim();
  return message.final && whole === message.text.trim() ? check : null;
}

/** What the records say that a sentence is bound to by what the model cited alone, that it is told like, or that it cites without being shown by them. */
export function quotesOf(of: AnswerSentence): string[] {
  if (of.near !== null) return [of.near];
  const open = of.support === "unverified";
  return open || of.cited ? [...new Set(of.cites.flatMap((one) => (open || one.bears ? one.quote ?? [] : [])))] : [];
}

/** The answer with what shows each sentence behind it. */
export function markedAnswer(check: AnswerCheck, short: (receipt: string) => string): string {
  return check.sentences.map((one) => `${one.gap}${one.plain ?? one.text}${mark(one, short)}`).join("").trim();
}

function mark(of: AnswerSentence, short: (receipt: string) => string): string {
  const quotes = quotesOf(of).map((quote) => `: \u201c${quote}\u201d`).join("");
  switch (of.support) {
    case "receipt": return ` [${of.receipts.map(short).join(", ")}${quotes}]`;
    case "evidence": return ` [seen: ${of.sources.map((source) => source.title).join(", ")}${quotes}]`;
    case "absence": return " [no receipt says otherwise]";
    case "unverified": return of.near !== null ? ` [COMPARE${quotes}]` : quotes === "" ? " [UNVERIFIED]" : ` [UNVERIFIED, compare with${quotes}]`;
    case "claimless": return "";
  }
}
