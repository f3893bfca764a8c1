// The emergency stop is asked once, wherever it is pressed, and says what it does.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const HALTED = { "gate.halt": { state: "HALTED", halted: true, reason: "halted from the window", session: "s", since: 1, entries: 31, head: "00".repeat(32) } };
const halts = (host: ReturnType<typeof scene>) => host.asked.filter((one) => one.name === "gate.halt");

test("nothing is halted before the question is answered; the question says what stops, and lets go of it", async () => {
  const host = scene(HALTED);
  const { user } = show(host, "/tasks");
  const pressed = await screen.findByRole("button", { name: "Halt" });
  await user.click(pressed);
  const asked = await screen.findByRole("alertdialog", { name: "Stop all work?" });
  expect(asked.textContent).toMatch(/Until you resume work, nothing starts, also after a restart\./);
  expect(await seriousFindings()).toEqual([]);
  // Enter, pressed once too often, halts nothing.
  expect(document.activeElement).toBe(within(asked).getByRole("button", { name: "Cancel" }));
  await user.keyboard("{Enter}");
  expect(screen.queryByRole("alertdialog")).toBeNull();
  expect(document.activeElement).toBe(pressed);
  await user.click(pressed);
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("alertdialog")).toBeNull();
  expect(halts(host)).toEqual([]);
  await user.click(pressed);
  await user.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Halt" }));
  await waitFor(() => expect(halts(host)).toHaveLength(1));
  expect(screen.queryByRole("alert")).toBeNull();
});

test("the palette asks the same, and so does the bar of a screen where the frame has no room", async () => {
  const host = scene(HALTED);
  const { user } = show(host, "/");
  await screen.findAllByText(/Waiting for you/);
  await user.keyboard("{Control>}k{/Control}");
  await user.type(await screen.findByRole("combobox", { name: "Find or do" }), "halt{Enter}");
  const asked = await screen.findByRole("alertdialog", { name: "Stop all work?" });
  await waitFor(() => expect(document.activeElement).toBe(within(asked).getByRole("button", { name: "Cancel" })));
  await user.keyboard("{Enter}");
  await user.click(screen.getByRole("button", { name: "Halt all work" }));
  expect(await screen.findByRole("alertdialog", { name: "Stop all work?" })).toBeTruthy();
  expect(halts(host)).toEqual([]);
});
