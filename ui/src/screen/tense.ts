// The title of an act as what was done; `acts::done` says the same in the terminal.
const DONE: Readonly<Record<string, string>> = {
  read: "Read", list: "Listed", "look at": "Looked at", search: "Searched", hash: "Hashed", create: "Created", overwrite: "Overwrote", replace: "Replaced", edit: "Edited",
  delete: "Deleted", remove: "Removed", move: "Moved", run: "Ran", fetch: "Fetched", send: "Sent", make: "Made", commit: "Committed", remember: "Remembered",
  undo: "Undid", change: "Changed", restore: "Restored",
};
/** `delete 1 file, move 3 files` as `Deleted 1 file, moved 3 files`. */
export function done(title: string): string {
  return title.replace(new RegExp(`(^|[,:] )(${Object.keys(DONE).join("|")}) `, "g"), (_, before: string, verb: string) => `${before}${before === "" ? DONE[verb] : DONE[verb]?.toLowerCase()} `);
}
