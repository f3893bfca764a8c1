// What goes was shown before, and exactly that is asked for.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Refused } from "~/host/host";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import type { Collected } from "~/ipc/generated/artifacts";
import { scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { DiskUsage } from "./DiskUsage";

const plan: Collected = {
  dry_run: true, plan: "ab".repeat(32), disk_bytes: 3_000_000, spared: 0, unreadable: 0, artifacts: 12, bytes: 5_000_000,
  by_kind: [{ kind: "model.request", artifacts: 8, bytes: 4_000_000 }, { kind: "model.response", artifacts: 4, bytes: 1_000_000 }],
  orphans: 1, young: 3, kept: 40, lists: [],
};

function shown(answers: Parameters<typeof scene>[0]) {
  const host = scene(answers, "window");
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><DiskUsage /></QueryClientProvider></HostProvider>);
  return { host, user: userEvent.setup() };
}

test("nothing is looked for until a person asks, and what goes is exactly what was shown", async () => {
  const { host, user } = shown({ "artifacts.garbage": plan, "artifacts.collect": { ...plan, dry_run: false, lists: ["art_1"] } });
  await screen.findByText(/equal parts are stored once/);
  screen.getByText("36 contents of up to 64 KiB");
  expect(host.times("artifacts.garbage")).toBe(0);
  await user.click(screen.getByRole("button", { name: "Free up space…" }));
  await screen.findByText("model request");
  expect(host.times("artifacts.collect")).toBe(0);
  expect(await seriousFindings()).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Delete 12 contents" }));
  await screen.findByText(/12 contents deleted/);
  expect(host.asked.find((one) => one.name === "artifacts.collect")?.params).toEqual({ plan: plan.plan });
  expect(screen.queryByRole("button", { name: "Delete 12 contents" })).toBeNull();
});

test("where nothing may go there is nothing to press", async () => {
  const { user } = shown({ "artifacts.garbage": { ...plan, artifacts: 0, orphans: 0, by_kind: [] } });
  await user.click(screen.getByRole("button", { name: "Free up space…" }));
  await screen.findByText(/Nothing can be deleted now/);
  expect(screen.queryByRole("button", { name: /Delete/ })).toBeNull();
});

test("what changed since it was shown is told, and nothing went", async () => {
  const { user } = shown({ "artifacts.garbage": plan, "artifacts.collect": () => { throw new Refused({ code: "conflict", message: "what would go is no longer what was shown; look at it again" }); } });
  await user.click(screen.getByRole("button", { name: "Free up space…" }));
  await user.click(await screen.findByRole("button", { name: "Delete 12 contents" }));
  await screen.findByText(/no longer what was shown/i);
  expect(screen.queryByText(/contents deleted/)).toBeNull();
});
