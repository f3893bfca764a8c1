// Where words go that name nothing themselves: said before they are sent, and never guessed.
import { useMemo } from "react";
import { useAsk } from "~/ipc/client";
import type { Conversation } from "~/ipc/generated/conversations";
import type { TaskRow } from "~/ipc/generated/task";
import { agentOf, hearsWords } from "~/screen/agent";
import { said } from "~/screen/words";

export type Target =
  /** Input of a task at work. */
  | { kind: "input"; task: TaskRow }
  /** A task that follows one that has ended. */
  | { kind: "follow"; task: TaskRow }
  /** Work of its own. */
  | { kind: "new" }
  /** Hermit binds it by what it names, or asks. */
  | { kind: "ask" };

export const keyOf = (target: Target): string => (target.kind === "input" || target.kind === "follow" ? `${target.kind}:${target.task.task_id}` : target.kind);

const isOpen = (row: TaskRow) => row.ended_at === null;
/** Part of no other, and what words reach. */
const isRoot = (row: TaskRow) => row.parent_task_id === null && hearsWords(row);

/** Everything that words may go to here, the likeliest first. `canFollow`: whether the last task hears words. */
export function targetsOf(conversation: Conversation, tasks: readonly TaskRow[], canFollow: boolean): readonly Target[] {
  const roots = tasks.filter(isRoot);
  const open = roots.filter(isOpen);
  const input = (task: TaskRow): Target => ({ kind: "input", task });
  const focus = tasks.find((task) => task.task_id === conversation.focus_task_id && isOpen(task) && hearsWords(task));
  const last = tasks.find((task) => task.task_id === conversation.last_focus && hearsWords(task)) ?? roots.find((task) => !isOpen(task));
  const rest = open.filter((task) => task !== focus).map(input);
  const begin: Target[] = conversation.folder !== null || last !== undefined || focus !== undefined ? [{ kind: "new" }] : [];
  const follow: Target[] = last !== undefined && !isOpen(last) && canFollow ? [{ kind: "follow", task: last }] : [];
  const ask: Target = { kind: "ask" };
  if (focus !== undefined) return [input(focus), ...rest, ...begin, ...follow, ask];
  if (open.length === 1) return [...rest, ...begin, ...follow, ask];
  if (open.length > 1) return [ask, ...rest, ...begin, ...follow];
  return [...follow, ...begin, ask];
}

/** A target as a person reads it. */
export function nameOf(target: Target): string {
  switch (target.kind) {
    case "input":
      return `For: ${said(target.task.title)}`;
    case "follow":
      return `Goes on from: ${said(target.task.title)}`;
    case "new":
      return "A new task";
    case "ask":
      return "Hermit finds out, or asks you";
    default:
      return target satisfies never;
  }
}

/** Tasks of a conversation that a person may write to, the newest. */
const TASKS = 100;

export interface Tasks {
  /** None while they are not known. */
  rows: readonly TaskRow[] | null;
  /** Whether the one that the conversation turned to last is known too, without which nobody can tell whom words are for. */
  isWhole: boolean;
  /** Whether the last one hears words. */
  canFollow: boolean;
  error: { code?: string; message: string; hint?: string } | null;
  again: () => void;
}

const NONE: readonly TaskRow[] = [];

/** The newest tasks of a conversation, and the one that it turned to last by its identifier, wherever it stands. */
export function useTasks(conversation: Conversation): Tasks {
  const list = useAsk("task.list", { conversation: conversation.conversation_id, limit: TASKS });
  const rows = list.data?.rows ?? NONE;
  const focus = conversation.focus_task_id;
  const named = focus ?? conversation.last_focus;
  // Of the last one it is asked by whom it was done, too.
  const isAsked = named !== null && (focus === null || (list.data !== undefined && !rows.some((row) => row.task_id === focus)));
  const one = useAsk("task.show", { task: named ?? "" }, { enabled: isAsked });
  const found = isAsked ? one.data : undefined;
  const all = useMemo(() => (found === undefined || rows.some((row) => row.task_id === found.row.task_id) ? rows : [...rows, found.row]), [rows, found]);
  return {
    rows: list.data === undefined ? null : all,
    isWhole: list.data !== undefined && (!isAsked || found !== undefined),
    canFollow: focus !== null || found === undefined || agentOf(found) === "Model",
    error: list.error ?? (isAsked ? one.error : null),
    again: () => {
      if (list.error !== null) void list.refetch();
      if (one.error !== null) void one.refetch();
    },
  };
}
