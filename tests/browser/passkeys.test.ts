// Passkeys in Chromium with an authenticator of its own making: added on the page of a name, a yes by one on a phone's page, and
// what is refused: without verification, of another origin, said twice, and revoked. The page on another device comes by an
// address that the host was told, through a proxy of this test.
import { type AddressInfo, type Server, connect, createServer } from "node:net";
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fits, pictures, soundPicture } from "./kept";
import { model } from "./model";
import { START_MS, within } from "./within";
import { World } from "./world";

const world = new World();
const button = (name: string, page = world.page) => page.getByRole("button", { name, exact: true });
let wishes: Awaited<ReturnType<typeof model>>;
let proxy: Server;
let origin = "";
let wire: CDPSession;
let authenticator = "";

interface Asked { decision: string; challenge: string; credentials: string[]; rp_id: string }
interface Signed { credential_id: string; client_data_json: string; authenticator_data: string; signature: string; decision: string }

/** Leads every connection on to the host, as a proxy does that keeps the name. */
async function lead(to: () => number): Promise<Server> {
  const server = createServer((near) => {
    const far = connect(to(), "127.0.0.1");
    for (const [one, other] of [[near, far], [far, near]] as const) one.on("error", () => other.destroy()).pipe(other);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

/** Asks what only a page of this host may. */
function ask(page: Page, path: string, body: unknown): Promise<{ status: number; answer: Record<string, unknown> }> {
  return page.evaluate(async ([to, sent]) => {
    const headers = { "content-type": "application/json", "x-hermit-session": sessionStorage.getItem("hermit-session") ?? "" };
    const got = await fetch(`/api/session/${to}`, { method: "POST", headers, body: sent });
    return { status: got.status, answer: (await got.json()) as Record<string, unknown> };
  }, [path, JSON.stringify(body)] as const);
}

/** Has the authenticator of the first page sign, whatever the page itself would ask for. */
function sign(asked: Asked, userVerification: UserVerificationRequirement): Promise<Signed> {
  return world.page.evaluate(async ([given, verification]) => {
    const bytes = (text: string) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const text = (buffer: ArrayBuffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    const allowCredentials = given.credentials.map((id) => ({ type: "public-key" as const, id: bytes(id) }));
    const got = (await navigator.credentials.get({ publicKey: { challenge: bytes(given.challenge), rpId: given.rp_id, allowCredentials, userVerification: verification } })) as PublicKeyCredential;
    const { clientDataJSON, authenticatorData, signature } = got.response as AuthenticatorAssertionResponse;
    return { credential_id: text(got.rawId), client_data_json: text(clientDataJSON), authenticator_data: text(authenticatorData), signature: text(signature), decision: given.decision };
  }, [asked, userVerification] as const);
}

/** A person on a phone holds the button of the passkey until it is meant. */
async function held(): Promise<void> {
  const thumb = world.page.getByRole("group", { name: "Your decision" });
  await thumb.getByRole("button", { name: "Approve with passkey" }).click();
  await thumb.getByRole("button", { name: "Hold to approve with passkey" }).and(world.page.locator(":not([aria-disabled])")).hover();
  await world.page.mouse.down();
  await world.page.waitForTimeout(1_500);
  await world.page.mouse.up();
}

/** A card on a page, armed, and what a passkey has to sign for it. */
async function seated(page: Page, approval: string): Promise<{ yes: object; asked: Asked }> {
  const { answer: seat } = await ask(page, "card", { approval });
  const shown = { ticket: seat["ticket"], packet_sha256: seat["packet_sha256"] };
  const { status, answer } = await ask(page, "passkey/ask", shown);
  expect(status, JSON.stringify(answer)).toBe(200);
  await page.waitForTimeout(Number(seat["arms_in"]) + 100);
  return { yes: seat["word"] === null || seat["word"] === undefined ? shown : { ...shown, word: seat["word"] }, asked: answer as unknown as Asked };
}

/** A task that waits for a yes to one file; its approval. */
function waiting(goal: string): string {
  world.hermit("run", "--no-input", "--goal", goal, "--workspace", world.folder, "--model", wishes.name);
  const { rows } = JSON.parse(world.hermit("approvals", "list", "--json")) as { rows: { approval_id: string; status: string }[] };
  const [row] = rows.filter((one) => one.status === "pending");
  if (row === undefined) throw new Error("nothing waits");
  return row.approval_id;
}

const statusOf = (approval: string) => (JSON.parse(world.hermit("approvals", "show", approval, "--json")) as { row: { status: string } }).row.status;

beforeAll(async () => {
  world.keys();
  wishes = await model(["one.txt", "two.txt"].flatMap((path) => [
    { tool: "write", arguments: { path, content: `${path}\n` } },
    { tool: "done", arguments: { summary: "It is written." } },
  ]));
  await world.ui();
  let port = 0;
  proxy = await lead(() => port);
  origin = `http://localhost:${(proxy.address() as AddressInfo).port}`;
  const link = await world.serve("--origin", origin);
  port = Number(new URL(link).port);
  const own = /http:\/\/127\.0\.0\.1:\d+\/#token=\w+/.exec(world.atTerminal("open"))?.[0];
  await world.open(own ?? "");
});

afterAll(async () => {
  await world.close();
  proxy?.close();
  await wishes?.end();
});

test("a passkey is added on the page of a name, with the approval passphrase", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.go("/settings");
  await button("Open this page at localhost").click();
  await world.page.waitForURL(/^http:\/\/localhost:/);
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  wire = await world.page.context().newCDPSession(world.page);
  await wire.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true } as const;
  authenticator = (await wire.send("WebAuthn.addVirtualAuthenticator", { options })).authenticatorId;
  await world.go("/settings");
  await button("Add a passkey").click();
  await world.page.getByLabel("Name of the passkey").fill("My phone");
  const section = world.page.getByRole("region", { name: "Passkeys" });
  await section.getByLabel("Approval passphrase", { exact: true }).fill("not this one");
  await button("Add the passkey").click();
  await section.getByRole("alert").waitFor();
  await section.getByLabel("Approval passphrase", { exact: true }).fill(world.passphrase);
  await button("Add the passkey").click();
  await section.getByText("was added", { exact: false }).waitFor();
  await section.getByText("not used yet", { exact: false }).waitFor();
  expect((await wire.send("WebAuthn.getCredentials", { authenticatorId: authenticator })).credentials).toHaveLength(1);
  await soundPicture(world.page, "passkeys");
});

test("what was not checked, comes from another origin, or is said twice allows nothing; on a phone it is held", async () => {
  const approval = waiting("Write the first");
  // Without verification the browser signs nothing for the page, and the host takes nothing that was signed so.
  await wire.send("WebAuthn.setUserVerified", { authenticatorId: authenticator, isUserVerified: false });
  await world.page.setViewportSize({ width: 390, height: 844 });
  await world.go(`/?at=${approval}`);
  await held();
  await world.page.getByRole("group", { name: "Your decision" }).getByText("nothing was decided", { exact: false }).waitFor();
  await button("Cancel").click();
  const unchecked = await seated(world.page, approval);
  const refused = await ask(world.page, "allow", { ...unchecked.yes, passkey: await sign(unchecked.asked, "discouraged") });
  expect(refused.status, JSON.stringify(refused.answer)).not.toBe(200);
  await wire.send("WebAuthn.setUserVerified", { authenticatorId: authenticator, isUserVerified: true });
  // A page elsewhere, opened by a link from this one: its origin is another, and the passkey does not belong to it.
  await world.go("/settings");
  await button("Make a link").click();
  const link = await world.page.getByRole("region", { name: "Use on your phone" }).locator("code", { hasText: "#token=" }).innerText();
  expect(link.startsWith(`${origin}/#token=`)).toBe(true);
  await world.page.getByRole("img", { name: "The link as a code for a camera" }).waitFor();
  const phone = await world.page.context().newPage();
  await phone.setViewportSize({ width: 390, height: 844 });
  await phone.goto(link);
  await phone.getByRole("heading", { name: "Inbox" }).waitFor();
  const { answer: seat } = await ask(phone, "card", { approval });
  const shown = { ticket: seat["ticket"], packet_sha256: seat["packet_sha256"] };
  expect((await ask(phone, "passkey/ask", shown)).status, "none is enrolled at that origin").toBe(404);
  await phone.waitForTimeout(Number(seat["arms_in"]) + 100);
  const foreign = await ask(phone, "allow", { ...shown, passkey: await sign(unchecked.asked, "required") });
  expect(foreign.status, JSON.stringify(foreign.answer)).not.toBe(200);
  await phone.evaluate((to) => { location.hash = to; }, `/?at=${approval}`);
  await button("Approve with passphrase", phone).waitFor();
  expect(await button("Approve with passkey", phone).count()).toBe(0);
  expect(statusOf(approval)).toBe("pending");
  // The person ends the page elsewhere.
  await button("End the page elsewhere").click();
  await button("End it").click();
  await button("End the page elsewhere").waitFor({ state: "detached" });
  expect((await ask(phone, "card", { approval })).status).toBe(401);
  await phone.close();
  // The yes itself, at the thumb and held.
  await world.go(`/?at=${approval}`);
  const thumb = world.page.getByRole("group", { name: "Your decision" });
  await thumb.getByRole("button", { name: "Approve with passkey" }).waitFor();
  await soundPicture(world.page, "passkey-card");
  await world.page.setViewportSize({ width: 390, height: 844 });
  await fits(world.page, 390, "the card on a phone");
  const sent = world.page.waitForRequest((request) => request.url().endsWith("/api/session/allow"));
  await held();
  const said = JSON.parse((await sent).postData() ?? "null") as unknown;
  await world.page.getByRole("article", { name: "Approval" }).getByRole("link", { name: "Receipt" }).waitFor();
  await expect.poll(() => world.has("one.txt"), { timeout: 90_000 }).toBe(true);
  const again = await ask(world.page, "allow", said);
  expect([again.status, again.answer["code"]]).toEqual([409, "conflict"]);
});

test("a passkey that was revoked signs nothing more, and the card does not offer it", async () => {
  const approval = waiting("Write the second");
  await world.page.setViewportSize({ width: 1280, height: 800 });
  await world.go("/settings");
  await world.page.getByRole("region", { name: "Passkeys" }).getByText("last used", { exact: false }).waitFor();
  const before = await seated(world.page, approval);
  const signed = await sign(before.asked, "required");
  await button("Revoke My phone").click();
  await button("Revoke this passkey").click();
  await button("Revoke My phone").waitFor({ state: "detached" });
  await button("Revoke this passkey").waitFor({ state: "detached" });
  const refused = await ask(world.page, "allow", { ...before.yes, passkey: signed });
  expect(refused.status, JSON.stringify(refused.answer)).not.toBe(200);
  await world.go(`/?at=${approval}`);
  await button("Approve with passphrase").waitFor();
  expect(await button("Approve with passkey").count()).toBe(0);
  expect(statusOf(approval)).toBe("pending");
  await world.approve();
  await expect.poll(() => world.has("two.txt"), { timeout: 90_000 }).toBe(true);
  expect(world.complaints).toEqual([]);
});

test("a device is notified while its page is closed once a person turned that on, and in words that a lock screen may show", async () => {
  const { page } = world;
  const at = new URL(page.url()).origin;
  await page.context().grantPermissions(["notifications"], { origin: at });
  // No push service is reached from here: what a browser is given by one is made up.
  await page.evaluate(async () => {
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
    const text = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    const p256dh = text(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
    let had: unknown = null;
    Object.assign(PushManager.prototype, {
      getSubscription: () => Promise.resolve(had),
      subscribe: ({ applicationServerKey }: { applicationServerKey: Uint8Array }) => {
        had = {
          endpoint: "https://fcm.googleapis.com/fcm/send/of-a-test", options: { applicationServerKey: applicationServerKey.buffer },
          toJSON: () => ({ keys: { p256dh, auth: text(new Uint8Array(16)) } }), unsubscribe: () => { had = null; return Promise.resolve(true); },
        };
        return Promise.resolve(had);
      },
    });
  });
  await world.go("/settings");
  const section = page.getByRole("region", { name: "Notifications" });
  await section.getByLabel("Name of this device").fill("My phone");
  const sent = page.waitForRequest((request) => request.url().endsWith("/api/session/push/subscribe"));
  await button("Notify this device").click();
  const said = JSON.parse((await sent).postData() ?? "null") as { name: string; outcomes: boolean; subscription: { endpoint: string; p256dh: string } };
  expect([said.name, said.outcomes, said.subscription.endpoint, said.subscription.p256dh.length]).toEqual(["My phone", false, "https://fcm.googleapis.com/fcm/send/of-a-test", 87]);
  await section.getByText("This device is notified through").waitFor();
  await soundPicture(page, "push");
  const worker = await page.context().newCDPSession(page);
  const registered = new Promise<string>((done) => worker.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    const own = registrations.find((one) => !one.isDeleted && one.scopeURL.startsWith(at));
    if (own !== undefined) done(own.registrationId);
  }));
  await worker.send("ServiceWorker.enable");
  await worker.send("ServiceWorker.deliverPushMessage", { origin: at, registrationId: await within(START_MS, "the registration of the service worker", registered), data: JSON.stringify({ kind: "approval", path: "/?at=apr_1" }) });
  const shown = () => page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).map((one) => [one.title, one.body, (one.data as { path: string }).path]));
  await expect.poll(shown).toEqual([["Hermit waits for you", "Something needs your approval.", "/?at=apr_1"]]);
  await button("Turn off My phone").click();
  await button("Turn it off").click();
  await button("Notify this device").waitFor();
});

