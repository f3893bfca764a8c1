// Making the keys of a store, and opening the vault they sleep in. Passphrases are typed in this window only.
import { type FormEvent, type ReactNode, useState } from "react";
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

/** Two passphrase fields that must say the same. */
function Twice({ label, value, set, again, setAgain }: { label: string; value: string; set: (value: string) => void; again: string; setAgain: (value: string) => void }) {
  return (
    <div className={styles.pair}>
      <Secret label={label} value={value} set={set} />
      <Secret label="Once more" value={again} set={setAgain} error={again !== "" && !value.startsWith(again) ? "They differ" : null} />
    </div>
  );
}

/** What every form of this window is: what it is about, what is typed, a way to leave, and one button that does it. */
function Sheet({ title, about, desk, because, later, act, acting, perform, children }: {
  title: string;
  about: string;
  desk: Desk;
  /** Why it cannot be done yet. */
  because: string | null;
  later: string;
  act: string;
  acting: string;
  /** Does it; the window closes after, or says why not. */
  perform: () => Promise<unknown>;
  children: ReactNode;
}) {
  const [isActing, setActing] = useState(false);
  const [error, setError] = useState<Refused | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (because !== null || isActing) return;
    setActing(true);
    setError(null);
    try {
      await perform();
      await desk.leave();
    } catch (thrown) {
      setError(refusal(thrown));
      setActing(false);
    }
  };
  return (
    <main className={styles.keys}>
      <header>
        <Arcs size={72} person />
        <div>
          <h1>{title}</h1>
          <p>{about}</p>
        </div>
      </header>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        {error !== null && <Failed error={error} />}
        <div className={styles.foot}>
          <Button loose onClick={() => void desk.leave()}>{later}</Button>
          <Button look="person" loose type="submit" because={isActing ? acting : because}>{isActing ? acting : act}</Button>
        </div>
      </form>
    </main>
  );
}

export function MakeKeys({ desk }: { desk: Desk }) {
  const [keychain, setKeychain] = useState(true);
  const [approval, setApproval] = useState("");
  const [again, setAgain] = useState("");
  const [vault, setVault] = useState("");
  const [vaultAgain, setVaultAgain] = useState("");
  const because = approval.length < CHARS_MIN ? `The approval passphrase has at least ${CHARS_MIN} characters`
    : approval !== again ? "Type the approval passphrase the same twice"
    : keychain ? null
    : vault.length < CHARS_MIN ? `The vault's passphrase has at least ${CHARS_MIN} characters`
    : vault !== vaultAgain ? "Type the vault's passphrase the same twice"
    : vault === approval ? "Choose another passphrase for the vault" : null;
  return (
    <Sheet
      title="Make your keys" desk={desk} because={because} later="Later" act="Make keys" acting="Making keys"
      about="One signs what is done and proven, and one, yours alone, signs what you allow. No agent, page or plugin reaches that one."
      perform={() => desk.makeKeys(keychain, keychain ? null : vault, approval)}
    >
      <h2>Your approval passphrase</h2>
      <Twice label="Passphrase" value={approval} set={setApproval} again={again} setAgain={setAgain} />
      <p className={styles.note}>You are asked for it when you allow something. It is kept nowhere: it cannot be recovered, only replaced.</p>
      <h2 id="where">Where the other keys sleep</h2>
      <div className={styles.choices} role="radiogroup" aria-labelledby="where">
        <button type="button" role="radio" aria-checked={keychain} onClick={() => setKeychain(true)}><b>System keychain</b><small>Opens when you log in</small></button>
        <button type="button" role="radio" aria-checked={!keychain} onClick={() => setKeychain(false)}><b>A file with a passphrase</b><small>Asked for when Hermit starts</small></button>
      </div>
      {!keychain && <Twice label="Vault passphrase" value={vault} set={setVault} again={vaultAgain} setAgain={setVaultAgain} />}
    </Sheet>
  );
}

export function OpenKeys({ desk }: { desk: Desk }) {
  const [words, setWords] = useState("");
  const open = () => desk.unlock(words).catch((thrown: unknown) => { setWords(""); throw thrown; });
  return (
    <Sheet
      title="Open the keys" desk={desk} because={words === "" ? "Type the passphrase" : null} later="Leave them locked" act="Open" acting="Opening"
      about="They sign receipts and proofs. Until they are open work goes on, and receipts wait for their signature."
      perform={open}
    >
      <Secret label="Vault passphrase" value={words} set={setWords} />
    </Sheet>
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
  const handle = name ?? nameOf(url);
  const because = url.trim() === "" ? "Say which server" : handle === "" ? "Name the key" : value === "" ? "Type or paste the key" : null;
  return (
    <Sheet
      title="A key for a server of models" desk={desk} because={because} later="Leave it" act="Keep the key" acting="Being kept"
      about="It sleeps where your keys do and goes to this server alone. No agent sees it, and it is taken out of everything that is kept."
      perform={() => desk.keepKey(url.trim(), handle, value)}
    >
      <TextField label="Address of the server" mono placeholder="https://api.openai.com/v1" value={url} autoComplete="off" spellCheck={false} onChange={(event) => setUrl(event.target.value)} />
      <div className={styles.pair}>
        <TextField label="Name of the key" mono value={handle} autoComplete="off" spellCheck={false} onChange={(event) => setName(event.target.value)} />
        <Secret label="Key" value={value} set={setValue} />
      </div>
    </Sheet>
  );
}
