// Two machines of one person in Chromium: two built hosts and a relay of our own on this machine. The mesh is turned on from each
// page, they are paired by a code, a goal that is given on one page runs in the folder of the other and is asked about there, its
// answer comes back, one machine answers what the other asks, and a machine whose process ends is told as one that is gone.
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { conforms, soundPicture } from "./kept";
import { model } from "./model";
import { World } from "./world";
import { part } from "../../ui/verifier/test/conforms";

const GOAL = "Write a summary of the letters";
const SUMMARY = "The summary stands in summary.md.";
const laptop = new World();
let desk: World;
let wishes: Awaited<ReturnType<typeof model>>;
let relay: ReturnType<World["begin"]> | undefined;
let relayUrl = "";

const button = (world: World, name: string) => world.page.getByRole("button", { name, exact: true });
const machine = (world: World, name: string) => world.page.getByRole("article", { name, exact: true });
const messages = (world: World) => world.page.getByRole("list", { name: "Messages", exact: true });

/** A port of this machine that nobody listens at. It is none of those that the system gives to whoever asks for any, so that
 *  nothing that begins meanwhile has it. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries += 1) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((is) => server.once("error", () => is(false)).listen(port, "127.0.0.1", () => is(true)));
    if (isFree) {
      await new Promise((closed) => server.close(closed));
      return port;
    }
  }
  throw new Error("no port between 20000 and 32000 is free");
}

/** Opens its page. The laptop's is opened as a person at a terminal does; the desk's by a link that a program got, so that it brings
 *  the passphrase. */
async function opened(world: World): Promise<void> {
  const served = await world.serve();
  const link = world === desk ? served : /http:\/\/127\.0\.0\.1:\d+\/#token=\w+/.exec(world.atTerminal("open"))?.[0];
  await world.open(link ?? "");
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
}

/** SOUL.md is written and allowed: from then on the instance has a key, by which other machines know it. */
async function named(world: World, name: string): Promise<void> {
  await world.go("/identity");
  await button(world, "Write SOUL.md").click();
  await world.page.getByLabel("Who this instance is").fill(`# ${name}\n\nYou look after letters.\n`);
  await button(world, "Save").click();
  await world.page.getByText("A change of SOUL.md waits for your answer.").waitFor();
  await world.go("/");
  await world.page.getByRole("article", { name: "Approval" }).getByText(/gives no authority/i).first().waitFor({ timeout: 90_000 });
  await world.approve("high");
  await expect.poll(() => (JSON.parse(world.hermit("identity", "show", "--json")) as { version: number }).version).toBe(1);
}

async function turnedOn(world: World, name: string, folder: string | null): Promise<void> {
  await world.go("/machines");
  const form = world.page.getByRole("form", { name: "This machine" });
  await form.getByLabel("Name", { exact: true }).fill(name);
  await form.getByRole("textbox", { name: "Relays" }).fill(relayUrl);
  await form.getByLabel("Address on your network (optional)").fill(`127.0.0.1:${await freePort()}`);
  if (folder !== null) {
    await form.getByRole("button", { name: "Add a folder" }).click();
    await form.getByLabel("Folder", { exact: true }).fill(folder);
    await form.getByLabel("Name for your other machines").fill("letters");
    await form.getByRole("button", { name: "Add this folder" }).click();
  }
  if (world === desk) await form.getByLabel("Approval passphrase").fill(world.passphrase);
  await form.getByRole("button", { name: "Turn the mesh on" }).click();
  await world.page.getByText("No other machine yet").waitFor({ timeout: 90_000 });
}

/** A code is typed at the desk, with its passphrase. */
async function typed(code: string, picture?: string): Promise<void> {
  await button(desk, "Type a code").click();
  const form = desk.page.getByRole("form", { name: "Code of another machine" });
  await form.getByLabel("Code that the other machine shows").fill(code);
  if (picture !== undefined) await soundPicture(desk.page, picture);
  await form.getByLabel("Approval passphrase").fill(desk.passphrase);
  await form.getByRole("button", { name: "Pair", exact: true }).click();
  await form.waitFor({ state: "detached" });
}

