// An undo in Chromium over the built program: what it would put back and what stays is shown before it is asked for, a person's
// later edit stays, and the card that follows does what was shown.
import { afterAll, beforeAll, expect, test } from "vitest";
import { part } from "../../ui/verifier/test/conforms";
import { model } from "./model";
import { conforms, soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
let wishes: Awaited<ReturnType<typeof model>>;

beforeAll(async () => {
  world.keys();
  world.file("old.txt", "as it was\n");
  wishes = await model([
    { tool: "change", arguments: { items: [{ op: "write", path: "one.txt", content: "one\n" }, { op: "write", path: "two.txt", content: "two\n" }, { op: "move", from: "old.txt", to: "kept/old.txt" }] } },
    { tool: "done", arguments: { summary: "It is tidy." } },
  ]);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  await world.open(await world.serve());
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

test("what an undo would put back and what stays is shown before it is asked for, and is what is done", conforms(part("HK-10.6-4"), async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.go(`/tasks/new?folder=${encodeURIComponent(world.folder)}&goal=${encodeURIComponent("Tidy it")}`);
  await button("Begin").click();
  // The card stands there, or a link to it does.
  const review = world.page.getByRole("link", { name: "Review" });
  await button("Approve with passphrase").or(review).first().waitFor();
  if (await button("Approve with passphrase").count() === 0) await review.first().click();
  await world.approve();
  await expect.poll(() => world.has("kept/old.txt"), { timeout: 90_000 }).toBe(true);
  // A person goes on in one of the files since.
  world.file("two.txt", "two, and words of my own\n");
  const task = (JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string; title: string }[] }).rows.find((row) => row.title === "Tidy it")?.task_id ?? "";
  await world.go(`/task/${task}`);
  await button("Undo").and(world.page.locator(":not([aria-disabled])")).click();
  const preview = world.page.getByRole("dialog", { name: "What this undo would do" });
  await preview.getByRole("list", { name: "Stays as it is" }).waitFor();
  const makes = async () => (await preview.getByRole("list", { name: "It would make" }).locator("li > span").allInnerTexts()).sort();
  expect(await makes()).toEqual(["Delete \"one.txt\"", "Move \"kept/old.txt\" back to \"old.txt\"", "Remove the folder \"kept\", if it is empty by then"]);
  expect(await preview.getByRole("list", { name: "Stays as it is" }).locator("li > span").allInnerTexts()).toEqual(["\"two.txt\""]);
  await soundPicture(world.page, "undo-preview");
  // Left alone, nothing was asked for.
  await button("Leave it as it is").click();
  const tasks = () => (JSON.parse(world.hermit("task", "list", "--json")) as { rows: unknown[] }).rows.length;
  expect(tasks()).toBe(1);
  await button("Undo").click();
  await button("Ask for this undo").click();
  await world.approve();
  await expect.poll(() => world.has("old.txt"), { timeout: 90_000 }).toBe(true);
  await expect.poll(() => world.has("one.txt"), { timeout: 90_000 }).toBe(false);
  expect(world.read("two.txt")).toBe("two, and words of my own\n");
  expect(world.has("kept")).toBe(false);
  expect(world.complaints).toEqual([]);
}));
