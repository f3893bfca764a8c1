// What only the approval window may ask. Any other window is refused, by the access list and by the program itself.
import type { Decided } from "~/ipc/generated/approvals";
import type { Judged, OverrideAllowed } from "~/ipc/generated/policy";
import type { Lasting, Offer, Scope } from "./host";
import { ask } from "./tauri";

export type Subject = { kind: "approval"; id: string } | { kind: "override"; act: string } | { kind: "keys" } | { kind: "unlock" } | { kind: "provider" };

export interface Armed { arm_ms: number; hold_ms: number; needs_passphrase: boolean; has_key: boolean }

/** An override as it would be signed. */
export interface PreparedOverride { words: string; denied: Judged; armed: Armed }

/** Whether a security key may say yes here, and which are plugged in. */
export interface SecurityKeys { is_enrolled: boolean; plugged_in: { name: string; place: string }[] }

export interface Desk {
  subject(): Promise<Subject>;
  /** These bytes are on the screen now; what it takes to say yes to them. */
  shown(approval: string, packetSha256: string, lasting: boolean): Promise<Armed>;
  press(down: boolean): Promise<void>;
  grant(approval: string, packetSha256: string, passphrase: string | null, standing: Lasting | null): Promise<Decided>;
  securityKeys(): Promise<SecurityKeys>;
  /** A yes that the security key at this place signs, once its PIN was told and it was touched. */
  grantByKey(approval: string, packetSha256: string, pin: string, place: string): Promise<Decided>;
  /** Whether the key that is asked wants to be touched now. */
  keyWantsTouch(): Promise<boolean>;
  /** The person does not touch it after all. */
  leaveKey(): Promise<void>;
  /** What of the like could be allowed from now on, the narrowest first. */
  offers(approval: string, scope: Scope | null, days: number | null, uses: number | null): Promise<Offer[]>;
  prepareOverride(act: string, reason: string, hours: number, uses: number): Promise<PreparedOverride>;
  allowOverride(act: string, words: string, passphrase: string): Promise<OverrideAllowed>;
  makeKeys(keychain: boolean, vaultPassphrase: string | null, approvalPassphrase: string): Promise<void>;
  unlock(passphrase: string): Promise<boolean>;
  /** Keeps the key for a server of models. */
  keepKey(url: string, secret: string, value: string): Promise<void>;
  leave(): Promise<void>;
}

export const desk: Desk = {
  subject: () => ask("subject"),
  shown: (approval, packetSha256, lasting) => ask("shown", { approval, packetSha256, lasting }),
  press: (down) => ask("press", { down }),
  grant: (approval, packetSha256, passphrase, standing) => ask("grant", { approval, packetSha256, passphrase, standing }),
  securityKeys: () => ask("security_keys"),
  grantByKey: (approval, packetSha256, pin, place) => ask("grant_by_key", { approval, packetSha256, pin, place }),
  keyWantsTouch: () => ask("key_wants_touch"),
  leaveKey: () => ask("leave_key"),
  offers: (approval, scope, days, uses) => ask("offers", { approval, scope, days, uses }),
  prepareOverride: (act, reason, hours, uses) => ask("prepare_override", { act, reason, hours, uses }),
  allowOverride: (act, words, passphrase) => ask("allow_override", { act, words, passphrase }),
  makeKeys: (keychain, vaultPassphrase, approvalPassphrase) => ask("make_keys", { keychain, vaultPassphrase, approvalPassphrase }),
  unlock: (passphrase) => ask("unlock", { passphrase }),
  keepKey: (url, secret, value) => ask("keep_key", { url, secret, value }),
  leave: () => ask("leave"),
};
