// Notifications while the page is closed: turned on for the device a person sits at, and off for any.
import { type FormEvent, useState } from "react";
import type { Notified, PushHere } from "~/host/host";
import { useHost, useKeys } from "~/ipc/client";
import { useNotifying, usePushes } from "~/ipc/elsewhere";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { Check, TextField } from "~/primitives/Field";
import { Answer, Failed } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Settings.module.css";

/** Characters of a name, as the host takes it. */
const NAME_MAX = 80;

export function Pushes() {
  const { pushes } = useHost();
  const keys = useKeys().data;
  const mayAsk = keys?.at_terminal === true || keys?.by_passkey === true;
  const asked = usePushes(mayAsk);
  if (pushes === undefined || keys === undefined) return null;
  return (
    <>
      <h3 id="pushes">While this page is closed</h3>
      {mayAsk ? (
        <Answer asked={asked} what="the devices that are notified" lines={2}>
          {({ here, devices }) => (
            <>
              <Here here={here} device={devices.find((one) => here.is === "on" && one.subscription === here.subscription)} />
              {devices.length > 0 && <ul className={styles.keys} aria-label="Notified devices">{devices.map((one) => <Row key={one.subscription} device={one} isHere={here.is === "on" && here.subscription === one.subscription} />)}</ul>}
            </>
          )}
        </Answer>
      ) : (
        <>
          <p>This is turned on for a device on a page that you open from a terminal. Run this on the computer that runs Hermit:</p>
          <Copyable text="hermit open --phone" />
        </>
      )}
    </>
  );
}

const LACKS: Readonly<Record<"absent" | "address" | "refused", string>> = {
  absent: "This browser takes no notifications while the page is closed. On an iPhone or iPad, add this page to the Home Screen and open it from there.",
  address: "A device is notified at the name of a page, and this page is open at an address of numbers.",
  refused: "This browser blocks notifications of this page. Allow them in the browser's settings for this address.",
};

function Here({ here, device }: { here: PushHere; device: Notified | undefined }) {
  if (here.is === "on") return <p role="status">This device is notified{device === undefined ? "" : <> through <code>{device.service}</code></>}.</p>;
  if (here.is !== "off") return <p>{LACKS[here.is]}</p>;
  return <TurnOn />;
}

function TurnOn() {
  const turning = useNotifying();
  const [name, setName] = useState("");
  const [outcomes, setOutcomes] = useState(false);
  const because = turning.isPending ? "Turning on" : name.trim() === "" ? "Give this device a name first" : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (because === null) turning.mutate((pushes) => pushes.on(name.trim(), outcomes));
  };
  return (
    <form className={styles.adding} onSubmit={submit}>
      <p>Your browser's push service delivers the notification. It learns that Hermit has something for this device, and when. It cannot read what, and no word of a task is sent.</p>
      <TextField label="Name of this device" value={name} maxLength={NAME_MAX} autoComplete="off" placeholder="My phone" onChange={(event) => setName(event.target.value)} />
      <Check label="Also when a task is done or has failed" checked={outcomes} onChange={(event) => setOutcomes(event.target.checked)} />
      <div className={styles.buttons}><Button type="submit" because={because}>Notify this device</Button></div>
      {turning.error !== null && <Failed error={turning.error} />}
    </form>
  );
}

function Row({ device, isHere }: { device: Notified; isHere: boolean }) {
  const ending = useNotifying();
  const [isAsked, setAsked] = useState(false);
  const name = device.name ?? "erased";
  return (
    <li>
      <div>
        <b><Words of={name} /></b>{isHere && ", this device"}
        <small>Since <Time at={device.since} ago />, at <code>{device.origin}</code>. Told of what waits for you{device.outcomes && ", and when a task is done or has failed"}.</small>
        {ending.error !== null && <Failed error={ending.error} />}
      </div>
      {!isAsked && <Button aria-label={`Turn off ${name}`} onClick={() => setAsked(true)}>Turn off</Button>}
      {isAsked && (
        <div className={styles.sure} role="group" aria-label={`Turn off ${name}`}>
          <p>This device is not notified any more. You can turn it on there again.</p>
          <div className={styles.buttons}>
            <Button look="danger" because={ending.isPending ? "Turning off" : null} onClick={() => ending.mutate((pushes) => pushes.off(device.subscription))}>Turn it off</Button>
            <Button onClick={() => setAsked(false)}>Cancel</Button>
          </div>
        </div>
      )}
    </li>
  );
}
