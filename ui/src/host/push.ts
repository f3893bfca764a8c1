// Notifications while this page is closed: the browser's push service takes them from the host alone, which encrypts them for this
// browser. The worker of the page shows them.
import { type Notified, type PushHere, type Pushes, Refused } from "./host";
import { fromBase64url, toBase64url } from "./webauthn";

type Told = <T>(path: string, body: object) => Promise<T>;
interface Devices { devices: Notified[] }

/** The push service of this browser, where there is a worker to take its messages. */
async function manager(): Promise<PushManager | null> {
  if (!("serviceWorker" in navigator) || typeof PushManager === "undefined" || typeof Notification === "undefined") return null;
  return (await navigator.serviceWorker.getRegistration())?.pushManager ?? null;
}

async function nameOf(endpoint: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint));
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** As the host takes it: base64url without padding. */
function given(subscription: PushSubscription): { endpoint: string; p256dh: string; auth: string } {
  const { keys } = subscription.toJSON();
  const bare = (text: string | undefined) => (text ?? "").replace(/=+$/, "");
  return { endpoint: subscription.endpoint, p256dh: bare(keys?.["p256dh"]), auth: bare(keys?.["auth"]) };
}

/** Whether a subscription takes messages of this key. */
const isOf = (subscription: PushSubscription, key: string) => {
  const of = subscription.options.applicationServerKey;
  return of !== null && toBase64url(of) === key;
};

function refused(thrown: unknown): Refused {
  if (thrown instanceof Refused) return thrown;
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof DOMException && thrown.name === "NotAllowedError") {
    return new Refused({ code: "cancelled", message: "this browser does not allow notifications", hint: "allow them for this address in the browser's settings" });
  }
  return new Refused({ code: "failed", message: `the browser's push service was not reached: ${why}`, hint: "try again later; nothing was turned on" });
}

export function pushesOf(told: Told, hasName: boolean): Pushes & { adopt(): Promise<void> } {
  const subscribe = (name: string, outcomes: boolean, subscription: PushSubscription) => told<Devices>("push/subscribe", { name, outcomes, subscription: given(subscription) });
  const here = async (devices: readonly Notified[]): Promise<PushHere> => {
    if (!hasName) return { is: "address" };
    const service = await manager();
    if (service === null) return { is: "absent" };
    if (Notification.permission === "denied") return { is: "refused" };
    const had = await service.getSubscription();
    const subscription = had === null ? null : await nameOf(had.endpoint);
    return subscription !== null && devices.some((one) => one.subscription === subscription) ? { is: "on", subscription } : { is: "off" };
  };
  const adopt = async (old?: string) => {
    const had = hasName ? await (await manager())?.getSubscription() : null;
    if (had == null) return;
    const known = await nameOf(old ?? had.endpoint);
    const { devices } = await told<Devices>("push", {});
    const one = devices.find(({ subscription }) => subscription === known);
    if (one !== undefined && (!one.own || old !== undefined)) await subscribe(one.name ?? "This device", one.outcomes, had);
  };
  if (hasName && "serviceWorker" in navigator) {
    navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<{ kind?: unknown; old?: unknown } | null>) => {
      if (data?.kind === "push-changed" && typeof data.old === "string") adopt(data.old).catch(() => undefined);
    });
  }
  return {
    adopt: () => adopt(),
    list: async () => {
      const { devices } = await told<Devices>("push", {});
      return { here: await here(devices), devices };
    },
    on: async (name, outcomes) => {
      const service = await manager();
      if (service === null) throw new Refused({ code: "failed", message: "this browser takes no notifications while the page is closed" });
      try {
        if (await Notification.requestPermission() !== "granted") throw new DOMException("", "NotAllowedError");
        const { key } = await told<{ key: string }>("push/key", {});
        const had = await service.getSubscription();
        if (had !== null && !isOf(had, key)) await had.unsubscribe();
        await subscribe(name, outcomes, await service.subscribe({ userVisibleOnly: true, applicationServerKey: fromBase64url(key) }));
      } catch (thrown) {
        throw refused(thrown);
      }
    },
    off: async (subscription) => {
      await told<Devices>("push/end", { subscription });
      const had = await (await manager())?.getSubscription();
      if (had != null && await nameOf(had.endpoint) === subscription) await had.unsubscribe();
    },
  };
}
