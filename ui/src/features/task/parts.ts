// Parts of a task that its agent gave away, each a task of its own; and what it has found and read beside its folder.
import { cost, count } from "~/screen/words";
import { TASK_STATUS, type TaskStatus } from "~/ipc/generated/words";
import { oneOf } from "~/ipc/words";
import { list, number, record, word } from "./events";

export interface Part {
  title: string;
  /** Its task; empty until it is made. */
  task: string;
  /** How it ended; null while it has not. */
  ended: TaskStatus | null;
}

/** The parts of `task.delegated`. */
export function given(body: Record<string, unknown>): Part[] {
  const title = (part: Record<string, unknown>) => word(part["title"]) || word(part["goal"]).slice(0, 120);
  return list(body["parts"]).map((part) => ({ title: title(record(part)), task: "", ended: null }));
}

/** Takes in `task.children_started`: the tasks, in the order of the parts. */
export function started(parts: readonly Part[], body: Record<string, unknown>): Part[] {
  const made = list(body["children"]).map((child) => word(child));
  return parts.map((part) => (part.task === "" ? { ...part, task: made.shift() ?? "" } : part));
}

/** Takes in `task.child_ended`; answers with the part that ended as well. */
export function ended(parts: readonly Part[], body: Record<string, unknown>): [Part[], Part | undefined] {
  const [task, status] = [word(body["child_task_id"]), oneOf(TASK_STATUS, body["status"])];
  const after = parts.map((part) => (part.task === task ? { ...part, ended: status } : part));
  return [after, after.find((part) => part.task === task)];
}

/** What is waited for, in words; empty where nothing is. */
export function waiting(parts: readonly Part[]): string {
  const open = parts.filter((part) => part.task !== "" && part.ended === null).length;
  return open === 0 ? "" : `Waiting for ${count(open, "part")}`;
}

/** `attempt.tools_found` in words. */
function lookedFor(body: Record<string, unknown>): string {
  return `Looked for tools, “${word(body["query"])}”: ${list(body["tools"]).map((tool) => word(tool)).join(", ")}`;
}

/** `attempt.skill_loaded` in words. */
function readOf(body: Record<string, unknown>): string {
  const [skill, file] = [word(body["name"]), word(body["file"])];
  return file === "" ? `Read the skill ${skill}` : `Read ${file} of the skill ${skill}`;
}

/** `task.criteria_checked` in words: how many hold, and each that does not. */
function ofCriteria(checked: Record<string, unknown>[]): string {
  const unmet = checked.filter((one) => one["outcome"] === "unmet").map((one) => `${word(one["criterion"])}: ${word(one["found"])}`);
  const met = checked.filter((one) => one["outcome"] === "met").length;
  return `${met} of ${count(checked.length, "criterion", "criteria")} for the end met${unmet.length === 0 ? "" : `. Not met: ${unmet.join("; ")}`}`;
}

/** `task.limit_raised` in words. */
export function raised(body: Record<string, unknown>): string {
  const limit = word(body["limit"]);
  const told = (value: unknown) => (limit === "cost" ? cost(number(value)) : limit === "time" ? `${Math.floor(number(value) / 60_000)} minutes` : count(number(value), limit === "tokens" ? "token" : "turn"));
  return `You raised the limit of ${limit} from ${told(body["was"])} to ${told(body["allowed"])}`;
}

/** What a model has found, has read, or asks for beside what was done, in words. */
export function foundOf(name: string, body: Record<string, unknown>): string {
  if (name === "task.criteria_checked") return ofCriteria(list(body["checked"]).map(record));
  if (name === "attempt.answer_continued") return `Continues with ${count(number(body["left"]), "more request")} of the same answer`;
  if (name === "attempt.model_fell_back") {
    const where = body["remote"] === true ? ", on another machine," : "";
    return `${word(body["from_model"])} did not answer; ${word(body["to_model"])}${where} is asked from now on`;
  }
  return name === "attempt.tools_found" ? lookedFor(body) : readOf(body);
}
