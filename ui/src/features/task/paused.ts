// Why a task is paused, has ended or goes on, in words.
import { BY_A_NO, plain } from "~/screen/words";

/** The reason of a task that the ceiling of a day paused. */
export const DAY_CEILING = "day_ceiling";

/** Reasons that the log names by one word of its own. */
const REASON: Readonly<Record<string, string>> = {
  [DAY_CEILING]: "what models may cost that day was spent or set aside; it goes on by itself when the day has ended",
  model_unavailable: "the model did not answer",
  [BY_A_NO]: "denied by you",
  goal_too_long: "the goal does not fit what the model takes",
};

/** The reason by which a task that the ceiling of a day paused goes on. */
export const NEW_DAY = "a new day began";

export function reasonOf(reason: string): string {
  return REASON[reason] ?? (/^[a-z_]+$/.test(reason) ? plain(reason) : reason);
}
