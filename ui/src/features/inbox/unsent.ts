// What was typed as an answer to a question and not sent: kept by this browser with the question, so that it is still there when the
// question was answered elsewhere.
import { useMemo } from "react";
import type { Question } from "~/ipc/generated/task";
import { useDraftOf } from "~/screen/drafts";

/** By which a browser keeps the questions that have such words, and, for each, the words. */
const QUESTIONS = "inbox.questions";
const ANSWER = "inbox.answer.";

interface Answer { text: string; isSpoken: boolean }
const NOTHING: Answer = { text: "", isSpoken: false };

function parsed(raw: string): unknown {
  try {
    return raw === "" ? null : (JSON.parse(raw) as unknown);
  } catch {
    return null;
  }
}

function answerIn(raw: string): Answer {
  const found = parsed(raw) as Partial<Answer> | null;
  return typeof found?.text === "string" ? { text: found.text, isSpoken: found.isSpoken === true } : NOTHING;
}

function isQuestion(found: Partial<Question> | null): found is Question {
  return [found?.question_id, found?.task_id].every((one) => typeof one === "string") && [found?.requested_at, found?.expires_at].every((one) => typeof one === "number")
    && Array.isArray(found?.choices) && (typeof found.question === "string" || (typeof found.question === "object" && found.question !== null));
}

function questionsIn(raw: string): Question[] {
  const found = parsed(raw);
  return Array.isArray(found) ? (found as (Partial<Question> | null)[]).filter(isQuestion) : [];
}

/** Questions of which words are kept that were not sent. */
export function useUnsent(): readonly Question[] {
  const [raw] = useDraftOf(QUESTIONS);
  return useMemo(() => questionsIn(raw), [raw]);
}

/** The answer to a question, as it is typed or spoken; with the last of its words the mark that some were spoken is gone. */
export function useAnswerTo(question: Question) {
  const [raw, keep] = useDraftOf(ANSWER + question.question_id);
  const [index, keepIndex] = useDraftOf(QUESTIONS);
  const now = answerIn(raw);
  const write = (next: Answer) => {
    const isNothing = next.text === "";
    keep(isNothing ? "" : JSON.stringify(next));
    const all = questionsIn(index);
    const others = all.filter((one) => one.question_id !== question.question_id);
    // The list changes with the first and the last word alone, so that a page with many things is not drawn at each key.
    if (isNothing === (others.length < all.length)) keepIndex(isNothing && others.length === 0 ? "" : JSON.stringify(isNothing ? others : [...others, question]));
  };
  return {
    ...now,
    typed: (text: string) => write({ text, isSpoken: now.isSpoken && text.trim() !== "" }),
    spoken: (text: string) => write({ text, isSpoken: true }),
    /** Nothing of it is kept any more. */
    forget: () => write(NOTHING),
    /** What a command is told of it. */
    mark: now.isSpoken ? { spoken: true } : {},
  };
}
