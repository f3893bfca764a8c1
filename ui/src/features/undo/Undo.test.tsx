// The dialog of an undo stands until it is closed: while it looks again, where that fails, and where an answer is lost.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { Refused } from "~/host/host";
import { noUndo } from "~/features/undo/reason";
import type { Receipt } from "~/ipc/generated/receipts";
import { DONE, RECEIPT, receipt, receiptRow, scene } from "~/test/scene";
import { show } from "~/test/show";

test("to look again keeps the dialog, tells what failed in it, and asks for the same undo", async () => {
  const plan = (path: string) => ({ plans: [{ workspace_id: "wsp_1", workspace: null, receipts: [], notes: [], items: [{ what: "restore" as const, path, to: null, bytes: 1 }], left: [] }] });
  const looks = [() => plan("a.csv"), () => { throw new Refused({ code: "failed", message: "the store is busy" }); }, () => plan("b.csv")];
  const lost = () => { throw new Refused({ code: "failed", message: "the answer was lost" }); };
  const host = scene({ "receipts.plan": () => looks.shift()!(), "receipts.rollback": lost });
  const { user } = show(host, `/task/${DONE}?see=${RECEIPT}`);
  await user.click(await screen.findByRole("button", { name: "Undo this" }));
  const dialog = await screen.findByRole("dialog", { name: "What this undo would do" });
  const here = within(dialog);
  await user.click(here.getByRole("button", { name: "Ask for this undo" }));
  await here.findByText("The answer was lost.");
  await user.click(here.getByRole("button", { name: "Look again" }));
  await here.findByText("The store is busy.");
  expect(here.getByText("Bring back a.csv")).toBeTruthy();
  expect(dialog.contains(document.activeElement)).toBe(true);
  await user.click(here.getByRole("button", { name: "Look again" }));
  await here.findByText("Bring back b.csv");
  expect(here.queryByText("The store is busy.")).toBeNull();
  expect(screen.getByRole("dialog")).toBe(dialog);
  await user.click(here.getByRole("button", { name: "Ask for this undo" }));
  const asked = () => host.asked.filter((one) => one.name === "receipts.rollback").map((one) => (one.params as { idempotency_key: string }).idempotency_key);
  await waitFor(() => expect(asked().length).toBe(2));
  expect(new Set(asked()).size).toBe(1);
  await user.click(here.getByRole("button", { name: "Leave it as it is" }));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("no undo is offered of what only a change of its own takes back, or of which nothing is kept", () => {
  const of = (row: Partial<typeof receiptRow>, method: string): Receipt => ({ ...receipt, row: { ...receiptRow, ...row }, receipt: { rollback: { method } } });
  expect(noUndo(of({}, "restore_before_images"))).toBeNull();
  expect(noUndo(of({ action_class: "capability_change" }, "restore_before_images")), "a file below .hermit").toBeNull();
  expect(noUndo(of({ action_class: "capability_change", reversibility: "partial" }, "none"))).toBe("No undo: change this setting of Hermit again");
  expect(noUndo(of({ action_class: "durable_memory_write" }, "invalidate_memory"))).toBe("No undo: take the record back on the page Knowledge");
  expect(noUndo(of({ action_class: "execute_command", reversibility: "partial" }, "none"))).toBe("No undo: nothing is kept of what was there before");
  expect(noUndo(of({ undone_by: RECEIPT }, "restore_before_images"))).toBe("It was undone already");
});

test("the receipt of a schedule that was kept says how it is taken back, and its undo cannot be pressed", async () => {
  const kept: Receipt = { ...receipt, row: { ...receiptRow, action_class: "capability_change", reversibility: "partial" }, receipt: { rollback: { method: "none" } } };
  show(scene({ "receipts.show": kept }), `/task/${DONE}?see=${RECEIPT}`);
  expect((await screen.findAllByText("No undo: change this setting of Hermit again")).length).toBeGreaterThan(0);
  const undo = await screen.findByRole("button", { name: "Undo this" });
  expect(undo.getAttribute("title")).toBe("No undo: change this setting of Hermit again");
});