test("a page that was closed is signed in again by its passkey, and by none that was revoked", async () => {
  const { page } = world;
  await world.go("/settings");
  await button("Add a passkey").click();
  await page.getByLabel("Name of the passkey").fill("My tablet");
  const section = page.getByRole("region", { name: "Passkeys" });
  await section.getByLabel("Approval passphrase", { exact: true }).fill(world.passphrase);
  await button("Add the passkey").click();
  await section.getByText("was added", { exact: false }).waitFor();
  // What an installed page loses when it is closed.
  const away = async () => {
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await button("Sign in with a passkey").waitFor();
  };
  await away();
  await soundPicture(page, "signed-out");
  await wire.send("WebAuthn.setUserVerified", { authenticatorId: authenticator, isUserVerified: false });
  await button("Sign in with a passkey").click();
  await page.getByText("nobody was signed in", { exact: false }).waitFor();
  await wire.send("WebAuthn.setUserVerified", { authenticatorId: authenticator, isUserVerified: true });
  await button("Sign in with a passkey").click();
  await button("Sign in with a passkey").waitFor({ state: "detached" });
  await world.go("/settings");
  await page.getByRole("region", { name: "Use on your phone" }).getByText("with a passkey", { exact: false }).waitFor();
  expect((await ask(page, "devices", {})).status).toBe(200);
  await button("Revoke My tablet").click();
  await button("Revoke this passkey").click();
  await expect.poll(async () => (await ask(page, "devices", {})).status).toBe(401);
  await away();
  await button("Sign in with a passkey").click();
  await page.getByText("revoked", { exact: false }).waitFor();
});

