// Which machines may run a schedule that the mesh holds, and which one does, in a sentence.
import type { ScheduleHolder } from "~/ipc/generated/schedules";

export function heldBy(of: ScheduleHolder): string {
  const who = of.holder === null ? "No machine runs it yet" : of.is_here ? "This machine runs it" : `${of.holder} runs it`;
  const rank = of.rank === null ? "" : `, ${of.rank} of ${of.nodes.length}`;
  const unready = of.unready.length === 0 ? "" : ` Cannot run it now: ${of.unready.join(", ")}.`;
  return `${who}${rank} (${of.nodes.join(", ")}).${unready}`;
}
