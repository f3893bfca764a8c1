// How far a step and an act are.
import { STEP_STATUS, type StepStatus } from "~/ipc/generated/words";
import { oneOf } from "~/ipc/words";
import type { MarkName } from "~/primitives/Icon";
import type { Tone } from "~/primitives/Tag";

const STEP: Readonly<Record<StepStatus, [Tone, MarkName]>> = {
  planned: ["mute", "idle"], ready: ["mute", "idle"], running: ["running", "running"], blocked: ["waiting", "waiting"],
  succeeded: ["done", "done"], failed: ["failed", "failed"], cancelled: ["mute", "deny"], superseded: ["mute", "idle"],
};

/**
 * How a step looks that stands so now; null for a status that is not known. `nothingDone`: all that it proposed was refused;
 * `byNo`: a person's no ended it, which is a decision and no fault.
 */
export function stepLook(status: unknown, { nothingDone, byNo }: { nothingDone: boolean; byNo: boolean }): [Tone, MarkName] | null {
  const to = oneOf(STEP_STATUS, status);
  if (to === "failed" && byNo) return ["mute", "deny"];
  if (to === "succeeded" && nothingDone) return ["failed", "deny"];
  return to === null ? null : STEP[to];
}

/** How long an act has been under way, as a person says it. */
export function running(elapsed: unknown): string {
  const seconds = typeof elapsed === "number" ? Math.floor(elapsed / 1000) : 0;
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}
