// A word outside the page when something new waits: the count in the tab's title, and a notification of the browser where
// a person asked for them. A notification opens the page and decides nothing.
import { useEffect, useRef } from "react";
import { count } from "~/screen/words";

const KEPT = "hermit-notifications";

/** How notifications stand: what the browser lacks, what a person refused it, and what they chose here. */
export type Calls = "absent" | "refused" | "off" | "on";

export function calls(): Calls {
  if (typeof Notification === "undefined") return "absent";
  if (Notification.permission === "denied") return "refused";
  return Notification.permission === "granted" && localStorage.getItem(KEPT) === "on" ? "on" : "off";
}

/** Turns them on or off. The browser asks for permission, which it does for a click only. */
export async function setCalls(on: boolean): Promise<Calls> {
  if (on && typeof Notification !== "undefined" && Notification.permission === "default") await Notification.requestPermission();
  localStorage.setItem(KEPT, on ? "on" : "off");
  return calls();
}

/** Tells of what waits, `waiting` being how many things do; `open` goes to them. */
export function useCalls(waiting: number | undefined, open: () => void): void {
  const before = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (waiting === undefined) return;
    document.title = waiting === 0 ? "Hermit" : `(${waiting}) Hermit`;
    const known = before.current;
    before.current = waiting;
    // What waited before the page was opened is on it; who looks at the page sees it there.
    if (known === undefined || waiting <= known || document.hasFocus() || calls() !== "on") return;
    const call = new Notification("Hermit waits for you", { body: `${count(waiting, "thing")} to look at.`, tag: "hermit-waiting" });
    call.onclick = () => {
      window.focus();
      open();
      call.close();
    };
  }, [waiting, open]);
}
