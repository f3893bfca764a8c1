// Other devices: a link for a phone, as text and for its camera, and the pages that are open, each of which can be ended.
import { useState } from "react";
import type { DeviceLink, OpenPage, OpenPages } from "~/host/host";
import { useHost, useKeys } from "~/ipc/client";
import { useDevices, useOpenPages } from "~/ipc/elsewhere";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { Answer, Failed } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import styles from "./Settings.module.css";

export function Devices() {
  const { devices } = useHost();
  const keys = useKeys().data;
  const mayAsk = keys?.at_terminal === true || keys?.by_passkey === true;
  const asked = useOpenPages(mayAsk);
  if (devices === undefined || keys === undefined) return null;
  return (
    <section aria-labelledby="devices">
      <h2 id="devices">Use on your phone</h2>
      {mayAsk ? (
        <Answer asked={asked} what="the pages that are open" lines={2}>
          {(found) => (
            <>
              <Phone found={found} />
              <h3 id="open-pages">Open pages</h3>
              <ul className={styles.keys} aria-labelledby="open-pages">{found.sessions.map((one) => <Row key={one.number} page={one} origin={found.origin} />)}</ul>
            </>
          )}
        </Answer>
      ) : (
        <>
          <p>Links for other devices are made on a page that you open from a terminal. Run this on the computer that runs Hermit:</p>
          <Copyable text="hermit open" />
        </>
      )}
    </section>
  );
}

/** `found.origin` is the address for other devices; a page that came by it makes no links. */
function Phone({ found }: { found: OpenPages }) {
  const link = useDevices<DeviceLink>();
  if (found.sessions.some((one) => one.own && one.by_passkey)) return <p>A passkey signed this page in. Links for more devices are made on a page that you open from a terminal.</p>;
  if (found.sessions.some((one) => one.own && one.elsewhere)) return <p>You are here from another device. Links for more devices are made on the computer that runs Hermit.</p>;
  if (found.origin === null) {
    return (
      <>
        <p>Hermit listens on this machine only. To reach it from your phone, point a name of yours at this machine with HTTPS, for example with a reverse proxy or <code>tailscale serve</code>, and tell Hermit the name:</p>
        <Copyable text="hermit serve --origin https://NAME" />
      </>
    );
  }
  const made = link.data;
  return (
    <>
      <p>Your other devices reach Hermit at <code>{found.origin}</code>. A link opens it there once, within five minutes.</p>
      <div><Button because={link.isPending ? "Making a link" : null} onClick={() => link.mutate((devices) => devices.link("elsewhere"))}>{made === undefined ? "Make a link" : "Make another link"}</Button></div>
      {made !== undefined && (
        <div className={styles.phone}>
          {made.code !== null && <Code rows={made.code} />}
          <Copyable text={made.url} />
          <p>It works until <Time at={made.expires_at} clock />. Show it to nobody: whoever opens it first is you.</p>
        </div>
      )}
      {link.error !== null && <Failed error={link.error} />}
    </>
  );
}

/** Dark on light in either theme: cameras look for that. */
function Code({ rows }: { rows: readonly string[] }) {
  const dark = rows.flatMap((row, y) => [...row].flatMap((square, x) => (square === "1" ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className={styles.code} viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label="The link as a code for a camera" shapeRendering="crispEdges">
      <rect width={rows.length} height={rows.length} fill="#ffffff" />
      <path d={dark.join("")} fill="#000000" />
    </svg>
  );
}

function Row({ page, origin }: { page: OpenPage; origin: string | null }) {
  const ending = useDevices<OpenPages>();
  const [isAsked, setAsked] = useState(false);
  const where = page.elsewhere ? `At ${origin ?? "another address"}` : "On this machine";
  const name = `End the page ${page.elsewhere ? "elsewhere" : "on this machine"}`;
  return (
    <li>
      <div>
        <b>{where}</b>{page.own && ", this page"}
        <small>Opened <Time at={page.opened_at} ago />{page.by_passkey && " with a passkey"}, used <Time at={page.used_at} ago />{!page.at_terminal && ", by a link that a program was given"}</small>
        {ending.error !== null && <Failed error={ending.error} />}
      </div>
      {!page.own && !isAsked && <Button aria-label={name} onClick={() => setAsked(true)}>End</Button>}
      {!page.own && isAsked && (
        <div className={styles.sure} role="group" aria-label={name}>
          <p>Whoever is there needs a new link or a passkey to come back. Its device is not notified any more.</p>
          <div className={styles.buttons}>
            <Button look="danger" because={ending.isPending ? "Ending" : null} onClick={() => ending.mutate((devices) => devices.end(page.number))}>End it</Button>
            <Button onClick={() => setAsked(false)}>Cancel</Button>
          </div>
        </div>
      )}
    </li>
  );
}
