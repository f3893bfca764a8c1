// The title of an act as what was done; `acts::done` says the same in the terminal.
import { VERBS } from "~/ipc/generated/verbs";

/** `delete 1 file, move 3 files` as `Deleted 1 file, moved 3 files`. */
export function done(title: string): string {
  const verbs = new RegExp(`(^|[,:] )(${Object.keys(VERBS).join("|")}) `, "g");
  return title.replace(verbs, (_, before: string, verb: string) => `${before}${before === "" ? VERBS[verb] : VERBS[verb]?.toLowerCase()} `);
}
