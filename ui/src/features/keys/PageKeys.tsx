// The keys of the host, made, unlocked and locked on a page of it.
import { type FormEvent, useState } from "react";
import { Copyable } from "~/primitives/Copyable";
import type { KeyState } from "~/host/host";
import { useHost, useKeyring, useKeys } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Answer, Failed } from "~/primitives/States";
import { ChangePassphrase } from "./ChangePassphrase";
import { Secret, useNewKeys } from "./NewKeys";
import styles from "./Keys.module.css";

/** Why this page does neither: nobody has shown that a person is here. */
function FromTerminal({ command }: { command: string }) {
  return (
    <>
      <p>Keys are made and opened on a page that you open from a terminal: a program, or a phone that was left unlocked, has no such page. Run this on the computer that runs Hermit, and open the link it prints:</p>
      <Copyable text="hermit open" />
      <p>Or do it in the terminal:</p>
      <Copyable text={command} />
    </>
  );
}

export function MakeKeysHere() {
  const asked = useKeys();
  return <Answer asked={asked} what="how keys can be kept here" lines={3}>{(state) => (state.at_terminal ? <Make state={state} /> : <FromTerminal command="hermit keys init" />)}</Answer>;
}

function Make({ state }: { state: KeyState }) {
  const making = useKeyring();
  const { fields, because, given, clear } = useNewKeys({ min: state.chars_min, vault: state.vault, noKeychain: state.no_keychain });
  const make = (event: FormEvent) => {
    event.preventDefault();
    if (because !== null || making.isPending) return;
    making.mutate((keys) => keys.make(given), { onSuccess: clear });
  };
  return (
    <form className={styles.form} onSubmit={make}>
      {fields}
      <div className={styles.row}>
        <Button icon="key" look="person" type="submit" because={making.isPending ? "Making keys" : because}>{making.isPending ? "Making keys" : "Make keys"}</Button>
        {because !== null && <span className={styles.quiet}>{because}.</span>}
      </div>
      {making.error !== null && <Failed error={making.error} />}
    </form>
  );
}

/** One field and one button; none where the system's keychain holds the keys. */
export function Unlock() {
  const asked = useKeys();
  const unlocking = useKeyring();
  const [words, setWords] = useState("");
  const state = asked.data;
  if (state === undefined || state.open || !state.made) return null;
  if (!state.at_terminal) return <FromTerminal command="hermit unlock" />;
  const isFile = state.vault === "file";
  const unlock = (event: FormEvent) => {
    event.preventDefault();
    if ((isFile && words === "") || unlocking.isPending) return;
    setWords("");
    unlocking.mutate((keys) => keys.unlock(isFile ? words : null));
  };
  return (
    <form className={styles.unlock} onSubmit={unlock}>
      {isFile && <Secret label="Vault passphrase" value={words} set={setWords} />}
      <Button type="submit" icon="key" because={unlocking.isPending ? "Unlocking" : isFile && words === "" ? "Type the vault passphrase first" : null}>{unlocking.isPending ? "Unlocking" : "Unlock for 8 hours"}</Button>
      {unlocking.error !== null && <Failed error={unlocking.error} />}
    </form>
  );
}

/** In the settings of a browser: how they stand, and what can be done about it. */
export function KeysHere() {
  const { keys } = useHost();
  const asked = useKeys();
  const locking = useKeyring();
  if (keys === undefined) return null;
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <Answer asked={asked} what="the keys" lines={2}>
        {(state) => (
          <>
            {!state.approval ? <MakeKeysHere /> : state.open ? (
              <>
                <p>The keys that sign receipts and proofs are unlocked. They are kept in {state.vault === "keychain" ? "the system keychain" : "a file with a passphrase"}.</p>
                <div><Button because={locking.isPending ? "Locking" : null} onClick={() => locking.mutate((held) => held.lock())}>Lock the keys</Button></div>
              </>
            ) : (
              <>
                <p>The keys are locked. Work continues, and receipts wait for their signature.</p>
                <Unlock />
              </>
            )}
            {locking.error !== null && <Failed error={locking.error} />}
            {state.approval && <ChangePassphrase state={state} />}
          </>
        )}
      </Answer>
    </section>
  );
}
