// A person's no in a story: told once where it was said, and once more as the end of the task that it ended.
import type { TerminationReason } from "~/ipc/generated/words";
import { BY_A_NO } from "~/screen/words";
import { word } from "./events";

/** How a turn's error begins that says no more than that a person said no. */
const TURN_DENIED = "denied by a person";

export class Denials {
  #acts = new Set<string>();
  /** A no was told, and its turn has not ended. */
  #isOpen = false;
  #hasEnded = false;

  /** Whether the attempt at hand ended by a no. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** A person said no to an act, where it is known which. Returns their words; empty where they gave none. */
  said(action: string | undefined, feedback: unknown): string {
    this.#isOpen = true;
    if (action !== undefined) this.#acts.add(action);
    return word(feedback);
  }

  /** Whether a person's no to this act was told. */
  isOf(action: string): boolean {
    return this.#acts.has(action);
  }

  /** A turn ended with this error. Returns whether it only repeats the no that was told. */
  repeats(error: string): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    return wasOpen && (error === TURN_DENIED || error.startsWith(`${TURN_DENIED}: `));
  }

  /** An attempt ended for this reason; null while a new one begins. */
  ended(reason: TerminationReason | null): boolean {
    this.#hasEnded = reason === BY_A_NO;
    return this.#hasEnded;
  }
}
