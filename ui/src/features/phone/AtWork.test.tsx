// What works, on a phone: with its last words, and stopped when that was asked and confirmed.
import { act, screen, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { WAITS, doneTask, scene, taskRow } from "~/test/scene";
import { show } from "~/test/show";

const before = globalThis.matchMedia;
afterEach(() => { vi.stubGlobal("matchMedia", before); });

test("a phone tells what works with its last words, and stops it when that was confirmed", async () => {
  vi.stubGlobal("matchMedia", (query: string) => ({ ...before(query), matches: query.includes("480px") }));
  const going = taskRow({ status: "running", run_status: "running", title: "Sort the letters", open_approvals: 0 });
  const host = scene({
    "task.list": ({ group }) => ({ rows: group === "going" ? [going] : [], next: null }),
    "task.cancel": { task_id: WAITS, status: "cancelled" },
  }, "passphrase");
  const { user } = show(host, "/");
  const work = within(await screen.findByRole("region", { name: /At work/ }));
  act(() => host.say({ kind: "delta", task_id: WAITS, asking: 1, from: 0, text: "I look at the first letter" }));
  await work.findByText("I look at the first letter");
  await user.click(work.getByRole("button", { name: "Stop Sort the letters" }));
  expect(host.asked.some((one) => one.name === "task.cancel")).toBe(false);
  await user.click(work.getByRole("button", { name: "Stop it" }));
  expect(host.asked.find((one) => one.name === "task.cancel")?.params).toEqual({ task: WAITS, reason: "stopped from a phone" });
});

test("a phone asks for what is being written, since words come by themselves only of what is shown", async () => {
  vi.stubGlobal("matchMedia", (query: string) => ({ ...before(query), matches: query.includes("480px") }));
  const going = taskRow({ status: "running", run_status: "running", title: "Sort the letters", open_approvals: 0 });
  const shown = { ...doneTask, row: going, writing: "I look at the second letter", asking: { number: 1, writing_from: 0, thinking_from: 0 } };
  show(scene({ "task.list": ({ group }) => ({ rows: group === "going" ? [going] : [], next: null }), "task.show": shown }, "passphrase"), "/");
  const work = within(await screen.findByRole("region", { name: /At work/ }));
  await work.findByText("I look at the second letter");
});

test("a wide page has its whole rail and no list of what works below the inbox", async () => {
  show(scene({}, "passphrase"), "/");
  await screen.findByRole("link", { name: /Policy/ });
  expect(screen.queryByRole("region", { name: /At work/ })).toBeNull();
});
