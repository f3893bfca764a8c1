// What each copy of a trial may use up, told before the trial begins and while it runs.
import type { TrialBudget } from "~/ipc/generated/successor";
import { bytes } from "~/primitives/Diff";
import { many } from "~/primitives/number";
import { count } from "~/screen/words";

const seconds = (ms: number) => (ms >= 120_000 ? `${many(Math.round(ms / 60_000))} minutes` : `${many(Math.round(ms / 1_000))} seconds`);

export function MayUse({ of }: { of: TrialBudget }) {
  return <p>Each copy may use {seconds(of.wall_ms)}, {seconds(of.cpu_ms)} of processors, {bytes(of.memory_bytes)} of memory, {bytes(of.disk_bytes)} of disk{of.processes !== null && <>, {count(of.processes, "process", "processes")}</>} and {count(of.tokens, "token")}. Hermit ends a copy that wants more.</p>;
}
