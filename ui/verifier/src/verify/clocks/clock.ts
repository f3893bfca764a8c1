/** The clocks that an anchor may have asked, each with the name of its proof's file. */
import { checkOpReturn } from "./op_return.ts";
import { checkOts } from "./ots.ts";
import { checkTimeStamp } from "./rfc3161.ts";
import type { Clocks, Stamp } from "./stamp.ts";

/** In the order in which they are told. */
export const CLOCKS = ["rfc3161", "opentimestamps", "op_return"] as const;
export type Clock = (typeof CLOCKS)[number];

/** How the file of a clock's proof ends. */
export const ENDINGS: Readonly<Record<Clock, string>> = { rfc3161: "tsr", opentimestamps: "ots", op_return: "json" };

/** Checks the proof of a clock against the digest it was given; what is wrong is malformed. */
export function checkClock(clock: Clock, proof: Uint8Array, digest: Uint8Array, clocks: Clocks): Stamp {
  switch (clock) {
    case "rfc3161":
      return checkTimeStamp(proof, digest, clocks);
    case "opentimestamps":
      return checkOts(proof, digest, clocks);
    case "op_return":
      return checkOpReturn(proof, digest, clocks);
  }
}
