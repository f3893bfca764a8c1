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
