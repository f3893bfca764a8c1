// Making the keys of a store, and opening the vault they are kept in, in the app's own window for that.
import { type FormEvent, type ReactNode, useState } from "react";
import type { Desk } from "~/host/desk";
import { type Refused, refusal } from "~/host/host";
import { CHARS_MIN, Secret, useNewKeys } from "~/features/keys/NewKeys";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Arcs } from "~/primitives/Shell";
import { Failed } from "~/primitives/States";
import styles from "./ApprovalWindow.module.css";

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
          <p className={styles.note} role="status">{error === null && !isActing && because}</p>
          <Button loose onClick={() => void desk.leave()}>{later}</Button>
          <Button look="person" loose type="submit" because={isActing ? acting : because}>{isActing ? acting : act}</Button>
        </div>
      </form>
    </main>
  );
}

export function MakeKeys({ desk }: { desk: Desk }) {
  const { fields, because, given } = useNewKeys({ min: CHARS_MIN, vault: null, noKeychain: null, first: true });
  return (
    <Sheet
      title="Make your keys" desk={desk} because={because} later="Later" act="Make keys" acting="Making keys"
      about="One set of keys signs what is done and proven. One more, yours alone, signs what you approve: no agent, page or plugin can use it."
      perform={() => desk.makeKeys(given.keychain, given.vault, given.approval)}
    >
      {fields}
    </Sheet>
  );
}

export function OpenKeys({ desk }: { desk: Desk }) {
  const [words, setWords] = useState("");
  const open = () => desk.unlock(words).catch((thrown: unknown) => { setWords(""); throw thrown; });
  return (
    <Sheet
      title="Unlock the keys" desk={desk} because={words === "" ? "Type the passphrase" : null} later="Leave them locked" act="Unlock" acting="Unlocking"
      about="They sign receipts and proofs. While they are locked, work continues and receipts wait for their signature."
      perform={open}
    >
      <Secret label="Vault passphrase" first value={words} set={setWords} />
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
      title="A key for a server of models" desk={desk} because={because} later="Cancel" act="Save the key" acting="Saving"
      about="Hermit stores it where your own keys are and sends it to this server only. No agent sees it, and it is removed from every record."
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
