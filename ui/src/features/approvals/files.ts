import type { FileChange, Side } from "~/ipc/generated/changes";
import type { ChangeKind } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import type { DiffFile, DiffSide } from "~/primitives/Diff";

function side(of: Side | null): DiffSide | null {
  return of === null ? null : { text: of.text, missing: of.missing, sha256: of.sha256, byteSize: of.byte_size };
}

/** A link is read as a file with the place that it leads to. */
const OP: Record<ChangeKind, DiffFile["op"]> = { delete: "delete", write: "write", move: "move", folder: "folder", link: "write" };

/** A path as written, so that plain names read plainly and odd ones keep their escapes. */
export function readable(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function diffFile(file: FileChange): DiffFile {
  return {
    op: lookUp(OP, file.op, "write"),
    path: readable(file.path),
    to: file.to === null ? null : readable(file.to),
    before: side(file.before),
    after: side(file.after),
    outcome: file.outcome,
    note: file.note ?? null,
    edits: file.edits ?? [],
  };
}
