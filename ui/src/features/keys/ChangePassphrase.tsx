// A new passphrase in the place of the vault's, or of the one that says yes: the old one once, the new one twice.
import { type FormEvent, useState } from "react";
import type { KeyState, NewPassphrase } from "~/host/host";
import { useKeyring } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Failed } from "~/primitives/States";
import { capital } from "~/screen/words";
import { Secret } from "./NewKeys";
import styles from "./Keys.module.css";

type Of = NewPassphrase["of"];
interface Typed { old: string; next: string; again: string }
const NOTHING: Typed = { old: "", next: "", again: "" };

/** Why it cannot be changed yet. */
function wanting(typed: Typed, of: Of, min: number): string | null {
  if (typed.old === "") return `Type the ${of} passphrase as it is`;
  if (typed.next.length < min) return `The new ${of} passphrase needs at least ${min} characters`;
  return typed.next === typed.again ? null : `Type the new ${of} passphrase the same twice`;
}

/** One button for each passphrase that this store has, and behind it the fields. */
export function ChangePassphrase({ state }: { state: KeyState }) {
  const [of, setOf] = useState<Of | null>(null);
  const [done, setDone] = useState<Of | null>(null);
  if (!state.at_terminal) return null;
  const begin = (which: Of) => { setDone(null); setOf(which); };
  return (
    <>
      {done !== null && <p role="status">The new {done} passphrase is in force. The keys are the same.{done === "vault" && " A file that opens the vault without you needs the new one."}</p>}
      {of === null ? (
        <div className={styles.row}>
          {state.vault === "file" && <Button onClick={() => begin("vault")}>Change the vault passphrase</Button>}
          <Button onClick={() => begin("approval")}>Change the approval passphrase</Button>
        </div>
      ) : <Change key={of} of={of} min={state.chars_min} onEnd={(changed) => { setOf(null); setDone(changed ? of : null); }} />}
    </>
  );
}

function Change({ of, min, onEnd }: { of: Of; min: number; onEnd: (changed: boolean) => void }) {
  const changing = useKeyring();
  const [typed, setTyped] = useState<Typed>(NOTHING);
  const set = (field: keyof Typed) => (value: string) => setTyped((before) => ({ ...before, [field]: value }));
  const because = changing.isPending ? "Changing the passphrase" : wanting(typed, of, min);
  const change = (event: FormEvent) => {
    event.preventDefault();
    if (because !== null) return;
    const { old, next } = typed;
    // A wrong one is forgotten as it is typed again.
    changing.mutate((keys) => keys.change({ of, old, next }), { onSuccess: () => onEnd(true), onError: () => set("old")("") });
  };
  return (
    <form className={styles.form} onSubmit={change} aria-label={`Change the ${of} passphrase`}>
      <Secret label={`${capital(of)} passphrase as it is`} value={typed.old} set={set("old")} />
      <div className={styles.pair}>
        <Secret label={`New ${of} passphrase`} value={typed.next} set={set("next")} />
        <Secret label={`New ${of} passphrase again`} value={typed.again} set={set("again")} error={typed.again !== "" && !typed.next.startsWith(typed.again) ? "They differ" : null} />
      </div>
      <div className={styles.row}>
        <Button icon="key" look="person" type="submit" because={because}>Change it</Button>
        <Button onClick={() => onEnd(false)}>Cancel</Button>
        {because !== null && <span className={styles.quiet}>{because}.</span>}
      </div>
      {changing.error !== null && <Failed error={changing.error} />}
    </form>
  );
}