/** A goal for the desk, in its folder; it stands among the messages at once. */
async function given(world: World, goal: string): Promise<void> {
  const there = machine(world, "desk");
  await there.getByRole("button", { name: "Send a goal" }).click();
  const form = there.getByRole("form", { name: "Goal for desk" });
  await form.getByLabel("Folder there").selectOption("letters");
  await form.getByLabel("Goal", { exact: true }).fill(goal);
  await form.getByRole("button", { name: "Send the goal" }).click();
  await messages(world).getByText(goal).waitFor();
  await form.getByRole("button", { name: "Close" }).click();
}

beforeAll(async () => {
  await laptop.ui();
  process.env["HERMIT_UI_DIR"] ??= join(laptop.dir, "ui");
  desk = new World();
  relay = laptop.begin("--json", "mesh", "relay", "--listen", "127.0.0.1:0");
  relayUrl = (JSON.parse(await relay.line()) as { url: string }).url;
  const written = (path: string, summary: string) => [{ tool: "write", arguments: { path, content: "Two letters.\n" } }, { tool: "done", arguments: { summary } }];
  wishes = await model([...written("summary.md", SUMMARY), ...written("list.md", "The list stands in list.md.")]);
  for (const world of [laptop, desk]) world.keys();
  desk.file("letter.txt", "Dear all\n");
  desk.hermit("models", "use", wishes.name);
  for (const world of [laptop, desk]) await opened(world);
});

afterAll(async () => {
  // Each of them ends, whatever becomes of the others.
  const ends = await Promise.allSettled([laptop.close(), desk?.close(), relay?.end(), wishes?.end()]);
  expect(ends.flatMap((one) => one.status === "rejected" ? [String(one.reason)] : [])).toEqual([]);
});

test("until a person turns it on nothing of it runs, and without SOUL.md the page says what is missing", async () => {
  await laptop.go("/machines");
  await laptop.page.getByText(/this machine opens no connection for it/).waitFor();
  await laptop.page.getByText(/this one has none yet/).waitFor();
  await soundPicture(laptop.page, "machines-off");
});

test("two machines are paired through their pages, by a code that one shows and a person types at the other", async () => {
  await named(laptop, "Laptop");
  await named(desk, "Desk");
  await turnedOn(laptop, "laptop", null);
  await turnedOn(desk, "desk", desk.folder);
  await laptop.page.getByRole("list", { name: "Ways" }).getByText("Open", { exact: true }).first().waitFor({ timeout: 90_000 });
  await soundPicture(laptop.page, "machines-on");
  await button(laptop, "Show a code").click();
  const code = await laptop.page.getByLabel("Code", { exact: true }).innerText();
  await laptop.page.getByRole("timer").waitFor();
  await soundPicture(laptop.page, "machines-code");
  // A slip of the last letter costs one try of three, which both say.
  const right = code.replaceAll(/\s/g, "");
  await typed(right.replace(/.$/, right.endsWith("A") ? "B" : "A"));
  await desk.page.getByText(/Read it again and type it once more: it may be typed 2 times more/).waitFor();
  await laptop.page.getByText(/typed wrong at the other machine. It may be typed 2 times more/).waitFor();
  await soundPicture(laptop.page, "machines-slip");
  await typed(right, "machines-typed");
  await laptop.page.getByText("Paired with desk").waitFor({ timeout: 90_000 });
  await desk.page.getByText("Paired with laptop").waitFor({ timeout: 90_000 });
  expect(await laptop.page.getByLabel("Code", { exact: true }).count()).toBe(0);
}, 540_000);

