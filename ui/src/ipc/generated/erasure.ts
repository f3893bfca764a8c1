// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";
import type { ArtifactKind } from "./words";

/** Exactly one of the three. */
export interface Plan {
  /** The digest of one value, as `$sd` or `erased` shows it. */
  value?: string | null;
  /** All values of an artifact, and its content. */
  artifact?: string | null;
  /** Everything that was said in a task, and content that repeats it. */
  task?: string | null;
}

/** What would be erased. */
export interface Planned {
  values: Value[];
  contents: Content[];
  /** Bytes that only a request of these leads to, such as what was to be written. */
  written: Written[];
  /** Content that stays, because another task has the same bytes; here it is only let go. */
  kept: Held[];
  tasks: string[];
  /** Words to read before it is done. */
  warnings: string[];
}

/** One value. */
export interface Value {
  digest: string;
  task_id: string;
  /** The event's type, and where in it the value stands. */
  event_type: string;
  pointer: string;
  text: Text;
}

/** Bytes that are no artifact of their own. */
export interface Written {
  sha256: string;
  byte_size: number;
}

/** Content, and a task that has it as well. */
export interface Held {
  sha256: string;
  task_id: string;
}

/** An artifact whose content goes. */
export interface Content {
  artifact_id: string;
  sha256: string;
  task_id: string;
  kind: ArtifactKind;
  byte_size: number;
}
