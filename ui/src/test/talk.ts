// A conversation for tests of screens.
import type { Conversation, Line } from "~/ipc/generated/conversations";
import { AT, TALK } from "./scene";

export function conversation(more: Partial<Conversation> = {}): Conversation {
  return { ...TALK, waiting: 0, ...more };
}

export function line(seq: number, more: Partial<Line>): Line {
  return {
    seq, kind: "message", role: more.kind === undefined || more.kind === "message" ? "user" : "system", at: AT + seq * 1000, text: null, ref_id: `ing_${seq}`, task: null, heard: null, question: null, choices: [],
    approval: null, result: null, said_by: null, termination: null, ended: null, ...more,
  };
}

/** Answers of a host that has this one conversation. */
export function threadAnswers(one: Conversation, lines: Line[]) {
  return { "conversations.list": { rows: [one] }, "conversations.show": one, "conversations.lines": { rows: lines } };
}
