// The authority that was given: what lasts and what was for one action are told apart, and neither denies the other.
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { StandingGrant } from "~/ipc/generated/grants";
import { scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const grant: StandingGrant = {
  grant_id: "grt_01a20000000070008000000000000099", words: "create `notes/*.md` in this project, 7 days, 50 times", scope: "project", place: "/home/you/notes",
  state: "active", expires_at: Date.now() + 86_400_000, max_uses: 50, uses: 3, surface: "browser", decided_by: "prn_1", reason: null,
};

test("a standing approval in force does not stand above words that deny it", async () => {
  const host = scene({ "grants.standing": { rows: [grant] } });
  const { user } = show(host, "/policy?tab=grants");
  const table = within(await screen.findByRole("table", { name: "Standing approvals" }));
  table.getByText(/create/);
  table.getByText("3 of 50");
  await screen.findByText("No single permissions");
  expect(screen.queryByText(/No standing approvals|No authority/)).toBeNull();
  expect(await seriousFindings()).toEqual([]);
  await user.click(table.getByRole("button", { name: "Revoke" }));
  expect(host.asked.some((one) => one.name === "grants.revoke")).toBe(true);
});
