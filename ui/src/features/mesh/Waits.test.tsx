// A goal that waits for the person of another machine.
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { meshMessage } from "~/test/mesh";
import { scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

test("a goal that waits for the person of the other machine says so, until it is answered", async () => {
  const messages = [meshMessage(2, { answer: null, answered_at: null, waits_since: Date.UTC(2026, 10, 22, 1, 0) }), meshMessage(1)];
  show(scene({ "mesh.messages": { messages, before: null } }), "/machines");
  const list = within(await screen.findByRole("list", { name: "Messages" }));
  expect(await list.findByText("Waits there")).toBeTruthy();
  expect(list.getAllByText(/waits for its person: somebody has to answer there/)).toHaveLength(1);
  expect(await seriousFindings()).toEqual([]);
});
