// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { AnswerSupport } from "./words";

/** What bears a closing answer, sentence by sentence. The binding is made without a model, when the answer is given; where the model cites, it proposes, and the record is asked. */
export interface AnswerCheck {
  /** The name of the method, with its version. */
  method: string;
  sentences: AnswerSentence[];
}

/** A sentence of an answer. */
export interface AnswerSentence {
  /** What stands between it and the sentence before: white space. */
  gap: string;
  text: string;
  /** The text without the marks by which the model cites; absent where it has none. */
  plain: string | null;
  support: AnswerSupport;
  /** Receipts of the acts that it claims. */
  receipts: string[];
  /** Where its words stand. */
  sources: AnswerSource[];
  /** Why nothing bears it. */
  because: string | null;
  /** Words of the record to compare it with, where the sentence is told like them and not every word of it is on record. It is unverified none the less. */
  near: string | null;
  /** Whether it is bound to what the model cited alone. */
  cited: boolean;
  /** What the model cited in it. */
  cites: AnswerCite[];
}

/** A citation in a sentence of an answer. */
export interface AnswerCite {
  /** The number that the model gave. */
  number: number;
  /** Whether what it names bears the sentence. */
  bears: boolean;
  /** What it names, where that was looked at. */
  source: AnswerSource | null;
  /** Receipts of the acts that it names. */
  receipts: string[];
  /** The record's own words: those that bear the sentence, or those to compare it with. */
  quote: string | null;
}

/** Something that was seen, in which the words of a sentence stand. */
export interface AnswerSource {
  artifact_id: string;
  /** A path, a search, a command. */
  title: string;
}
