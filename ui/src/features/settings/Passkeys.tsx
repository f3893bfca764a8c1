// Passkeys of the person: added on the page of the name that they belong to, listed, and revoked.
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Passkeys as Holder, type Refused, refusal } from "~/host/host";
import type { Attested } from "~/host/webauthn";
import type { Passkey } from "~/ipc/generated/passkeys";
import { useAct, useAsk, useHost, useKeys } from "~/ipc/client";
import { useDevices } from "~/ipc/elsewhere";
import { Secret } from "~/features/keys/NewKeys";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { TextField } from "~/primitives/Field";
import { Answer, Failed, Said } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Settings.module.css";

/** Characters of a name, as the host takes it. */
const NAME_MAX = 64;

/** Where a passkey on a security key belongs that Hermit itself asks, and no page. */
const SECURITY_KEY_ORIGIN = "hermit:security-key";

/** Where the approval key of another machine belongs, which approves there. */
const MESH_ORIGIN = "hermit:mesh";

export function Passkeys() {
  const { passkeys } = useHost();
  const asked = useAsk("passkeys.list", {}, { enabled: passkeys !== undefined });
  if (passkeys === undefined) return null;
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <p>A passkey approves in place of your passphrase: with a fingerprint, a face, a PIN or a security key. It works at the address where you added it. It also signs this page in again after it was closed. It opens no keys and allows nothing from now on.</p>
      <Answer asked={asked} what="the passkeys" lines={2}>
        {({ passkeys: all }) => (
          <>
            {all.length > 0 && <ul className={styles.keys} aria-label="Passkeys">{all.map((one) => <Row key={one.passkey_id} passkey={one} here={passkeys.place.origin} />)}</ul>}
            <Adding passkeys={passkeys} />
          </>
        )}
      </Answer>
    </section>
  );
}

