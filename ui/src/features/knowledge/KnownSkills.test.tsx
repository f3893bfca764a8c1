// Skills stand among what is known, each with its state, and lead to where it is read and trusted.
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { SkillRow } from "~/ipc/generated/skills";
import { scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const skill = (name: string, more: Partial<SkillRow>): SkillRow => ({
  name, description: `What ${name} is for`, place: "project_hermit", path: `/home/ann/.hermit/skills/${name}`, state: "trusted", why: null, notes: [], sha256: "a".repeat(64), files: 1, byte_size: 120, since: 1, ...more,
});

test("each skill is shown with its state, and leads to where it is trusted", async () => {
  const skills = [skill("invoices", {}), skill("release", { state: "untrusted", why: "nobody trusted these bytes" })];
  const { user } = show(scene({ "skills.list": { skills, playbooks: [{ name: "tidy", about: "sorts a folder" }], left_out: [] } }), "/knowledge");
  await user.click(await screen.findByRole("button", { name: "Skills" }));
  const row = async (name: string) => (await screen.findByText(name)).closest("tr") as HTMLElement;
  expect(within(await row("invoices")).getByText("trusted")).toBeTruthy();
  const other = await row("release");
  expect(within(other).getByText("nobody trusted these bytes")).toBeTruthy();
  expect(within(other).getByRole("link", { name: "release" }).getAttribute("href")).toContain("/tools?tab=skills");
  expect(within(await row("tidy")).getByText("playbook")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("the page is walked through by the keyboard alone", async () => {
  const { user } = show(scene({ "skills.list": { skills: [skill("invoices", {})], playbooks: [], left_out: [] } }), "/knowledge");
  const skills = await screen.findByRole("button", { name: "Skills" });
  skills.focus();
  await user.keyboard("{Enter}");
  const link = await screen.findByRole("link", { name: "invoices" });
  for (let step = 0; step < 10 && document.activeElement !== link; step += 1) await user.tab();
  expect(document.activeElement).toBe(link);
});
