// An agent of somebody else in Chromium: let to work on a card, followed while it works in its copy, and what it made allowed on
// a second card, which shows the exact change.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { picture } from "./kept";
import { World } from "./world";

const world = new World();
/** It tells what it does, takes a while, and makes one file. */
const AGENT = "echo 'I look around first'\nsleep 5\nprintf 'made by a guest\\n' > made.txt\necho 'I made one file'\n";

let task = "";

beforeAll(async () => {
  world.keys();
  world.file("agent.sh", AGENT);
  await world.ui();
  const said = world.hermit("--json", "run", "make a file", "--agent", "sh agent.sh", "--workspace", world.folder, "--no-input");
  task = (JSON.parse(said) as { row: { task_id: string } }).row.task_id;
  await world.open(await world.serve());
});

afterAll(() => world.close());

test("a guest is let to work on a card, followed, and what it made is a second card", async () => {
  const card = world.page.getByRole("article", { name: "Approval" });
  await card.getByText('Let the agent "sh" work on a copy of the folder').first().waitFor();
  await picture(world.page, "guest-card");
  await world.approve("critical");
  await world.go(`/task/${task}`);
  await world.page.getByText("I look around first", { exact: false }).first().waitFor({ timeout: 90_000 });
  expect(existsSync(join(world.folder, "made.txt"))).toBe(false);
  await picture(world.page, "guest-at-work");
  await world.go("/");
  await card.getByText("made.txt", { exact: false }).first().waitFor({ timeout: 90_000 });
  await card.getByText("made by a guest", { exact: false }).first().waitFor();
  expect(existsSync(join(world.folder, "made.txt"))).toBe(false);
  await picture(world.page, "guest-made");
  await world.approve();
  await expect.poll(() => existsSync(join(world.folder, "made.txt")), { timeout: 90_000 }).toBe(true);
  expect(readFileSync(join(world.folder, "made.txt"), "utf8")).toBe("made by a guest\n");
});
