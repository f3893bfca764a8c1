// What is suggested of tasks that ended: each line with its evidence, kept or struck.
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Suggestion } from "~/ipc/generated/knowledge";
import { DONE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const line = (number: number, claim: string, more: Partial<Suggestion> = {}): Suggestion => ({
  approval_id: "apr_0190a1b2c3d47e8f9a0b1c2d00000001", task_id: DONE, number, of: 2, claim, reason: 'you said so to a task (found by the rule "correction")', memory_type: "correction", trust: "user_asserted",
  project: { hash: "cd".repeat(32), name: "invoices" }, requested_at: 1,
  grounds: [{ task_id: DONE, event_id: "evt_1", receipt_id: null, what: "a person said to a task at work", quote: claim }],
  ...more,
});

const rows = [
  line(1, "Never use npm"),
  line(2, 'Asked "Which port?", a person answered: "8081"', { memory_type: "decision", trust: "untrusted", grounds: [{ task_id: DONE, event_id: "evt_2", receipt_id: "rcp_1", what: "a model asked", quote: "Which port?" }] }),
];

const open = async (found: Suggestion[]) => {
  const decided = { approval_id: "apr_1", task_id: DONE, accepted: true, status: "denied" as const };
  const host = scene({
    "knowledge.memories": { rows: [] }, "workspaces.list": { workspaces: [] }, "knowledge.suggestions": { rows: found },
    "knowledge.review": { task_id: null, lines: 0, tasks: 0, waiting: 1, more: false, drafts: 0 }, "approvals.part": decided, "approvals.deny": decided,
  });
  const shown = show(host, "/knowledge");
  await shown.user.click(await screen.findByRole("button", { name: "Memory" }));
  return { ...shown, host };
};

test("each line says what it rests on, and how far it can be trusted", async () => {
  const { user } = await open(rows);
  const card = await screen.findByRole("group", { name: "2 suggestions for invoices" });
  const lines = within(card).getAllByRole("checkbox");
  expect(lines.map((one) => (one as HTMLInputElement).checked)).toEqual([true, true]);
  await user.click(within(card).getAllByText("Evidence")[1] as HTMLElement);
  const shown = within(card).getByRole("link", { name: "A model asked" });
  expect(shown.getAttribute("href")).toContain(`/task/${DONE}`);
  expect(shown.getAttribute("href")).toContain("rcp_1");
  expect(card.textContent).toMatch(/untrusted/i);
  expect(await seriousFindings()).toEqual([]);
});

test("a line is struck, and the rest becomes a card to approve", async () => {
  const { user, host } = await open(rows);
  const card = await screen.findByRole("group", { name: "2 suggestions for invoices" });
  await user.click(within(card).getByRole("checkbox", { name: /Which port/ }));
  await user.click(within(card).getByRole("button", { name: "Keep 1, strike 1" }));
  expect(host.asked.find((one) => one.name === "approvals.part")?.params).toMatchObject({ approval: rows[0]?.approval_id, only: ["1"], rows: [] });
});

test("all of it is struck at once, and one that strikes every line by hand is told to", async () => {
  const { user, host } = await open(rows);
  const card = await screen.findByRole("group", { name: "2 suggestions for invoices" });
  for (const one of within(card).getAllByRole("checkbox")) await user.click(one);
  await user.click(within(card).getByRole("button", { name: /^Keep 0/ }));
  expect(host.asked.some((one) => one.name === "approvals.part")).toBe(false);
  await user.click(within(card).getByRole("button", { name: "Strike all" }));
  expect(host.asked.find((one) => one.name === "approvals.deny")?.params).toMatchObject({ approval: rows[0]?.approval_id, feedback: null });
});

test("a person has Hermit look now, and is told when nothing is new", async () => {
  const { user, host } = await open([]);
  await user.click(await screen.findByRole("button", { name: "Look for suggestions in tasks that ended" }));
  await screen.findByText(/Nothing new; 1 task that ended waits/);
  expect(host.asked.some((one) => one.name === "knowledge.review")).toBe(true);
});
