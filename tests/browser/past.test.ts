// Memory as it was, in Chromium over the built program: a slider over the points of the past, by mouse and keyboard.
import { afterAll, beforeAll, expect, test } from "vitest";
import { part } from "../../ui/verifier/test/conforms";
import { conforms, soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
type Row = { memory_id: string; claim: string };
const rows = (...more: string[]) => (JSON.parse(world.hermit("memory", "list", "--json", ...more)) as { rows: Row[] }).rows;

async function remember(claim: string, ...words: string[]): Promise<void> {
  world.hermit("memory", "add", claim, ...words, "--workspace", world.folder, "--json", "--no-input");
  await world.go("/");
  await world.approve();
  await expect.poll(() => rows().some((row) => row.claim === claim), { timeout: 90_000 }).toBe(true);
}

beforeAll(async () => {
  world.keys();
  await world.ui();
  await world.open(await world.serve());
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
});

afterAll(() => world.close());

test("a person moves a slider to a checkpoint and sees what was remembered then, what proves it and what came of it", conforms(part("HV-3.6-1"), async () => {
  await remember("invoices are numbered by year", "--type", "decision");
  await remember("answers are short", "--type", "preference", "--everywhere");
  world.hermit("ledger", "checkpoint");
  const wrong = rows().find((row) => row.claim === "invoices are numbered by year")?.memory_id ?? "";
  world.hermit("memory", "forget", wrong, "--reason", "it was never so");
  await remember("invoices are numbered by client", "--type", "correction");
  world.hermit("ledger", "checkpoint");
  await world.go("/knowledge");
  await button("Memory").click();
  const slider = world.page.getByRole("slider", { name: "Point in time" });
  await slider.waitFor();
  await world.page.getByText("invoices are numbered by client").first().waitFor();
  // By the keyboard alone.
  await slider.focus();
  await world.page.keyboard.press("Home");
  await world.page.getByText("As it was").waitFor();
  expect(await slider.getAttribute("aria-valuetext")).toMatch(/checkpoint \d+$/);
  const table = world.page.getByRole("table");
  await table.getByText("invoices are numbered by year").waitFor();
  await table.getByText("it was never so").waitFor();
  await table.getByText("Still in force").waitFor();
  expect(await table.getByText("invoices are numbered by client").count()).toBe(0);
  await world.page.getByRole("region", { name: "Added since" }).getByText("invoices are numbered by client").waitFor();
  await world.page.getByText("Proven", { exact: true }).waitFor();
  await button("Show the roots").click();
  await soundPicture(world.page, "memory-past");
  // The terminal says the same of that checkpoint.
  const checkpoint = (await slider.getAttribute("aria-valuetext"))?.match(/checkpoint (\d+)$/)?.[1] ?? "";
  expect(rows("--as-of", checkpoint).map((row) => row.claim).sort()).toEqual(["answers are short", "invoices are numbered by year"]);
  await button("Back to now").click();
  await world.page.getByRole("complementary", { name: "Memory" }).waitFor();
  expect(await slider.getAttribute("aria-valuetext")).toBe("Now");
  expect(world.complaints).toEqual([]);
}));
