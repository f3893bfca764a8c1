// A store in which things have happened: every screen is kept as a picture, in both themes and three sizes; the nine
// questions are walked; a stream that breaks off goes on behind its last event.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { part } from "../../ui/verifier/test/conforms";
import { conforms, pictures } from "./kept";
import { World } from "./world";

const world = new World();
const SIZES = [{ width: 1280, height: 800 }, { width: 1920, height: 1080 }, { width: 390, height: 844 }] as const;
const NARROW = 760;
interface Row { task_id: string; title: string; status: string; receipts: number }

const tasks = () => (JSON.parse(world.hermit("task", "list", "--json")) as { rows: Row[] }).rows;
const waits = () => (JSON.parse(world.hermit("approvals", "list", "--json")) as { rows: { approval_id: string; task_id: string }[] }).rows;
const settled = () => world.page.waitForFunction(() => document.querySelector("[aria-label^='Reading ']") === null);

/** What a person has in a folder. */
function fill(name: string, files: Record<string, string>): string {
  const folder = join(world.dir, name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

const NOTES = {
  "2026-03 offer.md": "# Offer\n\nTwelve desks, delivered by May.\n\n- price: 4,200\n- valid for 30 days\n",
  "2026-04 order.md": "# Order\n\nTen desks, as offered in March.\n",
  "copy of 2026-04 order.md": "# Order\n\nTen desks, as offered in March.\n",
  "rates.csv": "country,rate\nAT,20\nDE,19\nFR,20\n",
};
const DOWNLOADS = {
  "IMG_0412.jpg": "a photo\n", "IMG_0413.jpg": "another photo\n", "invoice-1180.pdf": "an invoice\n", "invoice-1181.pdf": "the next invoice\n",
  "talk.mp3": "a talk\n", "budget.xlsx": "a budget\n", "old-backup.zip": "an archive\n", "letter.txt": "dear you\n",
};

/** Allows what waits, as the page does it: a ticket for the card, the arming delay, the passphrase. */
async function allow(approval: string): Promise<void> {
  const status = await world.page.evaluate(async ([id, passphrase]) => {
    const post = async (path: string, body: object) => fetch(`/api/session/${path}`, { method: "POST", headers: { "content-type": "application/json", "x-hermit-session": sessionStorage.getItem("hermit-session") ?? "" }, body: JSON.stringify(body) });
    const seat = (await (await post("card", { approval: id })).json()) as { ticket: string; packet_sha256: string; arms_in: number; word: string | null };
    await new Promise((armed) => setTimeout(armed, seat.arms_in + 50));
    const { ticket, packet_sha256, word } = seat;
    return (await post("allow", { ticket, packet_sha256, passphrase, ...(word === null ? {} : { word }) })).status;
  }, [approval, world.passphrase] as const);
  expect(status).toBe(200);
}

const run = (...words: string[]) => world.hermit("run", "--no-input", ...words);

/** Waits for what comes by itself. */
async function until<T>(what: string, look: () => T | undefined): Promise<T> {
  for (const end = Date.now() + 90_000; Date.now() < end;) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((next) => setTimeout(next, 150));
  }
  throw new Error(`it never came that ${what}`);
}

const ended = (title: string) => until(`\`${title}\` has ended`, () => tasks().find((row) => row.title === title && row.status === "completed"));

beforeAll(async () => {
  world.keys();
  await world.ui();
  await world.open(await world.serve());
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  const downloads = fill("Downloads", DOWNLOADS);
  const notes = fill("Notes", NOTES);
  run("--playbook", "tidy", "--workspace", downloads, "--title", "Tidy the downloads");
  run("--playbook", "inventory", "--workspace", notes, "--title", "Inventory of the notes");
  for (const { approval_id } of waits()) await allow(approval_id);
  await ended("Tidy the downloads");
  await ended("Inventory of the notes");
  // One that policy refuses, one that a person refuses, and two that wait.
  run("--playbook", "tidy", "--workspace", notes, "--title", "Sort the notes", "--profile", "destructive_denied");
  run("--playbook", "tidy", "--workspace", notes, "--title", "Sort the notes by kind");
  for (const { approval_id } of waits()) world.hermit("approvals", "deny", approval_id, "--feedback", "leave the notes where they are");
  run("--playbook", "duplicates", "--workspace", notes, "--title", "Find what is there twice");
  run("--playbook", "tidy", "--workspace", fill("Desk", { "screenshot 1.png": "a picture\n", "minutes.docx": "what was said\n" }), "--title", "Clear the desk");
  await until("something waits", () => waits()[0]);
});

afterAll(() => world.close());

test("every screen is kept as a picture, in both themes and three sizes, and none of them scrolls sideways", async () => {
  const done = await ended("Tidy the downloads");
  const receipt = (JSON.parse(world.hermit("receipts", "list", "--task", done.task_id, "--json")) as { rows: { receipt_id: string; class: string }[] }).rows.find((row) => row.class === "tool_execution");
  const refused = tasks().find((row) => row.title === "Sort the notes");
  const screens: Record<string, string> = {
    inbox: "/", card: `/?at=${waits()[0]?.approval_id ?? ""}`, tasks: "/tasks", new: "/tasks/new", task: `/task/${done.task_id}?see=${receipt?.receipt_id ?? ""}`, refused: `/task/${refused?.task_id ?? ""}`,
    waiting: `/task/${waits()[0]?.task_id ?? ""}`, lineage: `/lineage?of=${receipt?.receipt_id ?? ""}`, knowledge: "/knowledge", policy: "/policy", tools: "/tools", proof: `/proof?task=${done.task_id}`,
    settings: "/settings", first: "/first", missing: "/nowhere",
  };
  for (const theme of ["light", "dark"] as const) {
    await world.page.evaluate((to) => { document.documentElement.dataset["theme"] = to; }, theme);
    for (const size of SIZES) {
      await world.page.setViewportSize(size);
      for (const [name, path, button] of [["board", "/tasks", "Board"], ["asked", "/policy", "History"]] as const) {
        await world.go(path);
        await world.page.getByRole("button", { name: button, exact: true }).click();
        await settled();
        await world.page.waitForTimeout(120);
        await world.page.screenshot({ path: join(pictures(), `${name}-${theme}-${size.width}.png`) });
        await world.go("/settings");
        await settled();
      }
      for (const [name, path] of Object.entries(screens)) {
        await world.go(path);
        await world.page.locator(name === "missing" ? "h1, h2" : "#main").first().waitFor();
        await settled();
        await world.page.waitForTimeout(name === "lineage" ? 400 : 120);
        await world.page.screenshot({ path: join(pictures(), `${name}-${theme}-${size.width}.png`) });
        const wide = await world.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(wide, `${name} at ${size.width}`).toBeLessThanOrEqual(0);
        if (name === "card" && size.width < NARROW) await approvable();
      }
    }
  }
  await world.page.setViewportSize(SIZES[0]);
}, 720_000);

/** On a phone a card is read and answered: its changes and its button are there, and within the page. */
async function approvable(): Promise<void> {
  const card = world.page.getByRole("article", { name: "Approval" });
  for (const part of [card.getByText("Exactly what would change"), card.getByRole("button", { name: "Approve with passphrase" }), card.getByRole("button", { name: "Deny", exact: true })]) {
    await part.scrollIntoViewIfNeeded();
    const box = await part.boundingBox();
    expect(box === null || box.x < 0 || box.x + box.width > 390, "out of the page").toBe(false);
  }
}

const QUESTIONS = [
  "What", "Why", "On whose authority", "On what evidence", "Sent to the model", "What was blocked", "Result", "Can it be undone", "Can others verify",
] as const;

test("the nine questions are each answered within two clicks from a task", conforms("HK-27-14", "HK-21-14", "HK-21-15", "HK-21-16", part("HK-21-17"), part("HK-21-18"), "HK-21-19", "HK-21-20", "HK-21-21", async () => {
  const done = await ended("Tidy the downloads");
  await world.go(`/task/${done.task_id}`);
  await world.page.getByRole("heading", { name: "Timeline" }).waitFor();
  await settled();
  // From the task: its receipt, which is one click where it does not stand open already.
  let clicks = 0;
  const asked = world.page.getByText("What", { exact: true });
  if (await asked.count() === 0) {
    clicks += 1;
    await world.page.getByRole("button", { name: /receipt/i }).first().click();
  }
  await asked.first().waitFor();
  const answer = (question: string) => world.page.locator("dl > div").filter({ has: world.page.getByText(question, { exact: true }) }).first().locator("dd");
  await expect.poll(() => answer("Why").innerText(), { timeout: 90_000 }).not.toBe("…");
  const said: Record<string, string> = {};
  for (const question of QUESTIONS) said[question] = (await answer(question).innerText()).replaceAll(/\s+/g, " ").trim();
  expect(said["What"]).toMatch(/move/i);
  expect(said["Why"]).toMatch(/tidy|sort/i);
  expect(said["On whose authority"]).toMatch(/^You/);
  expect(said["On what evidence"]).toMatch(/\d+ things?/);
  expect(said["Sent to the model"]).toBe("Nothing: the playbook tidy proposed it");
  expect(said["What was blocked"]).toBe("Nothing");
  expect(said["Result"]).toMatch(/^Moved \d+ files$/);
  expect(said["Can it be undone"]).toMatch(/reversible/i);
  expect(said["Can others verify"]).toBe("Signed, and the signature holds");
  // Behind an answer stands the thing itself, one click further.
  clicks += 1;
  await answer("On whose authority").getByRole("button", { name: "the card" }).click();
  await world.page.getByText("See the card as it was").waitFor();
  expect(clicks).toBeLessThanOrEqual(2);
}));

test("from a task lead ways to its lineage and to every pack that was sent, and its proof is exported for who has no Hermit", conforms("HK-10.6-2", "HK-10.6-3", "HK-21-6", "HK-21-7", async () => {
  const done = await ended("Tidy the downloads");
  await world.go(`/task/${done.task_id}`);
  await world.page.getByRole("button", { name: /^Next step of the playbook/ }).first().click();
  await world.page.getByRole("heading", { name: "Attempt 1, turn 1" }).waitFor();
  await world.page.getByRole("button", { name: "Exact bytes" }).click();
  await world.page.locator("pre").filter({ hasText: "task_contract" }).first().waitFor();
  const receipt = (JSON.parse(world.hermit("receipts", "list", "--task", done.task_id, "--json")) as { rows: { receipt_id: string; class: string }[] }).rows.find((row) => row.class === "tool_execution");
  await world.go(`/lineage?of=${receipt?.receipt_id ?? ""}`);
  const nodes = world.page.getByRole("region", { name: "Nodes" });
  for (const layer of ["Goal", "Context", "Approval", "Effect", "Receipt"]) await nodes.getByRole("cell", { name: layer, exact: true }).first().waitFor();
  await world.go(`/proof?task=${done.task_id}`);
  const file = join(world.dir, "proof.zip");
  // A page names no place of the machine: the proof comes as a download, and goes back as an upload.
  expect(await world.page.getByLabel("Save as").count()).toBe(0);
  const [saved] = await Promise.all([world.page.waitForEvent("download"), world.page.locator("#main").getByRole("button", { name: "Download", exact: true }).click()]);
  await saved.saveAs(file);
  await world.page.getByText("Downloaded as proof.zip").waitFor();
  const key = (JSON.parse(world.hermit("keys", "list", "--json")) as { keys: { purpose: string; keyid: string }[] }).keys.find((one) => one.purpose === "log");
  expect(world.verify(file, "--trust", key?.keyid ?? "")).toMatch(/valid/i);
  await world.page.getByRole("button", { name: "Verify", exact: true }).click();
  await world.page.getByLabel("Proof to check").setInputFiles(file);
  await world.page.getByLabel("Keys you have from its owner").fill(key?.keyid ?? "");
  await world.page.getByRole("button", { name: "Check it" }).click();
  await world.page.getByText("Valid", { exact: false }).first().waitFor();
}));

test("what is blocked is answered where it is asked: a task that policy refused says what and by which rule, one that waits says what and for whom", conforms("HK-21-18", async () => {
  const refused = tasks().find((row) => row.title === "Sort the notes");
  await world.go(`/task/${refused?.task_id ?? ""}`);
  await world.page.getByRole("heading", { name: "Timeline" }).waitFor();
  await settled();
  await world.page.getByText("Denied by policy: move 4 files").first().waitFor();
  await world.page.getByText(/^Nothing was done\. Rule destructive_denied\.\w+: The profile denies/).first().waitFor();
  const asks = tasks().find((row) => row.title === "Clear the desk");
  await world.go(`/task/${asks?.task_id ?? ""}`);
  await world.page.getByText("Waiting for you", { exact: true }).first().waitFor();
  await world.page.getByText("Asks to move 2 files").first().waitFor();
  await world.page.getByRole("link", { name: "Review", exact: true }).first().waitFor();
}));

test("a stream that breaks off in the middle goes on behind its last event, without a gap or a second time", async () => {
  const { task_id } = await ended("Tidy the downloads");
  const told = await world.page.evaluate(async (of) => {
    const own = { "x-hermit-session": sessionStorage.getItem("hermit-session") ?? "" };
    const page = (await (await fetch(`/v1/runs/${of}/events?limit=500`, { headers: own })).json()) as { events: { event_id: string; type?: string }[] };
    const ids: string[] = [];
    // Each time one connection, cut after a few events in the middle of what it says.
    for (let cut = 1; cut < 200; cut += 1) {
      const broken = new AbortController();
      const last = ids.at(-1);
      const headers: Record<string, string> = { ...own, accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) };
      const answer = await fetch(`/v1/runs/${of}/events`, { headers, signal: broken.signal });
      if (!answer.ok || answer.body === null) return { ids, all: [], why: `${answer.status}` };
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let [text, heard, isOver] = ["", 0, false];
      while (heard < 1 + (cut % 3)) {
        const piece = await reader.read();
        if (piece.done) { isOver = true; break; }
        text += piece.value;
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) {
          const id = /^id: ?(.+)$/m.exec(block)?.[1];
          if (id === undefined || heard >= 1 + (cut % 3)) continue;
          heard += 1;
          ids.push(id);
        }
      }
      broken.abort();
      if (isOver && heard === 0) break;
      if (ids.length >= page.events.length) break;
    }
    return { ids, all: page.events.map((event) => event.event_id), why: "" };
  }, task_id);
  expect(told.why).toBe("");
  expect(told.ids).toEqual(told.all);
  expect(told.ids.length).toBeGreaterThan(10);
});
