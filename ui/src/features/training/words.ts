// How training is told: reasons to leave work out, states of a run, and numbers as people read them.
import type { LeftOutReason, TrainingState } from "~/ipc/generated/words";

const REASONS: Readonly<Record<LeftOutReason, string>> = {
  unfinished: "Its task did not complete",
  undone: "You undid what came of it",
  denied: "You or policy said no",
  failed: "It did not come about",
  unreceipted: "No receipt says what came of it",
  tainted: "It read something from elsewhere that nobody confirms",
  secret: "It shows a secret, or had one taken out",
  private: "Its folder is marked private",
  recalled: "It was recalled",
  unkept: "Its words are not kept any more",
  unreadable: "It is not text alone",
  unfit: "It is longer than an example may be",
  duplicate: "An earlier one is the same",
  near_duplicate: "An earlier one is nearly the same",
  late: "It is as late as what is held out",
};

const STATES: Readonly<Record<TrainingState, string>> = {
  loading: "Reads the model",
  learning: "Learns",
  paused: "Paused by you",
  waiting: "Waits for mains power, or until you leave this machine",
  proving: "Is being measured",
  exporting: "Writes the model",
  stopped: "Stopped",
  done: "Done",
  failed: "Broke off",
};

export const reason = (why: LeftOutReason): string => REASONS[why];
export const stateName = (state: TrainingState): string => STATES[state];

/** Whether a run is at work, or waits to be. */
export const isAtWork = (state: TrainingState): boolean => !["stopped", "done", "failed"].includes(state);

/** A loss with three digits. */
export const loss = (micros: number): string => (micros / 1_000_000).toFixed(3);

/** A share, given as so many of a thousand. */
export const perCent = (perMille: number): string => `${(perMille / 10).toFixed(1)} %`;
