// A memory that is in force and that no task is told of, as it is marked in a list.
import type { Memory } from "~/ipc/generated/knowledge";
import { StateTag } from "~/primitives/Tag";

/** Says beside a claim that no task is told of it; nothing of one that tasks are told of. */
export function NotTold({ memory }: { memory: Memory }) {
  return memory.withheld ? <> <StateTag tone="failed">not told to any task</StateTag></> : null;
}
