// Skills on a page: how each stands, every word of it, and that trust is asked for and never given by a page.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { SkillRow, SkillShown } from "~/ipc/generated/skills";
import { AT, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const HASH = "ab".repeat(32);
const row: SkillRow = {
  name: "deploy", description: "Deploys the site", place: "project_agents", path: "/home/you/atlas-billing/.agents/skills/deploy", state: "untrusted", why: null, notes: ["not used: `model`"],
  sha256: HASH, files: 2, byte_size: 90, since: null,
};
const broken: SkillRow = { ...row, name: "old", description: null, state: "broken", why: "it has no `name`; write one", notes: [], sha256: null, files: 0, byte_size: 0 };
const shown: SkillShown = {
  skill: row, text: "---\nname: deploy\n---\nRun it \u202egnp.exe.", license: null, compatibility: "needs docker", allowed_tools: "Bash(*)",
  files: [{ path: "SKILL.md", byte_size: 40, sha256: HASH }, { path: "run.sh", byte_size: 50, sha256: HASH }], file_text: null, versions: [],
};
const world = (more: Partial<SkillRow> = {}) => scene({
  "skills.list": { skills: [{ ...row, ...more }, broken], playbooks: [{ name: "tidy", about: "Sorts a folder" }], left_out: ["`/x/.claude` is a link"] },
  "skills.show": ({ file }: { file?: string | null }) => ({ ...shown, skill: { ...row, ...more }, file_text: file === "run.sh" ? "#!/bin/sh" : null }),
  "skills.trust": { task_id: "task_new", ingress_id: "ing_1", duplicate: false },
  "skills.untrust": { name: "deploy", sha256: [HASH] },
  "skills.drafts": { rows: [{ name: "know-how-1a2b3c4d", description: "What mended it", text: "---\nname: know-how-1a2b3c4d\n---\nIt \u202efailed.", trust: "untrusted", memory_id: "mem_1", tasks: ["task_1", "task_2", "task_3"] }] },
  "skills.adopt": { task_id: "task_new", ingress_id: "ing_1", duplicate: false },
});
const asked = (host: ReturnType<typeof world>, name: string) => host.asked.filter((one) => one.name === name).map((one) => one.params);

test("every word and every file of a skill stands there, and what it asks for allows nothing", async () => {
  const { user } = show(world(), "/tools?tab=skills");
  const one = within(await screen.findByRole("region", { name: "deploy" }));
  const text = await one.findByLabelText("SKILL.md");
  expect(text.textContent).toContain("name: deploy");
  expect(text.textContent).not.toContain("\u202e");
  expect(one.getByText(/which allows nothing/)).toBeTruthy();
  expect(one.getByText("needs docker")).toBeTruthy();
  await user.click(one.getByRole("button", { name: "run.sh" }));
  expect((await one.findByLabelText("run.sh")).textContent).toContain("#!/bin/sh");
  expect(screen.getByText(/is a link/)).toBeTruthy();
  expect(screen.getByText("Broken")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("trust is asked for with the digest that was seen, and the card is a task of its own", async () => {
  const host = world();
  const { user, router } = show(host, "/tools?tab=skills");
  await user.click(await screen.findByRole("button", { name: "Ask me to trust it" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/task/task_new"));
  expect(asked(host, "skills.trust")).toEqual([{ name: "deploy", sha256: HASH, folder: "/home/you/atlas-billing", channel: "app" }]);
});

test("one click takes trust back, and a skill that is trusted is not asked about", async () => {
  const host = world({ state: "trusted", since: AT });
  const { user } = show(host, "/tools?tab=skills");
  await user.click(await screen.findByRole("button", { name: "Trust it no more" }));
  await waitFor(() => expect(asked(host, "skills.untrust")).toEqual([{ name: "deploy", sha256: HASH, reason: "taken back on the page" }]));
  expect(screen.queryByRole("button", { name: "Ask me to trust it" })).toBeNull();
});

test("a skill that cannot be used says what to do and is not read", async () => {
  const host = world();
  const { user } = show(host, "/tools?tab=skills");
  await user.click(await screen.findByRole("link", { name: /old/ }));
  const one = within(await screen.findByRole("region", { name: "old" }));
  expect(one.getByText(/write one/)).toBeTruthy();
  expect(one.queryByRole("button", { name: /trust/i })).toBeNull();
  expect(host.asked.filter((each) => each.name === "skills.show").every((each) => (each.params as { name: string }).name === "deploy")).toBe(true);
});

test("what recurs is read when somebody opens it, and is written by no page", async () => {
  const host = world();
  const { user, router } = show(host, "/tools?tab=skills");
  const summary = await screen.findByText("Drafted from what recurs");
  expect(asked(host, "skills.drafts")).toEqual([]);
  const details = summary.closest("details");
  if (details === null) throw new Error("it opens");
  details.open = true;
  fireEvent(details, new Event("toggle"));
  const text = await screen.findByLabelText("know-how-1a2b3c4d");
  expect(text.textContent).toContain("name: know-how-1a2b3c4d");
  expect(text.textContent).not.toContain("\u202e");
  expect(screen.getByText(/Trust: untrusted. From 3 tasks/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Ask me to write it into the project" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/task/task_new"));
  expect(asked(host, "skills.adopt")).toEqual([{ name: "know-how-1a2b3c4d", folder: "/home/you/atlas-billing", channel: "app" }]);
});
