// A log-in at a server of tools in Chromium: begun at a terminal, over and begun anew on the page, allowed on a card, made in
// another tab where the server asks the person, and seen by nobody.
import { afterAll, beforeAll, expect, test } from "vitest";
import { authority } from "./authority";
import { soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const at = (...more: string[]) => ["--workspace", world.folder, "--no-input", ...more];
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const login = () => world.page.getByRole("region", { name: "Log-in" });
let notes: Awaited<ReturnType<typeof authority>>;

/** What a person does in the tab of the server: reads who asks, and allows it. What the tab says in the end. */
async function allows(open: () => Promise<unknown>): Promise<string> {
  const [tab] = await Promise.all([world.page.context().waitForEvent("page"), open()]);
  await tab.getByRole("link", { name: "Allow" }).click();
  await tab.getByText("You are logged in.", { exact: false }).waitFor();
  const said = await tab.locator("body").innerText();
  await tab.close();
  return said;
}

/** What a terminal asked for is allowed on the page. */
async function yes(...words: string[]): Promise<void> {
  world.hermit(...words);
  await world.go("/");
  await world.approve("high");
  await world.page.getByRole("article", { name: "Approval" }).getByText("Succeeded").waitFor();
}

beforeAll(async () => {
  world.keys();
  await world.ui();
  notes = await authority();
  await world.open(await world.serve());
});

afterAll(async () => {
  await notes?.end();
  await world.close();
});

test("a server that wants a log-in is refused in words, and logged in at from a terminal and a browser", async () => {
  expect(() => world.hermit("tools", "add", "notes", "--url", notes.url, ...at())).toThrow(`hermit tools login notes --url ${notes.url}`);
  await yes("tools", "login", "notes", "--url", notes.url, ...at());
  const said = world.begin("--json", "tools", "login", "notes", ...at());
  const { address } = JSON.parse(await said.line()) as { address: string };
  await allows(() => world.page.evaluate((to) => { window.open(to, "_blank", "noopener"); }, address));
  expect(await said.line()).toContain('"logged_in"');
  await yes("tools", "add", "notes", "--url", notes.url, ...at());
  await world.go("/tools");
  await login().getByText("Logged in", { exact: true }).waitFor();
  await login().getByText("for: notes:read").waitFor();
  await soundPicture(world.page, "login-in");
});

test("a person logs out and in again on the page, and no token is ever on it", async () => {
  await button("Log out").click();
  await login().getByText("Not logged in", { exact: true }).waitFor();
  await expect.poll(notes.revoked).toBe(1);
  await button("Log in").click();
  await login().getByRole("link", { name: "Review it" }).click();
  await world.page.getByRole("link", { name: "Review" }).first().click();
  await world.page.getByRole("article", { name: "Approval" }).getByText("never sees your password", { exact: false }).first().waitFor();
  // What the card says of the network: the one host that gives the token and is called with it.
  await world.page.getByRole("article", { name: "Approval" }).locator("dl > div").filter({ hasText: "Network" }).getByText(new URL(notes.url).host).waitFor();
  await soundPicture(world.page, "login-card");
  await world.approve("high");
  await world.go("/tools");
  await login().getByText("You approved it; go on in your browser").waitFor();
  await button("Go on in your browser").click();
  const link = login().getByRole("link", { name: /^Log in at/ });
  await link.waitFor();
  await soundPicture(world.page, "login-waiting");
  await allows(() => link.click());
  await login().getByText("Logged in", { exact: true }).waitFor();
  const html = await world.page.content();
  for (const word of ["access_token", "code_verifier", "Bearer "]) expect(html).not.toContain(word);
  expect(world.hermit("tools", "try", "notes", "echo", '{"text":"hello"}', ...at())).toBeDefined();
  expect(world.complaints).toEqual([]);
});
