// The closing answer of a model with what shows each sentence, in words. Pure.
import type { AnswerCheck, AnswerSentence } from "~/ipc/generated/answer";
import type { Task } from "~/ipc/generated/task";

/** Whether nothing on record shows any of it. */
export function isBare(check: AnswerCheck): boolean {
  return !check.sentences.some((one) => one.support === "receipt" || one.support === "evidence" || one.support === "absence");
}

/** What shows the sentences of a message, where it is a task's last words; of the words of an attempt before, nobody asks it here. */
export function checkOf(task: Task, message: { final: boolean; text: string }): AnswerCheck | null {
  const check = task.answer_check ?? null;
  const whole = check?.sentences.map((one) => one.gap + one.text).join("").trim();
  return message.final && whole === message.text.trim() ? check : null;
}

/** What the records say that a sentence is bound to by what the model cited alone, or that it cites without being shown by them. */
export function quotesOf(of: AnswerSentence): string[] {
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
    case "unverified": return quotes === "" ? " [UNVERIFIED]" : ` [UNVERIFIED, compare with${quotes}]`;
    case "claimless": return "";
  }
}
