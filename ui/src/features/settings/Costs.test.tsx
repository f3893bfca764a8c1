// What models cost is shown by day and by model beside the ceiling; a page sends an amount and shows a refusal in words.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import type { CostsBy } from "~/ipc/generated/models";
import { scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Costs } from "./Costs";

const big = { provider: "openai", model: "big", tokens: 12_000, cost_micros: 3_000_000 };
const told: CostsBy = {
  today: "2026-11-27", ends_at: 1_795_824_000_000, ceiling_micros: 5_000_000, spent_micros: 2_000_000, aside_micros: 250_000,
  days: [
    { day: "2026-11-27", tokens: 8_000, cost_micros: 2_000_000, models: [big] },
    { day: "2026-11-25", tokens: 4_000, cost_micros: 1_000_000, models: [big] },
  ],
  models: [big],
};

function shown(more: Parameters<typeof scene>[0] = {}) {
  const host = scene({ "models.costs": told, "models.ceiling": { ceiling_micros: 1_000_000 }, ...more });
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><Costs /></QueryClientProvider></HostProvider>);
  return { host, user: userEvent.setup() };
}

test("today stands beside its ceiling, and each model and day beside what it cost", async () => {
  const { host, user } = shown();
  await screen.findByText("$2.00 of $5.00");
  screen.getByText("$0.25 for calls under way");
  within(screen.getByRole("list", { name: "By model, last 7 days" })).getByText(/12,000 tokens, \$3.00/);
  within(screen.getByRole("list", { name: "By day" })).getByText(/4,000 tokens, \$1.00/);
  await user.type(screen.getByLabelText("Ceiling of a day, US dollars"), "1.00");
  await user.click(screen.getByRole("button", { name: "Set" }));
  expect(host.asked.find((one) => one.name === "models.ceiling")?.params).toEqual({ dollars: "1.00" });
  expect(await seriousFindings()).toEqual([]);
});
