// A card accepted in part, in Chromium, against the built host: a file or a hunk is left out with words, the smaller card
// takes the place of the first, and one passphrase approves exactly what was chosen. The proof of it verifies.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pictures } from "./kept";
import { model } from "./model";
import { World } from "./world";

const world = new World();
const NAMES = ["IMG_1.jpg", "IMG_2.jpg", "letter.txt", "talk.mp3"];
const button = (name: string | RegExp) => world.page.getByRole("button", { name });
const card = () => world.page.getByRole("article", { name: "Approval" });
interface Row { approval_id: string; task_id: string; status: string; feedback: string | null; summary: string }
const rows = (status: string) => (JSON.parse(world.hermit("approvals", "list", "--status", status, "--json")) as { rows: Row[] }).rows;

beforeAll(async () => {
  world.keys();
  for (const name of NAMES) world.file(name, `${name}\n`);
  await world.ui();
  await world.open(await world.serve());
  world.hermit("run", "--no-input", "--playbook", "tidy", "--workspace", world.folder);
});

afterAll(() => world.close());

test("a file is left out, the smaller card comes by itself, and only what was chosen is done", async () => {
  const [whole] = rows("pending");
  await world.go(`/?at=${whole?.approval_id ?? ""}`);
  await button("Choose files").click();
  await world.page.getByRole("checkbox", { name: "Approve letter.txt" }).uncheck();
  await world.page.getByLabel(/Reason for leaving the rest out/).fill("I am writing it still");
  await button("Continue with 3").click();
  // Nothing is done by choosing; the card of the part asks.
  await card().getByText("3 to move").waitFor();
  expect(await card().getByText("letter.txt", { exact: true }).count()).toBe(0);
  expect(NAMES.every((name) => world.has(name))).toBe(true);
  const [part] = rows("pending");
  expect(part?.approval_id).not.toBe(whole?.approval_id);
  expect(rows("denied").map((row) => row.feedback)).toEqual(["I am writing it still (left out: \"letter.txt\")"]);

  await button("Approve with passphrase").click();
  await world.page.getByLabel("Approval passphrase").fill(world.passphrase);
  await button("Approve").click();
  await card().getByRole("link", { name: "Receipt" }).waitFor();
  await expect.poll(() => NAMES.filter((name) => world.has(name)), { timeout: 90_000 }).toEqual(["letter.txt"]);
  // The playbook proposes the file again, which a person has left out: nobody is asked twice.
  await expect.poll(() => (JSON.parse(world.hermit("task", "show", whole?.task_id ?? "", "--json")) as { row: { ended_at: number | null } }).row.ended_at, { timeout: 90_000 }).not.toBeNull();
  expect(rows("pending")).toEqual([]);

  const proof = join(world.dir, "part.zip");
  world.hermit("proof", "export", whole?.task_id ?? "", "-o", proof);
  const keys = JSON.parse(world.hermit("keys", "list", "--json")) as { keys: { purpose: string; keyid: string }[] };
  expect(world.verify(proof, "--trust", keys.keys.find((key) => key.purpose === "log")?.keyid ?? "")).toContain("valid");
  expect(world.complaints).toEqual([]);
});

