// Drafted playbooks, as a person reads, tries, adopts and turns them off.
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Draft } from "~/ipc/generated/playbooks";
import { DONE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const draft = (name: string, more: Partial<Draft> = {}): Draft => ({
  name, playbook_sha256: "ab".repeat(32), state: "draft", why: null, task_id: DONE, text: "playbook: 1\nname: write-readme\u202e\n", project: "parts", trust: "observed", same: 2, of: 3,
  trials: [
    { task_id: DONE, receipts: ["rcp_1"], parameters: { folder: "alpha" }, outcome: "same", why: null },
    { task_id: DONE.replace(/.$/, "9"), receipts: [], parameters: { folder: "beta" }, outcome: "differs", why: "`beta/README.md` would be another" },
  ],
  narrowest: "write files below `parts`, in one project", versions: [], artifact_id: `art_${name}`, ...more,
});

const open = async (rows: Draft[]) => {
  const tried = draft("write-readme", { same: 3 });
  const host = scene({
    "knowledge.memories": { rows: [] }, "workspaces.list": { workspaces: [] }, "playbooks.drafts": { rows }, "playbooks.try_draft": tried,
    "playbooks.adopt": { task_id: "task_new", ingress_id: "ing_1", duplicate: false }, "playbooks.turn_off": { name: "x", sha256: "ab".repeat(32) },
  });
  const shown = show(host, "/knowledge");
  await shown.user.click(await screen.findByRole("button", { name: "Memory" }));
  return { ...shown, host };
};

test("a draft says on how many recorded tasks it gives the same result, and leads to each and to its card", async () => {
  const { user } = await open([draft("write-readme")]);
  const card = await screen.findByRole("group", { name: "Playbook write-readme" });
  expect(card.textContent).toMatch(/Same result on 2 of 3 recorded tasks/);
  expect(card.textContent).toMatch(/Narrowest standing grant/);
  await user.click(within(card).getByText("Recorded tasks"));
  expect(within(card).getByRole("link", { name: "Same result" }).getAttribute("href")).toContain("rcp_1");
  expect(within(card).getByText(/beta: `beta\/README.md` would be another/)).toBeTruthy();
  expect(within(card).getByRole("link", { name: "Review the card" }).getAttribute("href")).toContain(DONE);
  expect(within(card).queryByRole("button", { name: "Ask me to adopt it" })).toBeNull();
  await user.click(within(card).getByText("Its text, word for word"));
  expect(within(card).getByLabelText("Text of write-readme").textContent).not.toContain("\u202e");
  await user.click(within(card).getByRole("button", { name: "Try it again on the record" }));
  expect(await within(card).findByText("Same result on 3 of 3 recorded tasks")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("a person is asked to adopt what nobody answered, and turns off what they adopted; what they rejected stays folded", async () => {
  const adopted = draft("move-scan", { state: "adopted", task_id: null, versions: [{ version: 1, sha256: "ab".repeat(32), since: 1, off: null, artifact_id: "art_9" }] });
  const { user, host } = await open([draft("write-readme", { task_id: null, why: "nobody answered its card" }), adopted, draft("delete-tmp", { state: "rejected", task_id: null })]);
  const asks = await screen.findByRole("group", { name: "Playbook write-readme" });
  await user.click(within(asks).getByRole("button", { name: "Ask me to adopt it" }));
  expect((await within(asks).findByRole("link", { name: "Review the card" })).getAttribute("href")).toContain("task_new");
  const used = screen.getByRole("group", { name: "Playbook move-scan" });
  await user.click(within(used).getByRole("button", { name: "Turn it off" }));
  expect(host.asked.filter((one) => one.name === "playbooks.turn_off").map((one) => one.params)).toEqual([{ name: "ab".repeat(32), reason: null }]);
  expect(screen.getByText(/1 draft that you rejected/)).toBeTruthy();
});