function Row({ passkey, here }: { passkey: Passkey; here: string | null }) {
  const revoke = useAct("passkeys.revoke");
  const [isAsked, setAsked] = useState(false);
  const { origin, created_at: created, last_used_at: used, revoked_at: revoked } = passkey;
  const name = passkey.name ?? "erased";
  const isKey = origin === SECURITY_KEY_ORIGIN;
  const isMachine = origin === MESH_ORIGIN;
  return (
    <li data-revoked={revoked !== null || undefined}>
      <div>
        <b><Words of={name} /></b> {isKey ? "at the terminal and in the app" : isMachine ? "another machine" : <>at <code>{origin}</code></>}
        {passkey.in_force && isKey && <small>A security key that was added at the terminal. It approves there and in the app's window.</small>}
        {passkey.in_force && isMachine && <small>Another machine of yours. It approves with its own passphrase what is asked here.</small>}
        {passkey.in_force && !isKey && !isMachine && origin !== here && <small>Not for this page, which is at another address.</small>}
        {revoked === null && !passkey.in_force && <small>It approves nothing any more: your approval key was replaced. Revoke it, and add it again.</small>}
        {passkey.backed_up && <small>Copied to your other devices by whoever keeps your passkeys.</small>}
        <small>Added <Time at={created} ago />{used !== null ? <>, last used <Time at={used} ago /></> : ", not used yet"}{revoked !== null && <>, revoked <Time at={revoked} ago /></>}</small>
        {revoke.error !== null && <Failed error={revoke.error} />}
      </div>
      {revoked === null && !isAsked && <Button aria-label={`Revoke ${name}`} onClick={() => setAsked(true)}>Revoke</Button>}
      {isAsked && revoked === null && (
        <div className={styles.sure} role="group" aria-label={`Revoke ${name}`}>
          <p>It approves nothing from then on, and cannot be put back. What it approved stays valid.</p>
          <div className={styles.buttons}>
            <Button look="danger" because={revoke.isPending ? "Revoking" : null} onClick={() => revoke.mutate({ passkey: passkey.passkey_id })}>Revoke this passkey</Button>
            <Button onClick={() => setAsked(false)}>Cancel</Button>
          </div>
        </div>
      )}
    </li>
  );
}

/** The form, or why there is none on this page. */
function Adding({ passkeys }: { passkeys: Holder }) {
  const keys = useKeys().data;
  const [isOpen, setOpen] = useState(false);
  if (keys === undefined) return null;
  if (!keys.approval) return <p>Make your keys first. A passkey is added with the approval passphrase.</p>;
  if (!keys.at_terminal) {
    return (
      <>
        <p>{keys.by_passkey === true ? "A passkey signed this page in, and passkeys" : "A program can open this page too, so passkeys"} are added on a page that you open from a terminal. Run this on the computer that runs Hermit, and open the link it prints:</p>
        <Copyable text="hermit open" />
      </>
    );
  }
  const { why } = passkeys.place;
  if (why === "address") return <ByName />;
  if (why !== null) return <p>{why === "insecure" ? "Passkeys need HTTPS. Open Hermit at an address that has it." : "This browser has no passkeys."}</p>;
  if (!isOpen) return <div><Button icon="key" onClick={() => setOpen(true)}>Add a passkey</Button></div>;
  return (
    <>
      {location.hostname === "localhost" && <p>It belongs to this address with its port. Start Hermit with <code>hermit serve --port {location.port}</code> to keep both.</p>}
      <Add passkeys={passkeys} close={() => setOpen(false)} />
    </>
  );
}

/** This page is at an address of numbers; the same host has a name. */
function ByName() {
  const link = useDevices<{ url: string }>();
  const open = () => link.mutate((devices) => devices.link("localhost"), { onSuccess: ({ url }) => location.assign(url) });
  return (
    <>
      <p>Passkeys belong to a name, and this page is open at an address of numbers. On this machine the name is <code>localhost</code>.</p>
      <div><Button icon="key" because={link.isPending ? "Opening" : null} onClick={open}>Open this page at localhost</Button></div>
      {link.error !== null && <Failed error={link.error} />}
    </>
  );
}

function Add({ passkeys, close }: { passkeys: Holder; close: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [words, setWords] = useState("");
  const [isGoing, setGoing] = useState(false);
  const [failed, setFailed] = useState<Refused | null>(null);
  const [added, setAdded] = useState<string | null>(null);
  // What the browser made already: a wrong passphrase is typed again without making another one.
  const [made, setMade] = useState<Attested | null>(null);
  const because = isGoing ? "Adding" : name.trim() === "" ? "Give it a name first" : words === "" ? "Type the approval passphrase first" : null;
  const add = async () => {
    const given = words;
    setWords("");
    setGoing(true);
    setFailed(null);
    let attested = made;
    try {
      attested ??= await passkeys.make();
      setMade(attested);
      const passkey = await passkeys.add(name.trim(), attested, given);
      setAdded(passkey.name ?? name.trim());
      setMade(null);
    } catch (thrown) {
      const error = refusal(thrown);
      if (error.code !== "key_locked" && error.code !== "unavailable") setMade(null);
      setFailed(error);
    } finally {
      setGoing(false);
      void client.invalidateQueries();
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (because === null) void add();
  };
  if (added !== null) return <><Said tone="done">The passkey <Words of={added} /> was added.</Said><div><Button onClick={close}>Close</Button></div></>;
  return (
    <form className={styles.adding} onSubmit={submit}>
      <TextField label="Name of the passkey" value={name} maxLength={NAME_MAX} autoComplete="off" placeholder="My phone" onChange={(event) => setName(event.target.value)} />
      <Secret label="Approval passphrase" hint={made === null ? "It is asked for once, to add the passkey." : "Your device has made the passkey. Type the passphrase to add it."} value={words} set={setWords} />
      <div className={styles.buttons}>
        <Button type="submit" icon="key" because={because}>Add the passkey</Button>
        <Button onClick={close}>Cancel</Button>
      </div>
      {failed !== null && <Failed error={failed} />}
    </form>
  );
}
