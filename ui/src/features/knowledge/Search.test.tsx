// What is found reads as what a person did, not as rows of a database.
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Hit } from "~/ipc/generated/knowledge";
import { DONE, RECEIPT, WAITS, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const hit = (id: string, part: string, excerpt: string, at: number): Hit => ({ task_id: DONE, title: "Tidy the downloads", kind: "receipt", what: "receipt", id, part, excerpt, at });

test("a thing is found once, the newest first, and a change leads to its receipt", async () => {
  const rows = [hit("task_1", "/goal", "Tidy the budget", 1), hit(RECEIPT, "/summary", "Moved budget.xlsx", 2), hit(RECEIPT, "/changes/0", "budget.xlsx", 2)];
  const { user, container } = show(scene({ "knowledge.search": { rows } }), "/knowledge");
  await user.click(await screen.findByRole("button", { name: "Search" }));
  await user.type(await screen.findByLabelText(/Search for all of these words/), "budget");
  const links = await screen.findAllByRole("link", { name: /budget/ });
  expect(links.map((one) => one.textContent)).toEqual(["Moved budget.xlsx", "Tidy the budget"]);
  expect(links[0]?.getAttribute("href")).toContain(`see=${RECEIPT}`);
  expect(container.textContent).not.toMatch(/\/summary|\/goal|\/changes/);
});

test("what is found stands under its task, the task with the newest first, and of a receipt each file", async () => {
  const file = (name: string, at: number): Hit => ({ ...hit(RECEIPT, "file", `moved ${name}`, at), part: "file" });
  const rows: Hit[] = [
    { ...hit("art_1", "/content", "the budget of May", 9), kind: "artifact", what: "file as it was read, a\u202eb.md", task_id: WAITS, title: "Move tax rates into a typed table" },
    file("budget.xlsx", 2), file("budget.ods", 2), file("budget.ods", 2), { ...hit("ing_1", "/text", "a budget", 1), kind: "ingress", what: "ingress", task_id: "task_other", title: null },
  ];
  const { user } = show(scene({ "knowledge.search": { rows } }), "/knowledge");
  await user.click(await screen.findByRole("button", { name: "Search" }));
  await user.type(await screen.findByLabelText(/Search for all of these words/), "budget");
  const heads = await screen.findAllByRole("heading", { level: 2 });
  await screen.findByRole("heading", { name: "Tidy the downloads" });
  expect(heads.map((one) => one.textContent)).toEqual(["Move tax rates into a typed table", "Tidy the downloads", "Messages and other records"]);
  const under = (at: number) => within(heads[at]?.parentElement as HTMLElement).getAllByRole("listitem").map((one) => one.querySelector("a")?.textContent);
  expect(under(0)).toEqual(["the budget of May"]);
  expect(under(1)).toEqual(["moved budget.xlsx", "moved budget.ods"]);
  expect(within(heads[0]?.parentElement as HTMLElement).getByText(/^File as it was read, a/).textContent).toContain("File as it was read, aU+202Eb.md, ");
  expect(await seriousFindings()).toEqual([]);
});
