// The interface in Chromium over `hermit serve`, as a person without a display would use it.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { part } from "../../ui/verifier/test/conforms";
import { conforms, pictures } from "./kept";
import { World } from "./world";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const world = new World();
let link = "";

interface Finding { id: string; impact: string | null; nodes: { html: string }[] }

/** What axe finds that is serious or critical on the screen as it stands, colours included. */
async function serious(): Promise<string[]> {
  // A colour on its way to another is neither: what ends by itself has ended first.
  await world.page.evaluate(() => {
    const ends = (one: Animation) => Number.isFinite(Number(one.effect?.getComputedTiming().endTime));
    return Promise.allSettled(document.getAnimations().filter(ends).map((one) => one.finished)).then(() => undefined);
  });
  // Evaluated through the debugger, which no content policy of the page stands in the way of.
  await world.page.evaluate(axe);
  const found = (await world.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as { violations: Finding[] };
  return found.violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`));
}

const settled = async () => {
  await world.page.waitForFunction(() => document.querySelector("[aria-label^='Reading ']") === null);
};

beforeAll(async () => {
  world.keys();
  for (const at of [1, 2, 3]) world.file(`IMG_000${at}.jpg`, `photo ${at}\n`);
  world.file("notes.txt", "notes\n");
  await world.ui();
  world.hermit("run", "--playbook", "tidy", "--workspace", world.folder, "--title", "Tidy the downloads", "--no-input");
  link = await world.serve();
  await world.open(link);
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
});

afterAll(() => world.close());

test("the token is gone from the address, and the link opens nothing a second time", async () => {
  expect(world.page.url()).not.toContain("token");
  const other = await world.browser.newContext();
  const page = await other.newPage();
  await page.goto(link);
  await page.getByText("This browser has no session with the host.").waitFor();
  await other.close();
  // In the tab that has a session it does no harm: that goes on, where it was.
  await world.go("/tasks");
  await world.page.getByRole("table", { name: "Tasks" }).waitFor();
  await world.reopen(link);
  await world.page.getByRole("table", { name: "Tasks" }).waitFor();
  expect(world.page.url()).toBe(new URL("/#/tasks", link).href);
  await world.go("/");
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
});

test("a server at another port of this machine is sent nothing that opens the host, and its page neither", async () => {
  const heard: string[] = [];
  const other = createServer((request, answer) => {
    heard.push(JSON.stringify(request.headers));
    answer.setHeader("content-type", "text/html");
    answer.end("<!doctype html><title>other</title>");
  });
  await new Promise<void>((listens) => other.listen(0, "127.0.0.1", listens));
  const { port } = other.address() as AddressInfo;
  const session = await world.page.evaluate(() => sessionStorage.getItem("hermit-session") ?? "");
  expect(session).toMatch(/^[0-9a-f]{64}$/);
  expect(await world.page.context().cookies()).toEqual([]);
  const page = await world.page.context().newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  const host = new URL(world.page.url()).origin;
  const tried = await page.evaluate(async (to) => {
    const status = async (init: RequestInit) => fetch(`${to}/api/host.status`, init).then((answer) => answer.status, () => 0);
    return {
      kept: [sessionStorage.length, localStorage.length, document.cookie.length],
      asked: [await status({ method: "POST", credentials: "include", body: "{}" }), await status({ method: "POST", headers: { "x-hermit-session": "0" }, body: "{}" })],
    };
  }, host);
  expect(tried).toEqual({ kept: [0, 0, 0], asked: [0, 0] });
  await page.close();
  expect(heard.length).toBeGreaterThan(0);
  expect(heard.join("\n")).not.toContain(session);
  await new Promise((closed) => other.close(closed));
});

test("another tab of the host has the session of the first, and reads no file of the machine", async () => {
  const tab = await world.page.context().newPage();
  await tab.goto(new URL("/", world.page.url()).href);
  await tab.getByRole("heading", { name: "Inbox" }).waitFor();
  const refused = await tab.evaluate(async () => {
    const headers = { "content-type": "application/json", "x-hermit-session": sessionStorage.getItem("hermit-session") ?? "" };
    const ask = async (name: string, params: object) => (await fetch(`/api/${name}`, { method: "POST", headers, body: JSON.stringify(params) })).status;
    return [
      await ask("artifacts.ingest", { path: "/etc/hostname" }), await ask("store.backup", { to: "/tmp/copy" }), await ask("gate.export", { path: "/tmp/gate" }),
      await ask("proof.verify", { path: "/etc/hostname" }), await ask("gate.boot", {}), await ask("task.settle", { task: "x", result: "failed", note: "x" }),
    ];
  });
  expect(refused).toEqual([403, 403, 403, 403, 403, 403]);
  await tab.close();
});

test("after a halt a page boots with the passphrase and not without", async () => {
  // Asked once, and where the frame has no room too.
  await world.page.setViewportSize({ width: 390, height: 844 });
  await world.page.getByRole("button", { name: "Halt all work" }).click();
  await world.page.getByRole("alertdialog").getByRole("button", { name: "Cancel" }).click();
  await world.page.setViewportSize({ width: 1280, height: 800 });
  await world.page.keyboard.press("Control+k");
  await world.page.getByRole("combobox", { name: "Find or do" }).fill("halt");
  await world.page.keyboard.press("Enter");
  // What was in front before the question does not take the keyboard back from it.
  await world.page.waitForFunction(() => document.activeElement?.textContent === "Cancel");
  await world.page.keyboard.press("Escape");
  expect(world.hermit("gate", "state", "--json")).toContain('"halted": false');
  await world.page.getByRole("button", { name: "Halt" }).click();
  await world.page.getByRole("alertdialog").getByRole("button", { name: "Halt" }).click();
  const words = world.page.getByLabel("Approval passphrase").first();
  await words.fill(world.passphrase);
  await world.page.getByRole("button", { name: "Resume work" }).click();
  await world.page.getByRole("button", { name: "Halt" }).waitFor();
  expect(world.hermit("gate", "state", "--json")).toContain('"halted": false');
});

test("the card that waits shows what would move, and no key that is pressed allows it", conforms("HK-21-4", async () => {
  const card = world.page.getByRole("article", { name: "Approval" });
  await card.getByText("Images/IMG_0001.jpg", { exact: true }).waitFor();
  const allow = card.getByRole("button", { name: "Approve with passphrase" });
  await allow.waitFor();
  for (const key of ["Enter", "y", "a"]) await world.page.keyboard.press(key);
  await allow.focus();
  await world.page.keyboard.press("Enter");
  expect(await card.getByLabel("Approval passphrase").count()).toBe(0);
  expect(await card.getByText(/Asked/).count()).toBe(1);
  expect(world.has("IMG_0001.jpg")).toBe(true);
}));

for (const theme of ["light", "dark"] as const) {
  test(`every screen is without serious findings, colours included, in ${theme}`, async () => {
    await world.page.evaluate((to) => { document.documentElement.dataset["theme"] = to; }, theme);
    const tasks = JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string }[] };
    const task = tasks.rows[0]?.task_id ?? "";
    const screens = ["/", "/conversations", "/tasks", "/tasks/new", `/task/${task}`, `/lineage?of=${task}`, "/knowledge", "/policy", "/tools", "/gateways", "/machines", "/proof", "/settings", "/first"];
    for (const screen of screens) {
      await world.go(screen);
      await world.page.locator("#main").waitFor();
      await settled();
      expect(await serious(), `${screen} in ${theme}`).toEqual([]);
    }
  });
}

test("places are reached with the keyboard alone", async () => {
  await world.go("/");
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.page.keyboard.press("g");
  await world.page.keyboard.press("t");
  await world.page.getByRole("heading", { name: "Tasks", exact: true }).waitFor();
  await world.page.keyboard.press("Control+k");
  await world.page.getByRole("combobox", { name: "Find or do" }).fill("tidy the");
  await world.page.getByRole("option", { name: /Tidy the downloads/ }).waitFor();
  await world.page.keyboard.press("Enter");
  await world.page.getByRole("heading", { name: "Timeline" }).waitFor();
});

test("a no with words reaches the proposer, and the screen follows without being asked", conforms(part("HK-21-1"), async () => {
  await world.go("/");
  const card = world.page.getByRole("article", { name: "Approval" });
  const reason = card.getByLabel("Reason for denying (the agent sees it)");
  await reason.fill("leave the photos");
  await world.page.reload();
  expect(await reason.inputValue(), "what was typed outlives a reload").toBe("leave the photos");
  await card.getByRole("button", { name: "Deny with reason" }).click();
  await world.page.getByText(/Nothing waits for you/).first().waitFor();
  expect(world.has("IMG_0001.jpg")).toBe(true);
  expect(world.hermit("approvals", "list", "--json")).not.toContain('"status": "pending"');
}));

test("a task begun in the browser runs in the host and asks", async () => {
  await world.go("/tasks/new");
  await world.page.getByLabel("Folder to work in").fill(world.folder);
  await world.page.getByRole("radio", { name: /^Inventory/ }).click();
  await world.page.getByRole("button", { name: "Begin" }).click();
  await world.page.getByText("Waiting for you", { exact: true }).first().waitFor();
  await world.page.getByText("Policy: ask", { exact: false }).waitFor();
});

test("on a phone a link in a paragraph is as high as a finger needs, and its line as high as the others", async () => {
  await world.page.setViewportSize({ width: 390, height: 844 });
  const measured = async () => {
    await world.go("/tasks/new");
    const again = world.page.getByRole("button", { name: "look again", exact: true });
    await again.waitFor();
    return again.evaluate((button) => {
      const words = button.parentElement as HTMLElement;
      const line = Number.parseFloat(getComputedStyle(words).lineHeight);
      const tops: number[] = [];
      const texts = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
      while (texts.nextNode() !== null) {
        const range = document.createRange();
        range.selectNodeContents(texts.currentNode);
        for (const box of Array.from(range.getClientRects())) if (tops.every((top) => Math.abs(top - box.top) > line / 2)) tops.push(box.top);
      }
      const height = (of: Element) => of.getBoundingClientRect().height;
      return { isInParagraph: button.closest("p") !== null, line, lines: tops.length, height: height(words), hit: height(button) };
    });
  };
  // Whatever becomes of it, the tests behind it have the window that they had.
  const found = await measured().finally(() => world.page.setViewportSize({ width: 1280, height: 800 }));
  const said = JSON.stringify(found);
  expect(found.isInParagraph, said).toBe(true);
  expect(found.lines, said).toBeGreaterThan(1);
  expect(found.hit, said).toBeGreaterThanOrEqual(44);
  expect(Math.abs(found.height - found.lines * found.line), said).toBeLessThan(found.line / 4);
});

test("a goal names its files with @, and a folder is completed or taken from recent ones", async () => {
  await world.go("/tasks/new");
  const folder = world.page.getByLabel("Folder to work in");
  await folder.fill(world.folder.slice(0, -2));
  await expect.poll(() => world.page.locator("datalist option").evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value))).toContain(world.folder);
  await world.page.getByRole("group", { name: "Recent folders" }).getByRole("button", { name: "downloads" }).click();
  await expect.poll(() => folder.inputValue()).toBe(world.folder);
  const goal = world.page.getByLabel("Goal", { exact: true });
  await goal.fill("");
  await goal.pressSequentially("sum up @notes");
  await world.page.getByRole("option", { name: "notes.txt" }).waitFor();
  expect(await serious()).toEqual([]);
  await goal.press("Enter");
  await expect.poll(() => goal.inputValue()).toBe("sum up `notes.txt` ");
  await world.page.getByRole("radio", { name: /^Another model/ }).click();
  await world.page.getByLabel("Address").fill("openai:http://127.0.0.1:1/v1#none");
  expect(await serious()).toEqual([]);
});

test("the path of a file is found by its name, as a person knows it", async () => {
  await world.go("/lineage");
  await world.page.getByLabel(/File, line of a file/).fill("nothing-of-the-kind.txt");
  await world.page.getByLabel(/File, line of a file/).press("Enter");
  await world.page.getByText(/No change of it is on record|Reading the file failed/).first().waitFor();
  expect(await serious()).toEqual([]);
});

test("a yes takes the passphrase, in this browser and for this card, and no program can give it", async () => {
  await world.go("/");
  const card = world.page.getByRole("article", { name: "Approval" });
  await card.getByRole("button", { name: "Approve with passphrase" }).click();
  const shown = JSON.parse(world.hermit("approvals", "list", "--json")) as { rows: { approval_id: string; risk: string }[] };
  const { approval_id: id, risk } = shown.rows[0] ?? { approval_id: "", risk: "" };
  const token = world.token();
  for (const path of ["card", "allow"]) {
    const answer = await fetch(new URL(`/api/session/${path}`, world.page.url()), {
      method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ approval: id, ticket: "x", packet_sha256: "x", passphrase: world.passphrase }),
    });
    expect(answer.status).toBe(403);
  }
  if (risk === "high" || risk === "critical") await card.getByLabel(new RegExp(`Type ${risk}`)).fill(risk);
  const words = card.getByLabel("Approval passphrase");
  await words.fill("not the passphrase");
  await words.press("Enter");
  const allow = card.getByRole("button", { name: "Approve" });
  await allow.and(world.page.locator(":not([aria-disabled])")).click();
  await card.getByText(/passphrase/i).filter({ hasText: /is not the approval passphrase/i }).first().waitFor();
  expect(world.hermit("approvals", "list", "--json")).toContain(id);
  expect(await serious()).toEqual([]);
  await words.fill(world.passphrase);
  await allow.and(world.page.locator(":not([aria-disabled])")).click();
  await world.page.getByText(/Nothing waits for you/).first().waitFor();
  const decided = JSON.parse(world.hermit("approvals", "show", id, "--json")) as { row: { status: string; surface: string } };
  expect([decided.row.status, decided.row.surface]).toEqual(["granted", "browser"]);
});

/** Goes on with Tab until what has the focus is what is looked for: no pointer is used. */
async function tabTo(what: string, is: string): Promise<void> {
  for (let turn = 0; turn < 120; turn += 1) {
    if (await world.page.evaluate(`((at) => ${is})(document.activeElement)`) === true) return;
    await world.page.keyboard.press("Tab");
  }
  throw new Error(`no Tab leads to ${what}`);
}

/** Holds the space bar on what has the focus until `until` is there. */
async function holdSpace(until: () => Promise<unknown>): Promise<void> {
  await world.page.keyboard.down(" ");
  await until();
  await world.page.keyboard.up(" ");
}

const waiting = () => (JSON.parse(world.hermit("approvals", "list", "--json")) as { rows: { approval_id: string; task_id: string; risk: string }[] }).rows;
const always = () => (JSON.parse(world.hermit("grants", "list", "--json")) as { standing: { grant_id: string; words: string; uses: number; surface: string }[] }).standing;

test("what is allowed from now on is chosen, read, and signed with the passphrase, by keyboard alone", async () => {
  await expect.poll(() => existsSync(join(world.folder, "INVENTORY.csv"))).toBe(true);
  rmSync(join(world.folder, "INVENTORY.csv"));
  world.hermit("run", "--playbook", "inventory", "--workspace", world.folder, "--title", "Inventory once", "--no-input");
  const asked = waiting()[0];
  if (asked === undefined) throw new Error("nothing waits");
  await world.go("/");
  const card = world.page.getByRole("article", { name: "Approval" });
  await card.getByText("Create", { exact: true }).first().waitFor();
  await tabTo("how far", "at?.textContent?.startsWith('Also similar')");
  await world.page.keyboard.press("Space");
  await card.getByRole("radiogroup", { name: /narrowest first/ }).getByRole("radio").first().waitFor();
  await tabTo("the narrowest", "at?.getAttribute('role') === 'radio' && at.closest('[aria-label*=\"narrowest\"]') !== null");
  const sentence = await world.page.evaluate(() => document.activeElement?.textContent ?? "");
  await world.page.keyboard.press("Space");
  await card.getByText("It would have answered").waitFor();
  await tabTo("the yes", "at?.textContent === 'Approve from now on'");
  await world.page.keyboard.press("Enter");
  expect(await card.getByLabel("Approval passphrase").count()).toBe(0);
  await world.page.keyboard.press("Space");
  if (asked.risk === "high") {
    await tabTo("the word", "at?.tagName === 'INPUT' && at.type === 'text' && at.closest('footer section:last-child') !== null");
    await world.page.keyboard.type("high");
  }
  await card.getByLabel("Approval passphrase").waitFor();
  await tabTo("the passphrase", "at?.type === 'password'");
  await world.page.keyboard.type(world.passphrase);
  await world.page.keyboard.press("Enter");
  const hold = card.getByRole("button", { name: "Hold to approve from now on" });
  await hold.and(world.page.locator(":not([aria-disabled])")).waitFor();
  await tabTo("the hold", "at?.textContent?.includes('Hold to approve')");
  await world.page.keyboard.press("Enter");
  await world.page.keyboard.press("Space");
  expect(always()).toEqual([]);
  expect(await serious()).toEqual([]);
  await world.page.screenshot({ path: join(pictures(), "browser-always.png") });
  await holdSpace(() => world.page.getByText(/Nothing waits for you/).first().waitFor());
  const grants = always();
  expect(grants.map((grant) => [grant.words.toLowerCase(), grant.surface])).toEqual([[sentence.toLowerCase(), "browser"]]);
  // Also similar is done without a question, and its receipt says under what.
  await expect.poll(() => existsSync(join(world.folder, "INVENTORY.csv"))).toBe(true);
  rmSync(join(world.folder, "INVENTORY.csv"));
  world.hermit("run", "--playbook", "inventory", "--workspace", world.folder, "--title", "Inventory again", "--no-input");
  expect(waiting()).toEqual([]);
  const again = (JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string; title: string }[] }).rows.find((row) => row.title === "Inventory again");
  await world.go(`/task/${again?.task_id ?? ""}`);
  await world.page.getByText(/A standing grant, given by you in the browser: create/i).waitFor();
  await world.page.getByText(/\d+ of \d+ uses left/).waitFor();
});

test("a denial is overridden with a reason, a word and the passphrase, and the act is then asked about; undone, tried again, cancelled, taken back", conforms("HK-10.6-4", async () => {
  world.hermit("run", "--playbook", "tidy", "--workspace", world.folder, "--title", "Tidy, barred", "--profile", "destructive_denied", "--no-input");
  const barred = () => (JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string; title: string; refused_by: string | null }[] }).rows.find((row) => row.title === "Tidy, barred");
  await expect.poll(() => barred()?.refused_by).toBe("policy");
  await world.go(`/task/${barred()?.task_id ?? ""}`);
  await world.page.getByText("Denied by policy").first().waitFor();
  await world.page.getByRole("button", { name: "Override", exact: true }).click();
  await world.page.getByLabel("Why you override it").fill("the folder is mine");
  await world.page.getByRole("button", { name: "Show what I would sign" }).click();
  await world.page.getByText(/OVERRIDE policy/).waitFor();
  await world.page.getByLabel(/Type override to sign it/).fill("override");
  await world.page.getByLabel("Approval passphrase").fill(world.passphrase);
  const hold = world.page.getByRole("button", { name: "Hold to override" });
  await hold.and(world.page.locator(":not([aria-disabled])")).waitFor();
  expect(await serious()).toEqual([]);
  await world.page.screenshot({ path: join(pictures(), "browser-override.png") });
  await hold.focus();
  await holdSpace(() => world.page.getByText("When this action is proposed again you are asked", { exact: false }).waitFor());
  expect(waiting()).toEqual([]);
  expect(always().length).toBe(2);
  // Tried again, it is asked about at critical risk; cancelled, nothing of it was done.
  await world.page.getByRole("button", { name: "Retry" }).click();
  await expect.poll(() => waiting()[0]?.risk, { timeout: 90_000 }).toBe("critical");
  await world.page.getByText("Waiting for you", { exact: true }).first().waitFor();
  await world.page.getByRole("button", { name: "Cancel", exact: true }).click();
  await world.page.getByRole("button", { name: "Cancel the task" }).click();
  await world.page.getByText("Cancelled", { exact: true }).first().waitFor();
  expect(world.has("notes.txt")).toBe(true);
  // What was done is undone: that is asked about like everything else, and here it is not wanted.
  const done = (JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string; title: string }[] }).rows.find((row) => row.title === "Inventory again");
  await world.go(`/task/${done?.task_id ?? ""}`);
  await world.page.getByRole("button", { name: "Undo", exact: true }).click();
  await world.page.getByRole("button", { name: "Ask for this undo" }).click();
  await expect.poll(() => waiting().length, { timeout: 90_000 }).toBe(1);
  await world.go("/");
  await world.page.getByRole("article", { name: "Approval" }).getByRole("button", { name: "Deny", exact: true }).click();
  await world.page.getByText(/Nothing waits for you/).first().waitFor();
  // What lasts is taken back where it is listed.
  await world.go("/policy?tab=grants");
  for (let left = 2; left > 0; left -= 1) {
    await world.page.getByRole("button", { name: "Revoke" }).first().click();
    await expect.poll(() => always().length).toBe(left - 1);
  }
  await world.page.getByText("No standing approvals").waitFor();
}));

test("what is said while the host is gone is that it is gone, and it comes back by itself", async () => {
  await world.go("/tasks");
  await world.page.getByRole("table", { name: "Tasks" }).waitFor();
  await world.end("SIGKILL");
  await world.page.getByText("Not live, trying again").waitFor();
  expect(await world.page.getByText("Tidy the downloads").count()).toBeGreaterThan(0);
  await world.reopen(await world.serve());
  await world.page.getByRole("table", { name: "Tasks" }).waitFor();
  await world.page.getByText("Not live, trying again").waitFor({ state: "detached" });
});

test("after the host was started anew one link brings every tab back, where it is and with what was typed", async () => {
  const context = world.page.context();
  const open = async (path: string) => {
    const tab = await context.newPage();
    await tab.goto(new URL(`/#${path}`, link).href);
    await tab.locator("#main").waitFor();
    return tab;
  };
  const [writes, lists, loads] = [await open("/tasks/new"), await open("/tasks"), await open("/tasks")];
  await writes.getByLabel("Goal", { exact: true }).fill("half a thou");
  await lists.getByRole("table", { name: "Tasks" }).waitFor();
  // Gone where the page is loaded anew.
  for (const tab of [writes, lists]) await tab.evaluate(() => { (window as unknown as { stays: boolean }).stays = true; });
  await world.end("SIGKILL");
  for (const tab of [writes, lists, loads]) await tab.getByText("Not live, trying again").waitFor();
  const next = await world.serve();
  for (const tab of [writes, lists, loads]) await tab.getByText("session has ended", { exact: false }).waitFor();
  await loads.getByRole("button", { name: "Load again" }).click();
  await loads.getByText("This browser has no session with the host.").waitFor();
  await world.reopen(next);
  for (const tab of [writes, lists]) {
    await tab.getByText("session has ended", { exact: false }).waitFor({ state: "detached" });
    await tab.getByText(/Not live|Not connected/).first().waitFor({ state: "detached" });
    expect(await tab.evaluate(() => (window as unknown as { stays?: boolean }).stays)).toBe(true);
  }
  expect(await writes.getByLabel("Goal", { exact: true }).inputValue()).toBe("half a thou");
  // The one that stood before the door comes in by itself, where it was.
  await loads.getByRole("table", { name: "Tasks" }).waitFor();
  expect(new URL(loads.url()).hash).toBe("#/tasks");
  // And so does one that nobody told: it asks.
  await lists.evaluate(() => sessionStorage.setItem("hermit-session", "0".repeat(64)));
  await lists.reload();
  await lists.getByRole("table", { name: "Tasks" }).waitFor();
  for (const tab of [writes, lists, loads]) await tab.close();
});

test("the ledger is checked from the screen, and is whole", async () => {
  await world.go("/proof");
  await world.page.getByRole("button", { name: "Ledger", exact: true }).click();
  await world.page.getByRole("button", { name: "Check the whole ledger" }).click();
  await world.page.getByText("Chain intact").waitFor();
});

test("nothing was blocked by the content policy, and nothing broke", () => {
  expect(world.complaints).toEqual([]);
});
