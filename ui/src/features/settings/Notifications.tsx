// Whether the browser says when something waits. The app has its own notifications.
import { useState } from "react";
import { calls, setCalls } from "~/screen/notify";
import { useHost } from "~/ipc/client";
import { Check } from "~/primitives/Field";
import { Pushes } from "./Pushes";

export function Notifications() {
  const host = useHost();
  const [at, setAt] = useState(calls);
  if (host.kind === "tauri") return null;
  return (
    <section aria-labelledby="notifications">
      <h2 id="notifications">Notifications</h2>
      {at === "absent" ? <p>This browser has no notifications. The number in the tab's title says how many things wait.</p>
        : at === "refused" ? <p>This browser blocks notifications of this page. Allow them in the browser's settings for this address.</p>
        : <Check label="Notify me when something waits for me" checked={at === "on"} onChange={(event) => void setCalls(event.target.checked).then(setAt)} />}
      <p>They are shown while this page is open and you look elsewhere. A notification opens the page; it approves nothing.</p>
      {host.pushes !== undefined && <Pushes />}
    </section>
  );
}
