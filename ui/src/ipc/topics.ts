// Which answers a notice makes stale.
import { COMMANDS, type CommandName } from "./generated/commands";
import type { Topic } from "./generated/shared";

/** Whether an answer of `command` may be different after something of `topics` happened. */
export function isStale(command: unknown, topics: ReadonlySet<Topic>): boolean {
  if (typeof command !== "string" || !(command in COMMANDS)) return false;
  return COMMANDS[command as CommandName].topics.some((topic) => topics.has(topic));
}
