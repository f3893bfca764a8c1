// A no on a card: its words, its comments on lines, and what it ends.
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { APPROVAL, approval, approvalRow, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const card = async () => within(await screen.findByRole("article", { name: "Approval" }));

test("a no goes out with its words", async () => {
  const host = scene();
  const { user } = show(host, "/");
  const here = await card();
  await user.type(await here.findByLabelText("Reason for denying (the agent sees it)"), "not the csv");
  await user.click(here.getByRole("button", { name: "Deny with reason" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "approvals.deny")?.params).toEqual({ approval: APPROVAL, surface: "browser", feedback: "not the csv" }));
});

test("a reason that was begun is there after the page is loaded again, and gone when it was sent", async () => {
  const reason = async () => (await card()).findByLabelText<HTMLTextAreaElement>("Reason for denying (the agent sees it)");
  const before = show(scene(), "/");
  await before.user.type(await reason(), "not the c");
  cleanup();
  const host = scene();
  const { user } = show(host, "/");
  expect((await reason()).value).toBe("not the c");
  await user.type(await reason(), "sv");
  await user.click((await card()).getByRole("button", { name: "Deny with reason" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "approvals.deny")?.params).toEqual({ approval: APPROVAL, surface: "browser", feedback: "not the csv" }));
  await waitFor(() => expect(sessionStorage.length).toBe(0));
});

test("a comment on a line goes out with the denial, behind its file and line, and is written with keys alone", async () => {
  const host = scene();
  const { user } = show(host, "/");
  const here = await card();
  const file = within(await here.findByRole("region", { name: "Replace src/tax/reverse.ts" }));
  file.getByRole("button", { name: "Comment on a line of src/tax/reverse.ts" }).focus();
  await user.keyboard("{Enter}{ArrowDown}{ArrowDown}{Enter}keep the old name{Control>}{Enter}{/Control}");
  expect(document.activeElement).toBe(file.getByRole("button", { name: "Comment on src/tax/reverse.ts:1" }));
  await user.keyboard("{ArrowUp}{Enter}why?\nsay it");
  await user.keyboard("{Escape}");
  expect(within(here.getByRole("list", { name: "Comments the model will see" })).getAllByRole("listitem").map((one) => one.textContent)).toEqual(["src/tax/reverse.ts:1 keep the old name"]);
  await user.click(within(await here.findByRole("region", { name: "Delete data/tax-rates.csv" })).getByRole("button", { name: "Comment on data/tax-rates.csv:2 as it is now" }));
  await user.keyboard("needed\nfor 2026");
  expect(await seriousFindings()).toEqual([]);
  await user.type(here.getByLabelText("Reason for denying (the agent sees it)"), "try again");
  await user.click(here.getByRole("button", { name: "Deny with reason" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "approvals.deny")?.params).toEqual({
    approval: APPROVAL, surface: "browser", feedback: "src/tax/reverse.ts:1: keep the old name; data/tax-rates.csv:2 as it is now: needed for 2026; try again",
  }));
});

test("a card that was answered takes no comment", async () => {
  show(scene({ "approvals.show": { ...approval, row: { ...approvalRow, status: "denied", resolved_at: Date.now(), surface: "terminal" } } }), "/");
  const here = await card();
  await here.findByRole("region", { name: "Replace src/tax/reverse.ts" });
  expect(here.queryByRole("button", { name: /^Comment on/ })).toBeNull();
});

test("a no that ends the task is one click, so that a model cannot ask for the same thing again", async () => {
  const host = scene();
  const { user } = show(host, "/");
  await user.click(await (await card()).findByRole("button", { name: "Deny and stop" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "approvals.deny")?.params).toEqual({ approval: APPROVAL, surface: "browser", feedback: null, stop: true }));
});
