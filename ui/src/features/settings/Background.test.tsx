// Updates, service and telemetry are told as they stand, and nothing here changes them.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import type { Facts, ServiceState, UpdateStands } from "~/ipc/generated/host";
import { AT, scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Background } from "./Background";

const service = (state: ServiceState, says: string, command: string) => ({ state, says, command });
const installed: UpdateStands = { at_work: "0.1.0", since: null, left: null, app: null, at_hand: null, command: "hermit update show" };
const off: Facts = { facts: [], service: service("absent", "none", "hermit service install"), telemetry: null, update: installed };

function shown(answer: Facts) {
  render(<HostProvider value={scene({ "host.doctor": answer }, "window")}><QueryClientProvider client={makeQueryClient()}><Background /></QueryClientProvider></HostProvider>);
}

test("a service that is not installed is told with the command that a terminal takes, and telemetry as off", async () => {
  shown(off);
  await screen.findByText("Not installed");
  expect(screen.getByText("hermit service install")).toBeTruthy();
  expect(screen.getByText("Off: nothing is sent")).toBeTruthy();
  expect(screen.getByText(/contents of files, and what a model wrote are never sent/)).toBeTruthy();
  expect(screen.getByText(/"otlp": "http:\/\/127\.0\.0\.1:4318"/)).toBeTruthy();
  expect(screen.queryByText("Details")).toBeNull();
  // What can be pressed only copies.
  for (const button of screen.getAllByRole("button")) expect(button.getAttribute("aria-label")).toMatch(/^Copy /);
  expect(await seriousFindings()).toEqual([]);
});

test("a service that runs is told with what takes it away, and telemetry with its collector and its failures", async () => {
  shown({
    facts: [],
    service: service("runs", "runs, by `/home/you/.config/systemd/user/hermit.service`", "hermit --home '/srv/store' service remove"),
    telemetry: { otlp: "https://otel.example/in", sent: 12, refused: 2, failures: 3, failing: "it answers 503" },
    update: null,
  });
  await screen.findByText("Runs");
  expect(screen.getByText("hermit --home '/srv/store' service remove")).toBeTruthy();
  expect(screen.getByText("https://otel.example/in")).toBeTruthy();
  expect(screen.getByText("12 spans")).toBeTruthy();
  expect(screen.getByText("2 spans")).toBeTruthy();
  expect(screen.getByText("3 requests")).toBeTruthy();
  expect(screen.getByText(/it answers 503/i)).toBeTruthy();
  expect(screen.queryByText(/Off: nothing is sent/)).toBeNull();
});

test("each state has words of its own, and a system without services says so", async () => {
  const states: ServiceState[] = ["foreign", "elsewhere", "ended", "broken", "unknown"];
  const told = new Set<string>();
  for (const state of states) {
    const { unmount } = render(
      <HostProvider value={scene({ "host.doctor": { ...off, service: service(state, `details of ${state}`, "hermit service status") } }, "window")}>
        <QueryClientProvider client={makeQueryClient()}><Background /></QueryClientProvider>
      </HostProvider>,
    );
    const details = await screen.findByText(`details of ${state}`);
    told.add(details.closest("dl")?.querySelector("dd")?.textContent ?? "");
    unmount();
  }
  expect(told.size).toBe(states.length);
  shown({ ...off, service: null });
  await screen.findByText("Hermit knows no services of this system.");
});

test("updates are told with the command that a terminal takes, and nothing here applies one", async () => {
  const { unmount } = render(
    <HostProvider value={scene({ "host.doctor": off }, "window")}><QueryClientProvider client={makeQueryClient()}><Background /></QueryClientProvider></HostProvider>,
  );
  await screen.findByText("No, as it was installed");
  expect(screen.getByText("hermit update show")).toBeTruthy();
  expect(screen.queryByText("Checked, newer")).toBeNull();
  unmount();
  const update: UpdateStands = {
    at_work: "0.2.0", since: AT, left: "version 0.3.0 is not started any more: it ended at its start", app: "it came up",
    at_hand: "0.4.0", command: "hermit update apply '/srv/hermit-0.4.0'",
  };
  shown({ ...off, update });
  await screen.findByText("hermit update apply '/srv/hermit-0.4.0'");
  expect(screen.getByText("0.2.0")).toBeTruthy();
  expect(screen.getByText("0.4.0")).toBeTruthy();
  expect(screen.getByText(/it came up/i)).toBeTruthy();
  expect(screen.getByText(/version 0\.3\.0 is not started any more: it ended at its start/i)).toBeTruthy();
  for (const button of screen.getAllByRole("button")) expect(button.getAttribute("aria-label")).toMatch(/^Copy /);
  expect(await seriousFindings()).toEqual([]);
});

test("a host that cannot read how updates stand says so", async () => {
  shown({ ...off, update: null });
  await screen.findByText(/How updates stand cannot be read/);
});
