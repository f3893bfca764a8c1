// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

/** Verbs that titles of acts begin with, and the same as what was done. */
export const VERBS: Readonly<Record<string, string>> = {
  "read": "Read",
  "list": "Listed",
  "look at": "Looked at",
  "search": "Searched",
  "hash": "Hashed",
  "create": "Created",
  "overwrite": "Overwrote",
  "replace": "Replaced",
  "edit": "Edited",
  "delete": "Deleted",
  "remove": "Removed",
  "move": "Moved",
  "run": "Ran",
  "fetch": "Fetched",
  "send": "Sent",
  "make": "Made",
  "commit": "Committed",
  "remember": "Remembered",
  "undo": "Undid",
  "change": "Changed",
  "restore": "Restored",
  "call": "Called",
  "register": "Registered",
  "classify": "Classified",
};
