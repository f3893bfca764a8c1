// What only the approval window may ask. Any other window is refused, by the access list and by the program itself.
import type { Decided } from "~/ipc/generated/approvals";
import { ask } from "./tauri";

export type Subject = { kind: "approval"; id: string } | { kind: "keys" } | { kind: "unlock" };

export interface Armed { arm_ms: number; hold_ms: number; needs_passphrase: boolean; has_key: boolean }

export interface Desk {
  subject(): Promise<Subject>;
  /** These bytes are on the screen now; what it takes to say yes to them. */
  shown(approval: string, packetSha256: string): Promise<Armed>;
  press(down: boolean): Promise<void>;
  grant(approval: string, packetSha256: string, passphrase: string | null): Promise<Decided>;
  makeKeys(keychain: boolean, vaultPassphrase: string | null, approvalPassphrase: string): Promise<void>;
  unlock(passphrase: string): Promise<boolean>;
  leave(): Promise<void>;
}

export const desk: Desk = {
  subject: () => ask("subject"),
  shown: (approval, packetSha256) => ask("shown", { approval, packetSha256 }),
  press: (down) => ask("press", { down }),
  grant: (approval, packetSha256, passphrase) => ask("grant", { approval, packetSha256, passphrase }),
  makeKeys: (keychain, vaultPassphrase, approvalPassphrase) => ask("make_keys", { keychain, vaultPassphrase, approvalPassphrase }),
  unlock: (passphrase) => ask("unlock", { passphrase }),
  leave: () => ask("leave"),
};
