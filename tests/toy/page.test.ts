// The toy tool of `cargo xtask toy` in Chromium, with pages that nobody told of it: its card, its approval, its receipt.
import { afterAll, beforeAll, expect, test } from "vitest";
import { model } from "./model";
import { World } from "./world";

const world = new World();
interface Row { approval_id: string; task_id: string }

beforeAll(async () => {
  world.keys();
  await world.ui();
  await world.open(await world.serve());
});

afterAll(() => world.close());

test("an act of a tool that the pages have no line for is read, approved and told by its receipt", async () => {
  const wishes = await model([
    { tool: "folder", arguments: { path: "made" } },
    { tool: "done", arguments: { summary: "made" } },
  ]);
  world.hermit("run", "--no-input", "--goal", "make a folder", "--workspace", world.folder, "--model", wishes.name);
  const [waits] = (JSON.parse(world.hermit("approvals", "list", "--status", "pending", "--json")) as { rows: Row[] }).rows;
  await world.go(`/?at=${waits?.approval_id ?? ""}`);
  const card = world.page.getByRole("article", { name: "Approval" });
  await card.getByText("make the folder \"made\"").first().waitFor();
  expect(world.has("made")).toBe(false);
  await world.page.getByRole("button", { name: "Approve with passphrase" }).click();
  await world.page.getByLabel("Approval passphrase").fill(world.passphrase);
  await world.page.getByRole("button", { name: "Approve", exact: true }).click();
  await card.getByRole("link", { name: "Receipt" }).click();
  await world.page.getByText("make the folder \"made\"").first().waitFor();
  await expect.poll(() => world.has("made"), { timeout: 30_000 }).toBe(true);
  expect(world.complaints).toEqual([]);
});
