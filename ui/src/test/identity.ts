// An instance with two versions of SOUL.md and a chain, and its anchors, for tests of screens.
import type { Anchor, AtClock, ClockSettings } from "~/ipc/generated/anchors";
import type { Identity, TrustLink } from "~/ipc/generated/identity";

const AT = Date.UTC(2026, 10, 22, 2, 0);
export const KEYS = ["a1", "b2", "c3"].map((part) => part.repeat(32)) as [string, string, string];
export const SOUL = "# Ada\n\nYou look after the letters of the harbour office.\n";
const SOUL_BEFORE = "# Ada\n\nYou look after letters.\n";

export function trustLink(number: number, more: Partial<TrustLink> = {}): TrustLink {
  return {
    number, link_sha256: number.toString(16).padStart(64, "0"), kind: "attestation", previous: number === 1 ? null : (number - 1).toString(16).padStart(64, "0"), version: number,
    soul_sha256: "50".repeat(32), signed_by: [KEYS[0]], reason: null, revoked: null, made_at: AT - 1_000_000 + number * 1000, log_size: 40 + number, published: [], ...more,
  };
}

export const IDENTITY: Identity = {
  instance_id: "str_1", version: 2, shown: 2, soul: SOUL, soul_sha256: "50".repeat(32), written_at: AT - 600_000,
  versions: [
    { version: 2, soul_sha256: "50".repeat(32), written_at: AT - 600_000, task_id: "task_01a2000000007000800000000000000b", attested: true },
    { version: 1, soul_sha256: "51".repeat(32), written_at: AT - 900_000, task_id: null, attested: true },
  ],
  instance_pubkey: KEYS[0], npub: "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg", address: null, attested: true, asked: null,
  graph: { instance_id: "str_1", unbroken: true, key_in_force: KEYS[0], log_key: "d7".repeat(32), links: [trustLink(1), trustLink(2)], findings: [] },
};

/** The same as the host tells another version of it. */
export function identityThen(version: number | null | undefined): Identity {
  return version === 1 ? { ...IDENTITY, shown: 1, soul: SOUL_BEFORE, soul_sha256: "51".repeat(32), written_at: AT - 900_000 } : IDENTITY;
}

export function atClock(more: Partial<AtClock> = {}): AtClock {
  return { clock: "opentimestamps", state: "pending", since: AT - 300_000, at: ["calendar.example:443"], says: "a block of Bitcoin is to hold it; that takes hours", not_after: null, block_height: null, block_hash: null, depth: null, task_id: "task_01a2000000007000800000000000000b", proof_sha256: "9a".repeat(32), ...more };
}

export function anchor(number: number, more: Partial<Anchor> = {}): Anchor {
  return { number, digest: number.toString(16).padStart(64, "a"), of: "head", size: 1234, requested_at: AT - 900_000, clocks: [atClock()], not_after: null, ...more };
}

export const PROVEN = anchor(1, {
  not_after: AT - 60_000,
  clocks: [atClock({ state: "anchored", since: null, says: null, not_after: AT - 60_000, block_height: 840_000, block_hash: "0".repeat(19) + "3".repeat(45), depth: 6 })],
});

export const NO_CLOCKS: ClockSettings = { authorities: [], calendars: [], bitcoin_node: null, has_bitcoin_cookie: false, has_bitcoin_secret: false, has_headers_file: false, depth: 6, every_hours: 0 };
export const SOME_CLOCKS: ClockSettings = { ...NO_CLOCKS, authorities: ["https://tsa.example/tsr"], calendars: ["https://calendar.example"] };