test("the page can be installed; it keeps its built files alone, and says when the computer is not reached", async () => {
  const worker = await world.page.evaluate(async () => (await navigator.serviceWorker.ready).active?.scriptURL);
  expect(worker).toMatch(/\/sw\.js$/);
  const manifest = await world.page.evaluate(async () => {
    const got = await fetch("/manifest.webmanifest");
    return { media: got.headers.get("content-type"), said: (await got.json()) as { display: string; icons: { src: string }[] } };
  });
  expect([manifest.media, manifest.said.display]).toEqual(["application/manifest+json", "standalone"]);
  for (const { src } of manifest.said.icons) expect(await world.page.evaluate(async (at) => (await fetch(at)).status, src), src).toBe(200);
  const kept = await world.page.evaluate(async () => {
    const names = await caches.keys();
    const all = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((request) => new URL(request.url).pathname)));
    return all.flat();
  });
  expect(kept).toContain("/offline.html");
  expect(kept.filter((path) => !/^\/(assets\/[\w.-]+|icon\.svg|offline\.(css|html|js))$/.test(path))).toEqual([]);
  await world.page.reload();
  await world.end("SIGTERM");
  await world.page.reload();
  await world.page.getByRole("heading", { name: "Your computer is not reached" }).waitFor();
  await world.page.setViewportSize({ width: 390, height: 844 });
  await world.page.screenshot({ path: `${pictures()}/offline-390.png` });
  await fits(world.page, 390, "the page of a computer that is not reached");
  // A link of the next host is taken where this is said.
  const { hash } = new URL(await world.serve("--origin", origin));
  await world.page.setViewportSize({ width: 1280, height: 800 });
  await world.page.evaluate((to) => { location.hash = to; }, hash);
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
});
