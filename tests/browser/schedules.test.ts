// A schedule in Chromium, against the built host: made in words, seen with its next times, kept by a yes, run, paused, removed.
import { afterAll, beforeAll, expect, test } from "vitest";
import { soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const form = () => world.page.getByRole("form", { name: "New schedule" });
const one = () => world.page.getByRole("article", { name: "tidy", exact: true });

beforeAll(async () => {
  world.keys();
  world.file("letter.txt", "Dear all\n");
  await world.ui();
  await world.open(await world.serve());
});

afterAll(() => world.close());

test("a time is said in words, read back with its next five times, and kept only by a yes", async () => {
  await world.go("/schedules");
  await world.page.getByText("No schedules").waitFor();
  await soundPicture(world.page, "schedules-none");
  await button("New schedule").click();
  await form().getByLabel("When", { exact: true }).fill("every other tuesday");
  await form().getByText(/is not understood as a time/).waitFor();
  await form().getByLabel("When", { exact: true }).fill("every weekday at half past eight");
  await form().getByText(/Read as 30 8 \* \* 1-5/).waitFor();
  expect(await form().getByRole("status").getByRole("listitem").count()).toBe(5);
  await form().getByLabel("Folder to work in").fill(world.folder);
  await form().getByLabel("Model or playbook").selectOption("tidy");
  await soundPicture(world.page, "schedules-new");
  await button("Ask me to keep it").click();
  const card = world.page.getByRole("article", { name: "Approval" });
  await card.getByText(/it gives no authority/i).first().waitFor();
  expect(await card.getByText(/next: /i).count()).toBeGreaterThanOrEqual(5);
  await soundPicture(world.page, "schedules-card");
  await world.go("/schedules");
  await world.page.getByText("No schedules").waitFor();
  await world.page.goBack();
  await world.approve("high");
  await expect.poll(async () => {
    await world.go("/schedules");
    return one().count();
  }, { timeout: 90_000 }).toBe(1);
});

test("it is run by hand as a task that asks, paused, resumed and removed", async () => {
  await world.go("/schedules");
  await one().getByText(/no time passed over/).click();
  await soundPicture(world.page, "schedules");
  await one().getByRole("button", { name: "What would it ask?" }).click();
  await one().getByText(/no run yet, so there is nothing to judge/).waitFor();
  await one().getByRole("button", { name: "Show its history" }).click();
  await one().getByRole("heading", { name: "History of the last 62 days" }).waitFor();
  await button("Calendar").click();
  const month = world.page.getByRole("region", { name: "Calendar" });
  await month.getByRole("button", { name: "Next month" }).click();
  await month.getByText("To come").first().waitFor();
  await expect.poll(() => month.getByText("tidy").count()).toBeGreaterThan(19);
  await soundPicture(world.page, "schedules-calendar");
  await month.getByRole("button", { name: "This month" }).click();
  expect(await month.locator("[aria-current=date]").count()).toBe(1);
  await button("List").click();
  await one().getByRole("button", { name: "Run it now" }).click();
  await world.page.getByText(/letter\.txt/).first().waitFor();
  expect(world.has("letter.txt"), "nothing without a yes").toBe(true);
  await world.go("/schedules");
  await one().getByRole("button", { name: "Pause" }).click();
  await one().getByText("Paused", { exact: true }).waitFor();
  // No terminal opened this page, so that it brings the passphrase.
  await one().getByRole("button", { name: "Resume", exact: true }).click();
  await one().getByLabel("Approval passphrase").fill(world.passphrase);
  await one().getByRole("button", { name: "Resume tidy" }).click();
  await one().getByText("Active", { exact: true }).waitFor();
  await one().getByRole("button", { name: "Remove", exact: true }).click();
  await one().getByRole("button", { name: "Remove tidy" }).click();
  await world.page.getByText("No schedules").waitFor();
});
