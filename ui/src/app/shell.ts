// An installed page, and one that is opened while the computer is off: a worker keeps the built files and nothing else. Only
// where a host serves this page under a name; a page at an address of numbers is on the machine itself.
import { placeOf } from "~/host/webauthn";

/** Whether a page at this address is one that a device may keep the shell of. */
export function isLasting(at: { hostname: string; origin: string }, isSecure: boolean): boolean {
  return placeOf(at, isSecure, true).origin !== null;
}

export function keepShell(): void {
  if (import.meta.env.MODE !== "production" || !("serviceWorker" in navigator) || !isLasting(location, globalThis.isSecureContext === true)) return;
  // A notification that was clicked while this page is open.
  navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<{ kind?: unknown; path?: unknown } | null>) => {
    if (data?.kind === "open" && typeof data.path === "string" && data.path.startsWith("/")) location.hash = `#${data.path}`;
  });
  // Without it everything works, but the page that says that the computer is not reached.
  navigator.serviceWorker.register("./sw.js").catch(() => undefined);
}
