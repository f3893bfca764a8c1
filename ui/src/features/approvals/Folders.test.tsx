// Folders that a card names: those that are made for its files, and those that go if they are empty.
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { changes, changesOf, scene } from "~/test/scene";
import { show } from "~/test/show";

const card = async () => within(await screen.findByRole("article", { name: "Approval" }));

test("a card names the folders that are made for it, and nobody leaves one of them out", async () => {
  const files = Array.from({ length: 2 }, (_, at) => ({ op: "move" as const, path: `${at}.png`, to: `My%20pictures/2026/${at}.png`, same_as: null, before: null, after: null, outcome: null }));
  const makes = { folders: 2, first: ["My%20pictures", "My%20pictures/2026"], more: false };
  const all = changesOf({ ...changes, files });
  const { user } = show(scene({ "changes.show": (asked) => ({ ...all(asked), makes }) }), "/");
  const here = await card();
  expect(await here.findByText("2 to move")).toBeTruthy();
  expect(here.getByText("2 folders to make")).toBeTruthy();
  const made = within(here.getByRole("region", { name: "Folders that are made for it" }));
  expect(made.getByText("Makes 2 folders for it, each unless it is there by then")).toBeTruthy();
  expect(made.getAllByRole("listitem").map((one) => one.textContent)).toEqual(["My pictures", "My pictures/2026"]);
  await user.click(here.getByRole("button", { name: "Choose files" }));
  expect(here.getAllByRole("checkbox", { name: /^Approve / }).length).toBe(2);
});

test("of many folders the first are named, the next open in place, and how many there are beyond is said", async () => {
  const first = Array.from({ length: 200 }, (_, at) => `d${at}`);
  const all = changesOf(changes);
  const { user } = show(scene({ "changes.show": (asked) => ({ ...all(asked), makes: { folders: 20_000, first, more: true } }) }), "/");
  const here = await card();
  const made = within(await here.findByRole("region", { name: "Folders that are made for it" }));
  expect(made.getAllByRole("listitem").length).toBe(20);
  await user.click(made.getByRole("button", { name: "Show 180 more" }));
  expect(made.getAllByRole("listitem").length).toBe(200);
  expect(made.getByText(/^19,800 more stand under every value that is signed/)).toBeTruthy();
  expect(made.getByText(/It may make more folders than these/)).toBeTruthy();
});

test("folders that go if they are empty are counted apart from what is deleted", async () => {
  const gone = (at: number) => ({ op: "delete" as const, path: `made${at}`, to: null, same_as: null, before: null, after: null, outcome: null, note: "if it is empty by then" });
  const all = changesOf({ ...changes, files: [gone(0), gone(1)] });
  const told = (asked: Parameters<typeof all>[0]) => ({ ...all(asked), sum: { deleted: 0, replaced: 0, created: 0, moved: 0, folders: 0, removed: 2 } });
  show(scene({ "changes.show": told }), "/");
  const here = await card();
  expect(await here.findByText("2 folders to remove, each if empty by then")).toBeTruthy();
  expect(here.queryByText(/to delete/)).toBeNull();
  expect(here.getByRole("region", { name: "Remove the folder made0" }).getAttribute("data-op")).toBe("remove");
});
