// A task's conversation as a text that somebody keeps or sends: what was said, what was done, and by which receipt. Pure.
import { checkOf, markedAnswer } from "~/screen/answer";
import { capital, said } from "~/screen/words";
import type { Task } from "~/ipc/generated/task";
import type { Message } from "./message";
import { type Story, shortReceipt } from "./story";

const stamp = (at: number) => new Date(at).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");

function whoOf(message: Message, agent: string): string {
  switch (message.who) {
    case "you": return "You";
    case "agent": return `${agent}, not verified`;
    case "hermit": return "Hermit";
    case "did": return "Done";
    case "asks": return `${agent} asks`;
    case "other": return capital(message.from);
  }
}

/** Markdown. Every line of what was said is quoted, so that no words of a model look like words of Hermit. */
export function transcript(task: Task, { messages }: Story, agent: string, texts: ReadonlyMap<string, string> = new Map()): string {
  const quoted = (text: string) => text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `> ${line}`.trimEnd()).join("\n");
  // A passage that is quoted stands one level deeper: it is nobody's words here.
  const withIt = ({ given }: Message) => given.map(({ id, name, size, isQuote }) => {
    const text = isQuote ? texts.get(id) : undefined;
    const what = `${capital(name.split(/\s+/).join(" "))} (${isQuote ? "" : `file, ${size} bytes, `}${id})`;
    return `\nWith it: ${what}\n${text === undefined ? "" : `\n${quoted(quoted(text))}\n`}`;
  }).join("");
  const told = messages.map((message) => {
    const receipts = message.receipts.length === 0 ? "" : `, ${message.receipts.map(shortReceipt).join(", ")}`;
    const check = checkOf(task, message);
    const who = check === null ? whoOf(message, agent) : agent;
    return `## ${who}, ${stamp(message.at)}${receipts}\n\n${quoted(check === null ? message.text : markedAnswer(check, shortReceipt))}\n${withIt(message)}`;
  });
  const title = said(task.row.title).split(/\s+/).join(" ");
  return [`# ${title}\n`, `Task ${task.row.task_id}, in ${said(task.workspace, "no folder")}\n`, ...told].join("\n");
}

/** A name for the file, of letters and digits of the title. */
export function transcriptName(task: Task): string {
  const words = said(task.row.title).normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return `${words.join("-").slice(0, 60).replace(/-$/, "") || "task"}.md`;
}
