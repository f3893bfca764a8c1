// What a person types when keys are made: the rules first, then the fields, then why it cannot be done yet.
import { useState } from "react";
import type { KeyState, NewKeys } from "~/host/host";
import { TextField } from "~/primitives/Field";
import styles from "./Keys.module.css";

/** Shorter ones are refused by the keychain room too; a host says it by itself where it is asked. */
export const CHARS_MIN = 8;

/** `first`: it has the focus as soon as it is there. */
export function Secret({ label, hint, value, set, error, first = false }: { label: string; hint?: string; value: string; set: (value: string) => void; error?: string | null; first?: boolean }) {
  return <TextField label={label} hint={hint} autoFocus={first} type="password" autoComplete="off" spellCheck={false} value={value} error={error ?? null} onChange={(event) => set(event.target.value)} />;
}

interface Typed { approval: string; again: string; vault: string; vaultAgain: string }
const NOTHING: Typed = { approval: "", again: "", vault: "", vaultAgain: "" };

/** What was typed, and why keys cannot be made of it yet. */
function wanting(typed: Typed, keychain: boolean, isNew: boolean, min: number): string | null {
  if (typed.approval.length < min) return `The approval passphrase needs at least ${min} characters`;
  if (typed.approval !== typed.again) return "Type the approval passphrase the same twice";
  if (keychain) return null;
  if (typed.vault.length < min) return `The vault passphrase needs at least ${min} characters`;
  if (isNew && typed.vault !== typed.vaultAgain) return "Type the vault passphrase the same twice";
  return typed.vault === typed.approval ? "The two passphrases have to be different" : null;
}

/** `first`: the first field has the focus. `vault` is where keys are kept already, `noKeychain` why the system's keychain is no choice here. */
export function useNewKeys({ min, vault, noKeychain, first = false }: { min: number; vault: KeyState["vault"]; noKeychain: string | null; first?: boolean }) {
  const [typed, setTyped] = useState<Typed>(NOTHING);
  const [chosen, setChosen] = useState(true);
  const keychain = vault === null ? noKeychain === null && chosen : vault === "keychain";
  const set = (field: keyof Typed) => (value: string) => setTyped((before) => ({ ...before, [field]: value }));
  const given: NewKeys = { keychain, vault: keychain ? null : typed.vault, approval: typed.approval };
  const differ = (first: string, again: string) => (again !== "" && !first.startsWith(again) ? "They differ" : null);
  const fields = (
    <div className={styles.new}>
      <p>
        {keychain ? "Choose a passphrase" : "Choose two different passphrases"} of {min} characters or more. Hermit stores {keychain ? "it" : "them"} nowhere: a lost one can be replaced, not recovered.
      </p>
      <h4>Approval passphrase: you type it to approve something</h4>
      <div className={styles.pair}>
        <Secret label="Approval passphrase" first={first} value={typed.approval} set={set("approval")} />
        <Secret label="Approval passphrase again" value={typed.again} set={set("again")} error={differ(typed.approval, typed.again)} />
      </div>
      {vault === null && noKeychain === null && (
        <div className={styles.choices} role="radiogroup" aria-label="Where to keep the other keys">
          <button type="button" role="radio" aria-checked={keychain} onClick={() => setChosen(true)}><b>System keychain</b><small>Unlocked when you log in</small></button>
          <button type="button" role="radio" aria-checked={!keychain} onClick={() => setChosen(false)}><b>A file with a passphrase</b><small>Asked for when Hermit starts</small></button>
        </div>
      )}
      {!keychain && (
        <>
          <h4>Vault passphrase: it unlocks the keys that sign receipts and proofs</h4>
          <div className={styles.pair}>
            <Secret label="Vault passphrase" value={typed.vault} set={set("vault")} error={typed.vault !== "" && typed.vault === typed.approval ? "Choose a different one from the approval passphrase" : null} />
            {vault === null && <Secret label="Vault passphrase again" value={typed.vaultAgain} set={set("vaultAgain")} error={differ(typed.vault, typed.vaultAgain)} />}
          </div>
          {noKeychain !== null && <p className={styles.quiet} title={noKeychain}>The keys go into a file, because no system keychain works here.</p>}
        </>
      )}
    </div>
  );
  return { fields, keychain, because: wanting(typed, keychain, vault === null, min), given, clear: () => setTyped(NOTHING) };
}
