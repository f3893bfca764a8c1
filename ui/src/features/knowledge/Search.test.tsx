// What is found reads as what a person did, not as rows of a database.
import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Hit } from "~/ipc/generated/knowledge";
import { DONE, RECEIPT, scene } from "~/test/scene";
import { show } from "~/test/show";

const hit = (id: string, part: string, excerpt: string, at: number): Hit => ({ task_id: DONE, kind: "receipt", id, part, excerpt, at }) as Hit;

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
