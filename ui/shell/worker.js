// The static shell of an installed page, and the page that says that the computer is not reached. It keeps files that were
// built and nothing else: no answer of a host, no session. What is built anew has another version, and the old one goes.
const VERSION = "__VERSION__";
const SHELL = ["__SHELL__"];
const OFFLINE = "offline.html";
const PREFIX = "hermit-shell-";
const CACHE = PREFIX + VERSION;

/** What stands between a page and a computer that is off, such as a proxy, says so by these. */
const UNREACHED = [502, 503, 504];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))).then(() => self.clients.claim()));
});

/** The page itself comes from the host; without one a plain page says so. */
async function page(request) {
  try {
    const answer = await fetch(request);
    if (!UNREACHED.includes(answer.status)) return answer;
  } catch {
    // Nobody answers.
  }
  return (await caches.match(OFFLINE, { cacheName: CACHE })) ?? Response.error();
}

/** A file of the shell, as it was built. */
async function file(request) {
  return (await caches.match(request, { cacheName: CACHE })) ?? fetch(request);
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  // A load of the page has no header of ours. Everything else but the listed files goes to the host, untouched.
  if (request.mode === "navigate") event.respondWith(page(request));
  else if (SHELL.some((name) => new URL(name, self.registration.scope).href === url.href)) event.respondWith(file(request));
});

/** What is said of each kind: nothing that a lock screen should not show. */
const WORDS = {
  approval: "Something needs your approval.",
  schedule: "A schedule has paused itself.",
  done: "A task is done.",
  failed: "A task has failed.",
};

/** What a host told, encrypted for this browser alone. What cannot be read is told all the same: browsers want a word for each. */
function read(data) {
  try {
    const { kind, path } = data.json();
    return { kind: String(kind), path: placeOf(path) };
  } catch {
    return { kind: "", path: "/" };
  }
}

/** A place within this page, and nothing else. */
function placeOf(path) {
  return typeof path === "string" && path.length < 300 && /^\/[\w/?=&.:-]*$/.test(path) ? path : "/";
}

self.addEventListener("push", (event) => {
  const { kind, path } = read(event.data);
  const title = kind === "done" || kind === "failed" ? "Hermit" : "Hermit waits for you";
  const body = Object.hasOwn(WORDS, kind) ? WORDS[kind] : "Open Hermit to see what it is.";
  event.waitUntil(self.registration.showNotification(title, { body, tag: path, icon: "icon-256.png", data: { path } }));
});

/** Goes to the page that is open, or opens one. It decides nothing. */
async function go(path) {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((one) => new URL(one.url).pathname === new URL(self.registration.scope).pathname);
  if (page === undefined) return self.clients.openWindow(new URL(`./#${path}`, self.registration.scope).href);
  page.postMessage({ kind: "open", path });
  return page.focus();
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(go(placeOf(event.notification.data?.path)));
});

/** The browser has another address at its push service. This worker has no session: a page that is open tells the host. */
self.addEventListener("pushsubscriptionchange", (event) => {
  const tell = async () => {
    const options = event.oldSubscription?.options;
    if (event.newSubscription == null && options != null) await self.registration.pushManager.subscribe(options);
    const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    for (const page of pages) page.postMessage({ kind: "push-changed", old: event.oldSubscription?.endpoint ?? null });
  };
  event.waitUntil(tell());
});