test("a goal of one page runs in the folder of the other machine, is asked about there, and its answer comes back", conforms(part("HV-3.1-2"), part("HV-3.7-1"), async () => {
  const there = machine(laptop, "desk");
  await there.getByText("Here", { exact: true }).waitFor({ timeout: 90_000 });
  await there.getByText("It is connected directly.").waitFor({ timeout: 90_000 });
  await given(laptop, GOAL);
  await messages(laptop).getByText("Opened", { exact: true }).waitFor({ timeout: 90_000 });
  await desk.go("/");
  await desk.page.getByRole("article", { name: "Approval" }).getByText("summary.md").first().waitFor({ timeout: 90_000 });
  expect(desk.has("summary.md"), "nothing is done before a yes of the person there").toBe(false);
  expect(await messages(laptop).getByText(SUMMARY).count()).toBe(0);
  await desk.approve();
  await expect.poll(() => desk.has("summary.md")).toBe(true);
  expect(readFileSync(join(desk.folder, "summary.md"), "utf8")).toBe("Two letters.\n");
  await messages(laptop).getByRole("group", { name: "Answer of desk" }).getByText(SUMMARY).waitFor({ timeout: 90_000 });
  await soundPicture(laptop.page, "machines-answered");
  await desk.go("/machines");
  const came = messages(desk).getByRole("article", { name: "From laptop" });
  await came.getByText(GOAL, { exact: true }).waitFor();
  await came.getByRole("link", { name: "Task" }).click();
  await desk.page.getByText(/Started at another machine of yours/).waitFor();
}), 900_000);

test("what one machine asks is answered at the other, with its own passphrase, once a person let it", async () => {
  const there = machine(desk, "laptop");
  await desk.go("/machines");
  await there.getByRole("button", { name: "Let it approve" }).click();
  await soundPicture(desk.page, "machines-approver");
  await there.getByLabel("Approval passphrase").fill(desk.passphrase);
  await there.getByRole("button", { name: "It is the same: let it approve" }).click();
  await there.getByRole("button", { name: "Let it answer no more" }).waitFor({ timeout: 90_000 });
  await given(laptop, "Write a list of the letters");
  const asks = machine(laptop, "desk asks");
  await asks.getByText("list.md").first().waitFor({ timeout: 90_000 });
  await soundPicture(laptop.page, "machines-asked");
  await laptop.go("/");
  await laptop.page.getByText("1 question of your other machines waits for you.").waitFor();
  await laptop.page.getByRole("status").getByRole("link", { name: "Answer" }).click();
  await asks.getByLabel("Approval passphrase").fill(laptop.passphrase);
  await asks.getByRole("button", { name: "Approve", exact: true }).click();
  expect(desk.has("list.md"), "one press is no yes").toBe(false);
  await asks.getByRole("button", { name: "Approve on desk" }).click();
  await expect.poll(() => desk.has("list.md"), { timeout: 90_000 }).toBe(true);
  await asks.waitFor({ state: "detached", timeout: 90_000 });
  await messages(laptop).getByText("The list stands in list.md.").waitFor({ timeout: 90_000 });
}, 900_000);

test("a machine whose process ended is told as not connected, and what is sent to it then is not said to have come", async () => {
  await desk.end("SIGKILL");
  const there = machine(laptop, "desk");
  await there.getByText("It is not connected directly.").waitFor({ timeout: 90_000 });
  await there.getByText("Heard, not connected").waitFor();
  expect(await there.getByText("Here", { exact: true }).count()).toBe(0);
  await given(laptop, "Another summary");
  const row = messages(laptop).locator("li").filter({ hasText: "Another summary" });
  await row.getByText(/The other machine has not opened it yet|No relay has said that it has it/).waitFor();
  await there.getByText(/1 message for it was not opened yet/).waitFor({ timeout: 90_000 });
  await soundPicture(laptop.page, "machines-gone");
  const loaded = laptop.page.waitForEvent("download");
  await button(laptop, "Download what waits").click();
  const file = join(laptop.dir, "carried.jsonl");
  await (await loaded).saveAs(file);
  expect(readFileSync(file, "utf8"), "what is carried can be read by nobody on the way").not.toContain("Another summary");
}, 540_000);

test("a machine is withdrawn once its meaning was read, and what waited for it never comes", async () => {
  const there = machine(laptop, "desk");
  await there.getByRole("button", { name: "Withdraw", exact: true }).click();
  await soundPicture(laptop.page, "machines-withdraw");
  await there.getByRole("button", { name: "Withdraw desk" }).click();
  await laptop.page.getByText("1 machine withdrawn").waitFor();
  await messages(laptop).getByText("It will never come: the other machine was withdrawn.").waitFor({ timeout: 90_000 });
  expect(laptop.complaints).toEqual([]);
});
