// A trial that is begun from the page: what is asked of a host, what is shown before, and that nothing typed is lost.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { Refused } from "~/host/host";
import type { Previewed } from "~/ipc/generated/successor";
import { DONE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { trial, trialRow, trialVerdict } from "~/test/successor";

const previewed = (more: Partial<Previewed["changes"][number]> = {}): Previewed => ({
  changes: [{ kind: "policy", says: "it asks less", constitutional: [], edited_tests: [], ...more }],
  budget: { wall_ms: 600_000, cpu_ms: 1_200_000, memory_bytes: 1_000_000_000, disk_bytes: 1_000_000_000, processes: 64, tokens: 1_000_000 },
});

async function form(answers: Parameters<typeof scene>[0]) {
  const host = scene(answers);
  const shown = show(host, "/successor");
  const asked = (name: string) => host.asked.filter((one) => one.name === name).map((one) => one.params);
  await shown.user.click(await screen.findByRole("button", { name: "Try a change" }));
  const page = await screen.findByRole("form", { name: "New trial" });
  const set = (label: string | RegExp, value: string) => fireEvent.change(within(page).getByLabelText(label), { target: { value } });
  const begin = () => within(page).getByRole("button", { name: "Begin the trial" });
  return { ...shown, asked, page, set, begin };
}

test("a change of rules is begun on tasks that are named and drawn, once its budget was shown", async () => {
  const { user, asked, page, set, begin } = await form({ "successor.preview": previewed(), "successor.try_change": { trials: [trialRow({ state: "running", outcome: null })], next: null } });
  expect(begin().getAttribute("aria-disabled")).toBe("true");
  set(/Your rules/, "deny FileDelete(**)\n");
  set("What the change is to do", "it asks less and breaks nothing");
  expect(within(page).getByText("Say where what is new in it comes from.")).toBeTruthy();
  set(/comes from/, "my own idea\n");
  await within(page).findByText(/Each copy may use 10 minutes, 20 minutes of processors, 1\.0 GB of memory, 1\.0 GB of disk, 64 processes and 1,000,000 tokens/);
  await user.click(within(page).getByText("Name tasks that are played"));
  await user.click(within(page).getByLabelText("Tidy the downloads"));
  set(/How many completed tasks/, "5");
  set(/What the draw begins with/, "7");
  set(/Seconds that each copy may take/, "90");
  expect(await seriousFindings()).toEqual([]);
  await waitFor(() => expect(begin().getAttribute("aria-disabled")).toBeNull());
  expect(asked("successor.preview").at(-1)).toMatchObject({ wall_seconds: 90, tokens: null });
  await user.click(begin());
  await screen.findByRole("article", { name: "Trial" });
  const patch = JSON.stringify({ says: "it asks less and breaks nothing", sources: ["my own idea"], change: { kind: "policy", rules: "deny FileDelete(**)\n" } });
  expect(asked("successor.try_change")).toEqual([{
    patches: [patch], about: "it asks less and breaks nothing", tasks: [DONE], draw: 5, seed: 7, ask: null, wall_seconds: 90, cpu_seconds: null, memory_mb: null, disk_mb: null, processes: null, tokens: null,
  }]);
  // It has begun, so that nothing is left of the draft.
  expect(screen.queryByRole("form", { name: "New trial" })).toBeNull();
  expect(localStorage.getItem("hermit.draft.successor.try")).toBeNull();
});

test("a host's refusal stands beside the change in its own words, and what was typed is still there when the page is opened again", async () => {
  const refuses = () => { throw new Refused({ code: "usage", message: "line 1: `alow` is no answer" }); };
  const { page, set, begin, asked, unmount } = await form({ "successor.preview": refuses });
  set(/Your rules/, "alow FileEdit(docs/**)");
  set("What the change is to do", "it asks less");
  set(/comes from/, "my own idea");
  expect((await within(page).findByRole("alert")).textContent).toBe("Line 1: `alow` is no answer");
  expect(begin().getAttribute("aria-disabled")).toBe("true");
  expect(asked("successor.try_change")).toEqual([]);
  unmount();
  show(scene({ "successor.preview": refuses }), "/successor");
  const again = await screen.findByRole("form", { name: "New trial" });
  expect((within(again).getByLabelText(/Your rules/) as HTMLTextAreaElement).value).toBe("alow FileEdit(docs/**)");
  expect((within(again).getByLabelText("What the change is to do") as HTMLInputElement).value).toBe("it asks less");
});

test("a trial that is refused keeps what was typed", async () => {
  const says = "there is no completed task that can be played again, so there is nothing to try it on";
  const { user, page, set, begin } = await form({ "successor.preview": previewed(), "successor.try_change": () => { throw new Refused({ code: "usage", message: says, hint: "do some work first" }); } });
  set(/Your rules/, "deny FileDelete(**)");
  set("What the change is to do", "it asks less");
  set(/comes from/, "my own idea");
  await waitFor(() => expect(begin().getAttribute("aria-disabled")).toBeNull());
  await user.click(begin());
  expect((await within(page).findByRole("alert")).textContent).toMatch(/There is no completed task that can be played again.*Do some work first/);
  expect((within(page).getByLabelText(/Your rules/) as HTMLTextAreaElement).value).toBe("deny FileDelete(**)");
});

test("each kind is written as a host reads it, and its words are kept while another kind is looked at", async () => {
  const { user, asked, page, set } = await form({ "successor.preview": previewed({ edited_tests: ["tests/a.rs"], constitutional: ["gate"] }) });
  const last = () => JSON.parse((asked("successor.preview").at(-1) as { patches: string[] }).patches[0] ?? "null") as { change: unknown };
  set("What the change is to do", "it is faster");
  set(/comes from/, "my own idea");
  set(/Your rules/, "deny FileDelete(**)");
  set("Kind of change", "code");
  await user.upload(within(page).getByLabelText(/from a file/), new File(["--- a/tests/a.rs\n"], "one.diff"));
  await waitFor(() => expect(last().change).toEqual({ kind: "code", source: "5".repeat(64), diff: "--- a/tests/a.rs\n" }));
  expect(await within(page).findByText(/edits, moves or removes tests in/)).toBeTruthy();
  expect(within(page).getByText(/touches what checks every change: gate/)).toBeTruthy();
  set("Kind of change", "words");
  set(/Its whole text/, "# Hermit\n");
  await waitFor(() => expect(last().change).toEqual({ kind: "words", items: [{ what: "soul", name: "SOUL.md", text: "# Hermit\n" }] }));
  set("Which words", "playbook");
  expect(within(page).getByText("Say the name of what changes.")).toBeTruthy();
  set("Its name", "tidy");
  await waitFor(() => expect(last().change).toMatchObject({ items: [{ what: "playbook", name: "tidy" }] }));
  for (const what of ["skin", "skill"]) {
    set("Which words", what);
    await waitFor(() => expect(last().change).toMatchObject({ items: [{ what, name: "tidy" }] }));
  }
  set("Kind of change", "model");
  set("Address of the model", "openai:http://127.0.0.1:1/v1#a");
  await waitFor(() => expect(last().change).toEqual({ kind: "model", address: "openai:http://127.0.0.1:1/v1#a" }));
  set("Kind of change", "policy");
  expect((within(page).getByLabelText(/Your rules/) as HTMLTextAreaElement).value).toBe("deny FileDelete(**)");
  expect(within(page).getByRole("option", { name: "Ask before edits" })).toBeTruthy();
  set(/Standard profile/, "readonly_analysis");
  await waitFor(() => expect(last().change).toEqual({ kind: "policy", rules: "deny FileDelete(**)", profile: "readonly_analysis" }));
  set(/How many completed tasks/, "0");
  expect(within(page).getByText("Write the number of tasks as a whole number from 1 to 1,000.")).toBeTruthy();
});

test("the model that is asked about SOUL.md is named beside it, and is no matter of other changes", async () => {
  const { user, asked, page, set, begin } = await form({ "successor.preview": previewed({ kind: "words" }), "successor.try_change": { trials: [trialRow({ state: "running", outcome: null })], next: null } });
  expect(within(page).queryByLabelText(/Model that is asked/)).toBeNull();
  set("Kind of change", "words");
  set(/Its whole text/, "# Ada\n");
  set(/Model that is asked/, " openai:http://127.0.0.1:8080/v1#one ");
  set("Which words", "playbook");
  expect(within(page).queryByLabelText(/Model that is asked/)).toBeNull();
  set("Which words", "soul");
  set("What the change is to do", "it asks less");
  set(/comes from/, "my own idea");
  expect(await seriousFindings()).toEqual([]);
  await waitFor(() => expect(begin().getAttribute("aria-disabled")).toBeNull());
  await user.click(begin());
  await screen.findByRole("article", { name: "Trial" });
  expect(asked("successor.try_change")).toMatchObject([{ ask: "openai:http://127.0.0.1:8080/v1#one" }]);
});

const RULES = "ask Bash(git push:*)\n  because it leaves this machine\n";
const own = { sha256: "ab", text: RULES, judged: 0, rows: [] };

test("rules begin as they are in force, so that a person edits them, and nothing is tried until something differs", async () => {
  const { user, asked, page, set, begin } = await form({ "policy.own_rules": own, "successor.preview": previewed() });
  const field = () => within(page).getByLabelText(/Your rules/) as HTMLTextAreaElement;
  await waitFor(() => expect(field().value).toBe(RULES));
  expect(localStorage.getItem("hermit.draft.successor.try")).toBeNull();
  set("What the change is to do", "it asks less");
  set(/comes from/, "my own idea");
  expect(within(page).getByText("Change what stands there first.")).toBeTruthy();
  set(/Your rules/, `${RULES}deny FileDelete(**)\n`);
  await waitFor(() => expect(begin().getAttribute("aria-disabled")).toBeNull());
  const last = () => JSON.parse((asked("successor.preview").at(-1) as { patches: string[] }).patches[0] ?? "null") as { change: unknown };
  expect(last().change).toEqual({ kind: "policy", rules: `${RULES}deny FileDelete(**)\n` });
  // What was typed of another kind keeps no copy of what is in force.
  set("Kind of change", "model");
  set("Address of the model", "openai:http://127.0.0.1:1/v1#a");
  set("Kind of change", "policy");
  await user.click(within(page).getByRole("button", { name: "Begin again from what is in force" }));
  expect(field().value).toBe(RULES);
  expect(within(page).queryByRole("button", { name: "Begin again from what is in force" })).toBeNull();
  // So does SOUL.md, and a playbook, which is nobody's yet, begins empty.
  set("Kind of change", "words");
  await waitFor(() => expect((within(page).getByLabelText(/Its whole text/) as HTMLTextAreaElement).value).not.toBe(""));
  set("Which words", "playbook");
  expect((within(page).getByLabelText(/Its whole text/) as HTMLTextAreaElement).value).toBe("");
});

test("several models race over the same tasks, each with a name of its own and with the budget said before", async () => {
  const three = { ...previewed(), changes: ["a", "b", "c"].map((says) => ({ kind: "model" as const, says, constitutional: [], edited_tests: [] })) };
  const rows = ["trial_01", "trial_02"].map((trial_id) => trialRow({ trial_id, state: "running", outcome: null }));
  const { user, asked, page, set } = await form({ "successor.preview": three, "successor.try_change": { trials: rows, next: null } });
  const address = (name: string) => `openai:http://127.0.0.1:1/v1#${name}`;
  set("Kind of change", "model");
  set("Address of the model", address("a"));
  set("What the change is to do", "it asks less");
  set(/comes from/, "my own idea");
  const another = () => within(page).getByRole("button", { name: "Race it against another variant" });
  await user.click(another());
  expect(within(page).getByText("Write variant 2, or take it away.")).toBeTruthy();
  set("Address of variant 2", address("a"));
  expect(within(page).getByText("Make each variant another one.")).toBeTruthy();
  set("Address of variant 2", address("b"));
  await user.click(another());
  set("Address of variant 3", address("c"));
  await within(page).findByText(/3 changes race over the same tasks at the same time.*together they may use 3 times as much/);
  expect(await seriousFindings()).toEqual([]);
  await user.click(within(page).getByRole("button", { name: "Take variant 3 away" }));
  const race = () => within(page).getByRole("button", { name: "Begin the race" });
  await waitFor(() => expect(race().getAttribute("aria-disabled")).toBeNull());
  expect(within(page).queryByRole("button", { name: "Begin the trial" })).toBeNull();
  await user.click(race());
  await screen.findByRole("article", { name: "Trial" });
  const sent = (asked("successor.try_change") as { patches: string[] }[]).map(({ patches }) => patches.map((one) => JSON.parse(one) as unknown));
  expect(sent).toEqual([["a", "b"].map((name) => ({ says: `it asks less (${address(name)})`, sources: ["my own idea"], change: { kind: "model", address: address(name) } }))]);
});

test("a variant of rules begins as a copy of the one before it, and both are kept while the page is closed", async () => {
  const { user, page, set, unmount } = await form({ "policy.own_rules": own, "successor.preview": previewed() });
  await waitFor(() => expect((within(page).getByLabelText(/Your rules/) as HTMLTextAreaElement).value).toBe(RULES));
  set(/Your rules/, "deny FileDelete(**)");
  await user.click(within(page).getByRole("button", { name: "Race it against another variant" }));
  expect((within(page).getByLabelText("Variant 2, all of it") as HTMLTextAreaElement).value).toBe("deny FileDelete(**)");
  set("Variant 2, all of it", "deny Bash(*)");
  for (let at = 3; at <= 8; at += 1) await user.click(within(page).getByRole("button", { name: "Race it against another variant" }));
  expect(within(page).getByRole("button", { name: "Race it against another variant" }).getAttribute("aria-disabled")).toBe("true");
  unmount();
  show(scene({ "policy.own_rules": own }), "/successor");
  const again = await screen.findByRole("form", { name: "New trial" });
  expect((within(again).getByLabelText("Variant 2, all of it") as HTMLTextAreaElement).value).toBe("deny Bash(*)");
});

test("a trial that a task proposed leads to that task, and edited tests are looked at before a change is adopted", async () => {
  const edits = ["tests/a.rs", "tests/b\u202e.rs"].map((file, at) => ({ file, sha256: String(at + 1).repeat(64), difference: `--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-one\n+two\n` }));
  const row = trialRow({ kind: "code", outcome: "inconclusive", proposed_by: DONE });
  const host = scene({
    "successor.list": { trials: [row], next: null }, "successor.show": trial({ trial: row, verdict: trialVerdict(), edited_tests: edits, waits_for_look: true }),
    "adoptions.list": { adoptions: [] }, "adoptions.propose": { task_id: "task_new", ingress_id: "ing_1", duplicate: false },
  });
  const { user } = show(host, `/successor?of=${row.trial_id}`);
  const page = await screen.findByRole("article", { name: "Trial" });
  expect(within(page).getByRole("link", { name: "a task" }).getAttribute("href")).toContain(DONE);
  expect(screen.getByText(/proposed by a task/)).toBeTruthy();
  const ask = await within(page).findByRole("button", { name: "Ask me to adopt it" });
  expect(ask.getAttribute("title")).toMatch(/Look at each edited test first/);
  for (const [at, edit] of edits.entries()) {
    const part = within(page).getByRole("group", { name: new RegExp(`Tests in tests/${"ab"[at]}`) });
    const box = within(part).getByRole("checkbox") as HTMLInputElement;
    expect(box.disabled).toBe(true);
    await user.click(within(part).getByText(/\(5 lines\)/));
    expect((await within(part).findAllByText(/two/)).length).toBe(1);
    expect(part.querySelector("label")?.textContent).not.toContain("\u202e");
    await waitFor(() => expect(box.disabled).toBe(false));
    await user.click(box);
    expect(edit.sha256).toHaveLength(64);
  }
  expect(ask.getAttribute("title")).toMatch(/Add two reviews/);
  for (const at of [1, 2]) await user.type(within(page).getByLabelText(new RegExp(`Review ${at}`)), `review ${at}`);
  await user.click(ask);
  await screen.findByRole("link", { name: "Review the card" });
  expect(host.asked.find((one) => one.name === "adoptions.propose")?.params).toMatchObject({ trial: row.trial_id, although_same: true, looked: edits.map((one) => one.sha256) });
  expect(await seriousFindings()).toEqual([]);
});