test("a hunk of a text is left out on a phone, and the others are written", async () => {
  const lines = (changed: number[]) => Array.from({ length: 60 }, (_, at) => `${changed.includes(at + 1) ? "new " : ""}${at + 1}\n`).join("");
  world.file("letter.txt", lines([]));
  const wishes = await model([
    { tool: "read", arguments: { path: "letter.txt" } },
    { tool: "write", arguments: { path: "letter.txt", content: lines([3, 30, 55]) } },
    { tool: "done", arguments: { summary: "done" } },
  ]);
  world.hermit("run", "--no-input", "--goal", "improve the letter", "--workspace", world.folder, "--model", wishes.name);
  const [whole] = rows("pending");
  await world.page.setViewportSize({ width: 390, height: 844 });
  await world.go(`/?at=${whole?.approval_id ?? ""}`);
  await button("Choose hunks").click();
  const hunk = (nth: number) => world.page.getByRole("checkbox", { name: `Approve hunk ${nth} of 3 in letter.txt` });
  await hunk(2).uncheck();
  // A comment on a line goes along with what is denied, with its place.
  const file = world.page.getByRole("region", { name: "Replace letter.txt" });
  await file.getByRole("button", { name: "Comment on letter.txt:30", exact: true }).click();
  await world.page.keyboard.type("this one stays as it is");
  await world.page.screenshot({ path: join(pictures(), "hunks-390.png"), fullPage: true });
  const wide = await world.page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(390);
  await button("Continue with 1").click();
  // The card of the part looks much like the first; what is answered is the one that waits.
  await expect.poll(() => world.page.url(), { timeout: 90_000 }).not.toContain(whole?.approval_id);
  const [part] = rows("pending");
  await expect.poll(() => world.page.url(), { timeout: 90_000 }).toContain(part?.approval_id);
  await button("Approve with passphrase").click();
  await world.page.getByLabel("Approval passphrase").fill(world.passphrase);
  await button("Approve").click();
  await card().getByRole("link", { name: "Receipt" }).waitFor();
  await expect.poll(() => world.read("letter.txt"), { timeout: 90_000 }).toBe(lines([3, 55]));
  const told = rows("denied").find((row) => row.task_id === whole?.task_id)?.feedback;
  expect(told).toContain("hunk 2 of 3");
  expect(told).toContain("letter.txt:30: this one stays as it is");
  await expect.poll(() => wishes.asked.at(-1)).toContain("letter.txt:30: this one stays as it is");
  // The server is tested from the settings: the host asks it, and its model is a choice.
  await world.go("/settings");
  const form = world.page.getByRole("form", { name: "Test a model server" });
  await form.getByLabel("Address").fill(wishes.name.replace(/^openai:|#.*$/g, ""));
  await form.getByRole("button", { name: "Test" }).click();
  await world.page.getByText("It answers and offers 1 model.").waitFor();
  await world.page.getByText(/^Context 128,000,.*\(its server says so\)/).waitFor();
  expect(await world.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await wishes.end();
  await form.getByRole("button", { name: "Test" }).click();
  await world.page.getByText(/^Nothing answers at/).waitFor();
  await world.go(`/?at=${part?.approval_id ?? ""}`);
  expect(world.complaints).toEqual([]);
});

test("a line of what was written leads to the change that wrote it; the file and the words are downloaded", async () => {
  await world.page.setViewportSize({ width: 1280, height: 800 });
  await card().getByRole("link", { name: "Receipt" }).click();
  const file = world.page.getByRole("region", { name: "Replaced letter.txt" });
  const saved = async (pressed: Locator) => {
    const [download] = await Promise.all([world.page.waitForEvent("download"), pressed.click()]);
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
  };
  expect(await saved(file.getByRole("button", { name: "Download letter.txt" }))).toEqual({ name: "letter.txt", text: world.read("letter.txt") });
  const words = await saved(button("Transcript"));
  expect(words.name).toBe("improve-the-letter.md");
  expect(words.text).toContain("> improve the letter");
  await world.page.screenshot({ path: join(pictures(), "origin-1280.png") });
  await file.getByTitle("Where line 3 came from").click();
  await world.page.getByText("Written by the change below.").waitFor();
  await world.page.getByText("letter.txt:3").first().waitFor();
  expect(world.complaints).toEqual([]);
});

test("a file is left out of an undo, stays as it is, and is undone another time", async () => {
  await world.page.setViewportSize({ width: 1280, height: 800 });
  const moved = NAMES.filter((name) => !world.has(name));
  expect(moved.length).toBe(3);
  const receipts = JSON.parse(world.hermit("receipts", "list", "--json")) as { rows: { receipt_id: string; action_class: string }[] };
  const receipt = receipts.rows.find((row) => row.action_class === "delete_local")?.receipt_id ?? "";
  const undo = async (leave: string | null) => {
    world.hermit("rollback", "--no-input", receipt);
    const [asks] = rows("pending");
    await world.go(`/?at=${asks?.approval_id ?? ""}`);
    if (leave !== null) {
      await button("Choose files").click();
      await world.page.getByRole("checkbox", { name: new RegExp(`^Approve .*${leave}$`) }).uncheck();
      await button(/^Continue with/).click();
      await expect.poll(() => world.page.url(), { timeout: 90_000 }).not.toContain(asks?.approval_id);
    }
    await button("Approve with passphrase").click();
    await world.page.getByLabel("Approval passphrase").fill(world.passphrase);
    await world.page.getByRole("button", { name: "Approve", exact: true }).click();
    await card().getByRole("link", { name: "Receipt" }).waitFor();
  };
  await undo("talk.mp3");
  await expect.poll(() => NAMES.filter((name) => !world.has(name)), { timeout: 90_000 }).toEqual(["talk.mp3"]);
  await undo(null);
  await expect.poll(() => NAMES.filter((name) => !world.has(name)), { timeout: 90_000 }).toEqual([]);
  expect(world.complaints).toEqual([]);
});
