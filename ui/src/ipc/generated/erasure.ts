// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";

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

/** An artifact whose content goes. */
export interface Content {
  artifact_id: string;
  sha256: string;
  task_id: string;
  kind: string;
  byte_size: number;
}
