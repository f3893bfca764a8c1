// Commands behind a slash, as far as a person has typed one. The host says which there are.
import type { SlashRow } from "~/ipc/generated/conversations";

/** Those that a text may still become; none once words stand behind it, or where it begins with two slashes. */
export function meant(text: string, commands: readonly SlashRow[]): readonly SlashRow[] {
  const typed = /^\/([a-z]*)$/i.exec(text)?.[1]?.toLowerCase();
  return typed === undefined ? [] : commands.filter((one) => one.name.startsWith(typed));
}

/** What is typed once one was chosen. */
export function chosen(command: SlashRow): string {
  return command.takes === "" ? `/${command.name}` : `/${command.name} `;
}

/** Whether a text is a command and not words. */
export function isCommand(text: string): boolean {
  return /^\/[a-z_-]+(\s|$)/i.test(text.trim());
}
