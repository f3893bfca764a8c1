/** What a clock elsewhere says of a digest, and what the reader gave to check it with. */
import type { Headers } from "./bitcoin.ts";
import type { Certificate } from "./x509.ts";

/** What the reader has from elsewhere: certificates of authorities, and headers of Bitcoin blocks. */
export interface Clocks {
  authorities: readonly Certificate[];
  headers?: Headers;
}

export const NO_CLOCKS: Clocks = { authorities: [] };

/** A proof that is right as far as it goes. One that is wrong is malformed. */
export interface Stamp {
  /** The latest time at which the digest was there, and the block that says so; nothing where that is not proven. */
  proven?: { notAfter: number; height?: number };
  /** Whether the clock has still to complete it. */
  isPending: boolean;
  says: string[];
  /** What one has to believe beside. */
  onTrust: string[];
}

/** Milliseconds since 1970 as UTC, to the second that had begun. */
export function atTime(ms: number): string {
  const date = new Date(Math.floor(ms / 1000) * 1000);
  if (Number.isNaN(date.getTime())) return `${ms} ms after 1970`;
  return date.toISOString().replace("T", " ").replace(".000Z", " UTC");
}

/** The same rounded up, since it says before when something existed. */
export function beforeTime(ms: number): string {
  return atTime(Math.ceil(ms / 1000) * 1000);
}
