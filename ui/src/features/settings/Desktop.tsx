// What only an app has: its tray, its notifications, and whether it starts by itself.
import { useEffect, useState } from "react";
import type { Lacks } from "~/host/host";
import { useHost } from "~/ipc/client";
import { capital } from "~/screen/words";
import { Button } from "~/primitives/Button";
import { Check } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { sentence } from "~/primitives/States";

const INSTEAD = {
  tray: "Closing the window then leaves a notification; without that, the window is only minimised.",
  notifications: "A small window that takes no focus says what waits.",
  actions: "A small window that takes no focus opens the card.",
} as const;

export function Desktop() {
  const host = useHost();
  const [lacks, setLacks] = useState<Lacks | null>(null);
  const [starts, setStarts] = useState<boolean | null>(null);
  useEffect(() => {
    let here = true;
    host.lacks?.().then((found) => here && setLacks(found), () => undefined);
    host.autostart?.().then((found) => here && setStarts(found), () => undefined);
    return () => { here = false; };
  }, [host]);
  if (host.lacks === undefined) return null;
  const row = (what: keyof Lacks, there: string) => {
    const why = lacks?.[what] ?? null;
    return [capital(what === "actions" ? "buttons on them" : what), lacks === null ? "Looking" : why === null ? there : <>{sentence(why)} {INSTEAD[what]}</>] as const;
  };
  return (
    <section aria-labelledby="desktop">
      <h2 id="desktop">This desktop</h2>
      <Facts wide rows={[
        row("tray", "Shows state and count; closing the window leaves Hermit working there"),
        row("notifications", "Say what waits; they cannot approve anything"),
        row("actions", "Open the card, or deny"),
      ]} />
      {host.openKeys !== undefined && <div><Button icon="key" onClick={() => void host.openKeys?.()}>Make or unlock your keys</Button></div>}
      {starts !== null && (
        <Check label="Start Hermit in the tray when I log in" checked={starts} onChange={(event) => void host.autostart?.(event.target.checked).then(setStarts, () => undefined)} />
      )}
    </section>
  );
}
