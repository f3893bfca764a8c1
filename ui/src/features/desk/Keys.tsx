// Making the keys of a store, and opening the vault they sleep in. Passphrases are typed in this window only.
import { type FormEvent, useState } from "react";
import type { Desk } from "~/host/desk";
import { type Refused, refusal } from "~/host/host";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Arcs } from "~/primitives/Shell";
import { Failed } from "~/primitives/States";
import styles from "./Desk.module.css";

/** Shorter ones are refused by the keychain room too. */
const CHARS_MIN = 8;

function Secret({ label, hint, value, set, error }: { label: string; hint?: string; value: string; set: (value: string) => void; error?: string | null }) {
  return <TextField label={label} hint={hint} type="password" autoComplete="off" spellCheck={false} value={value} error={error ?? null} onChange={(event) => set(event.target.value)} />;
}

export function MakeKeys({ desk }: { desk: Desk }) {
  const [keychain, setKeychain] = useState(true);
  const [approval, setApproval] = useState("");
  const [again, setAgain] = useState("");
  const [vault, setVault] = useState("");
  const [vaultAgain, setVaultAgain] = useState("");
  const [making, setMaking] = useState(false);
  const [error, setError] = useState<Refused | null>(null);
  const because = making ? "Being made"
    : approval.length < CHARS_MIN ? `The approval passphrase has at least ${CHARS_MIN} characters`
    : approval !== again ? "Type the approval passphrase the same twice"
    : keychain ? null
    : vault.length < CHARS_MIN ? `The vault's passphrase has at least ${CHARS_MIN} characters`
    : vault !== vaultAgain ? "Type the vault's passphrase the same twice"
    : vault === approval ? "Choose another passphrase for the vault" : null;
  const make = async (event: FormEvent) => {
    event.preventDefault();
    if (because !== null) return;
    setMaking(true);
    setError(null);
    try {
      await desk.makeKeys(keychain, keychain ? null : vault, approval);
      await desk.leave();
    } catch (thrown) {
      setError(refusal(thrown));
      setMaking(false);
    }
  };
  return (
    <main className={styles.keys}>
      <header>
        <Arcs size={72} person />
        <div>
          <h1>Make your keys</h1>
          <p>One signs what is done and proven, and one, yours alone, signs what you allow. No agent, page or plugin reaches that one.</p>
        </div>
      </header>
      <form onSubmit={(event) => void make(event)}>
        <h2>Your approval passphrase</h2>
        <div className={styles.pair}>
          <Secret label="Passphrase" value={approval} set={setApproval} />
          <Secret label="Once more" value={again} set={setAgain} error={again !== "" && !approval.startsWith(again) ? "They differ" : null} />
        </div>
        <p className={styles.note}>You are asked for it when you allow something. It is kept nowhere: it cannot be recovered, only replaced.</p>
        <h2 id="where">Where the other keys sleep</h2>
        <div className={styles.choices} role="radiogroup" aria-labelledby="where">
          <button type="button" role="radio" aria-checked={keychain} onClick={() => setKeychain(true)}><b>System keychain</b><small>Opens when you log in</small></button>
          <button type="button" role="radio" aria-checked={!keychain} onClick={() => setKeychain(false)}><b>A file with a passphrase</b><small>Asked for when Hermit starts</small></button>
        </div>
        {!keychain && (
          <div className={styles.pair}>
            <Secret label="Vault passphrase" value={vault} set={setVault} />
            <Secret label="Once more" value={vaultAgain} set={setVaultAgain} error={vaultAgain !== "" && !vault.startsWith(vaultAgain) ? "They differ" : null} />
          </div>
        )}
        {error !== null && <Failed error={error} />}
        <div className={styles.foot}>
          <Button loose onClick={() => void desk.leave()}>Later</Button>
          <Button look="person" loose type="submit" because={because}>{making ? "Making keys" : "Make keys"}</Button>
        </div>
      </form>
    </main>
  );
}

export function OpenKeys({ desk }: { desk: Desk }) {
  const [words, setWords] = useState("");
  const [opening, setOpening] = useState(false);
  const [error, setError] = useState<Refused | null>(null);
  const open = async (event: FormEvent) => {
    event.preventDefault();
    if (words === "" || opening) return;
    setOpening(true);
    setError(null);
    try {
      await desk.unlock(words);
      await desk.leave();
    } catch (thrown) {
      setError(refusal(thrown));
      setWords("");
      setOpening(false);
    }
  };
  return (
    <main className={styles.keys}>
      <header>
        <Arcs size={72} person />
        <div>
          <h1>Open the keys</h1>
          <p>They sign receipts and proofs. Until they are open work goes on, and receipts wait for their signature.</p>
        </div>
      </header>
      <form onSubmit={(event) => void open(event)}>
        <Secret label="Vault passphrase" value={words} set={setWords} />
        {error !== null && <Failed error={error} />}
        <div className={styles.foot}>
          <Button loose onClick={() => void desk.leave()}>Leave them locked</Button>
          <Button look="person" loose type="submit" because={words === "" ? "Type the passphrase" : opening ? "Being opened" : null}>Open</Button>
        </div>
      </form>
    </main>
  );
}

/** A name that a person would give the key of this server. */
function nameOf(url: string): string {
  const host = /^https?:\/\/([^/:]+)/.exec(url.trim())?.[1] ?? "";
  const parts = host.toLowerCase().split(".").filter((part) => !["api", "www"].includes(part));
  return (parts.length > 1 ? parts.slice(0, -1).join("-") : parts.join("")).replace(/[^a-z0-9_.-]/g, "");
}

export function KeepKey({ desk }: { desk: Desk }) {
  const [url, setUrl] = useState("");
  const [name, setName] = useState<string | null>(null);
  const [value, setValue] = useState("");
  const [keeping, setKeeping] = useState(false);
  const [error, setError] = useState<Refused | null>(null);
  const handle = name ?? nameOf(url);
  const because = keeping ? "Being kept" : url.trim() === "" ? "Say which server" : handle === "" ? "Name the key" : value === "" ? "Type or paste the key" : null;
  const keep = async (event: FormEvent) => {
    event.preventDefault();
    if (because !== null) return;
    setKeeping(true);
    setError(null);
    try {
      await desk.keepKey(url.trim(), handle, value);
      await desk.leave();
    } catch (thrown) {
      setError(refusal(thrown));
      setKeeping(false);
    }
  };
  return (
    <main className={styles.keys}>
      <header>
        <Arcs size={72} person />
        <div>
          <h1>A key for a server of models</h1>
          <p>It sleeps where your keys do and goes to this server alone. No agent sees it, and it is taken out of everything that is kept.</p>
        </div>
      </header>
      <form onSubmit={(event) => void keep(event)}>
        <TextField label="Address of the server" mono placeholder="https://api.openai.com/v1" value={url} autoComplete="off" spellCheck={false} onChange={(event) => setUrl(event.target.value)} />
        <div className={styles.pair}>
          <TextField label="Name of the key" mono value={handle} autoComplete="off" spellCheck={false} onChange={(event) => setName(event.target.value)} />
          <Secret label="Key" value={value} set={setValue} />
        </div>
        {error !== null && <Failed error={error} />}
        <div className={styles.foot}>
          <Button loose onClick={() => void desk.leave()}>Leave it</Button>
          <Button look="person" loose type="submit" because={because}>Keep the key</Button>
        </div>
      </form>
    </main>
  );
}
