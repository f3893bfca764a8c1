// The title of an act as what was done; `acts::done` says the same in the terminal.
import { VERBS } from "~/ipc/generated/verbs";

/** `delete 1 file, move 3 files` as `Deleted 1 file, moved 3 files`. */
export function done(title: string): string {
  const verbs = new RegExp(`(^|[,:] )(${Object.keys(VERBS).join("|")}) `, "g");
  return title.replace(verbs, (_, before: string, verb: string) => `${before}${before === "" ? VERBS[verb] : VERBS[verb]?.toLowerCase()} `);
}

/** What came of an act, as one line: what was done whole is told as done, all else by how it ended. */
export function cameOf(came: { tone: string; word: string }, title: string, asChosen = false): string {
  // The word says already that the part was chosen.
  if (asChosen) return `${came.word}: ${done(title.replace(/^a part that you chose: /, ""))}`;
  const told = done(title);
  return came.tone === "done" ? told.charAt(0).toUpperCase() + told.slice(1) : `${came.word}: ${title}`;
}
