import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { Refused } from "~/host/host";
import type { TrialRow } from "~/ipc/generated/successor";
import type { TrialStage } from "~/ipc/generated/words";
import { DONE, doneRow, scene, task } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { trial, trialRow, trialVerdict } from "~/test/successor";

const AT = `/successor?of=${trialRow().trial_id}`;

test("nothing was tried: the page says what can be and how", async () => {
  show(scene({ "successor.list": { trials: [], next: null } }), "/successor");
  await screen.findByText("No change of Hermit was tried");
  expect(screen.getByText(/Choose a trial/)).toBeTruthy();
});

test("a trial is one page: what changed, what was run, what differed, what it cost, and why", async () => {
  const { user } = show(scene(), AT);
  const page = await screen.findByRole("article", { name: "Trial" });
  await user.click(within(page).getByText("Rules (2 lines)"));
  await within(page).findByText("allow FileEdit(docs/**)");
  expect(within(page).getByText(/1 task of yours, named or drawn at random with the seed 7/)).toBeTruthy();
  expect((await within(page).findByRole("link", { name: "Tidy the downloads" })).getAttribute("href")).toContain(DONE);
  expect(within(page).getByText(/2 changes known to be bad, tried in the same run, were refused/)).toBeTruthy();
  const acts = within(within(page).getByRole("table", { name: "Acts that differ" })).getAllByRole("row");
  expect(acts[1]?.textContent).toBe("Edit docs/plan.mdWrite filesasked youallowedThe same");
  const cost = within(within(page).getByRole("table", { name: "Cost" })).getAllByRole("row");
  expect(cost[1]?.textContent).toBe("Questions to you124");
  expect(within(page).getByText(/Questions: 4 instead of 12/)).toBeTruthy();
  expect(within(page).getByText("Holds, by the key of this store's log")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("what makes a verdict worth nothing is said beside it", async () => {
  const verdict = trialVerdict({
    planted: [{ name: "planted_widest_profile", refused: false }], is_signed: false, has_evidence: false, differences: [], constitutional: ["gate", "policy"],
    tests: { suite: "npm test", passed: 4_000, failed: ["first"], edited: ["tests/journeys/first.rs"], parent: null }, opinion: "I like it", ended_for: "wall_time",
  });
  show(scene({ "successor.show": trial({ trial: trialRow({ outcome: "inconclusive" }), verdict }) }), AT);
  for (const says of [/planted widest profile was not refused, so this verdict does not count/, /signature of this verdict does not hold/, /The evidence was erased/, /It touches what checks every change: gate, policy/, /tests\/journeys\/first\.rs\. Look at that first/, /4,000 passed, 1 test failed/, /decides nothing: I like it/, /used up its time/]) {
    expect((await screen.findAllByText((_, element) => element?.tagName === "P" && says.test(element.textContent ?? ""))).length).toBe(1);
  }
  expect(screen.queryByText(/the same acts, with the same effects/)).toBeNull();
});

test("whose word a number is, and how tests that a change edits ran as they were before, is said beside them", async () => {
  const measures = [{ name: "questions", parent: 12, successor: 0, measured_by: "successor" as const }, { name: "cpu_ms", parent: 900, successor: 800, measured_by: "host" as const }];
  const parent = { passed: 3_999, failed: ["journeys::first"], not_run: ["src/lib.rs"] };
  const verdict = trialVerdict({ tests: { suite: "npm test", passed: 4_000, failed: [], edited: ["tests/journeys/first.rs"], parent } });
  show(scene({ "successor.show": trial({ trial: trialRow({ kind: "code", outcome: "worse", measures }), verdict }) }), AT);
  const cost = within(await screen.findByRole("table", { name: "Cost" })).getAllByRole("row");
  expect(cost.slice(1).map((row) => row.textContent)).toEqual(["Questions to youCounted by the changed program itself120", "Processor time0.9 s0.8 s"]);
  for (const says of [/counts of itself can make this verdict worse, never better/, /as they were before: 3,999 passed, 1 test failed: journeys::first\./, /tests of src\/lib\.rs could not be run as they were before/]) {
    expect((await screen.findAllByText((_, element) => element?.tagName === "P" && says.test(element.textContent ?? ""))).length).toBe(1);
  }
  expect(await seriousFindings()).toEqual([]);
});

test("which model was asked about words, and how often, is said; and of one that runs until now", async () => {
  const asked = { model: "openai:http://127.0.0.1:8080/v1#one", parent: 6, successor: 1 };
  const says = (words: RegExp) => screen.findAllByText((_, element) => element?.tagName === "P" && words.test(element.textContent ?? ""));
  const { unmount } = show(scene({ "successor.show": trial({ trial: trialRow({ kind: "words", asked }) }) }), AT);
  expect((await says(/^The model openai:http:\/\/127\.0\.0\.1:8080\/v1#one was asked again, with the same settings, and the same seed where its server takes one: 6 answers without the change and 1 with it\.$/)).length).toBe(1);
  unmount();
  show(scene({ "successor.show": trial({ trial: trialRow({ kind: "words", state: "running", outcome: null, measures: [], asked }), verdict: null }) }), AT);
  expect((await says(/is asked again.*6 answers without the change and 1 with it until now\.$/)).length).toBe(1);
  expect(await seriousFindings()).toEqual([]);
});

test("what a trial of the source is at is said while it runs, in the list, in a race and on its page", async () => {
  const at = (stage: TrialStage | null, more: Partial<TrialRow> = {}) => trialRow({ kind: "code", state: "running", outcome: null, measures: [], stage, ...more });
  const rows = [at("building_base"), at("waiting", { trial_id: "trial_02", says: "Wait" }), at("testing", { trial_id: "trial_03", says: "Test", kind: "policy" })];
  show(scene({ "successor.list": { trials: rows, next: null }, "successor.show": trial({ trial: rows[0], verdict: null, rivals: rows.slice(1) }) }), AT);
  const race = within(await screen.findByRole("table", { name: "Changes that raced" })).getAllByRole("row").map((row) => row.textContent);
  expect(race[1]).toContain("RunningBuilding Hermit without the change first, once for this version");
  expect(race[2]).toContain("RunningWaiting until another change is built");
  expect(race[3]).toMatch(/^TestRunning–/);
  // In the list and on its page as well.
  expect(screen.getAllByText("Building Hermit without the change first, once for this version").length).toBe(3);
  expect(await seriousFindings()).toEqual([]);
});

test("what each copy may use is said while a trial runs, and not when it is over", async () => {
  const words = /^Each copy may use 10 minutes, 20 minutes of processors, .+ of memory, .+ of disk, 64 processes and 1,000,000 tokens\. Hermit ends a copy that wants more\.$/;
  const says = (_: string, element: Element | null) => element?.tagName === "P" && words.test(element.textContent ?? "");
  const { unmount } = show(scene({ "successor.show": trial({ trial: trialRow({ state: "running", outcome: null, measures: [] }), verdict: null }) }), AT);
  expect(await screen.findByText(says)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  unmount();
  show(scene({ "successor.show": trial() }), AT);
  await screen.findByText(/tasks? of yours, named or drawn/);
  expect(screen.queryByText(says)).toBeNull();
});

test("tasks that were too large for the trial are told to be left out", async () => {
  const words = /^2 tasks left out of the draw, because too large for this trial: Tidy the downloads; left-out task 2$/;
  const says = (_: string, element: Element | null) => element?.tagName === "P" && words.test(element.textContent ?? "");
  const gone = () => { throw new Refused({ code: "not_found", message: "there is no such task" }); };
  const shown = { ...task, row: doneRow };
  const { unmount } = show(scene({ "successor.show": trial({ left_out: ["task_0a", "task_0b"] }), "task.show": ({ task: id }: { task: string }) => (id === "task_0b" ? gone() : shown) }), AT);
  const told = await screen.findByText(says);
  expect(within(told).getAllByRole("link").map((link) => link.getAttribute("href")).join(" ")).toMatch(/task_0a.*task_0b/);
  expect(await seriousFindings()).toEqual([]);
  unmount();
  show(scene({ "successor.show": trial() }), AT);
  await screen.findByText(/tasks? of yours, named or drawn/);
  expect(screen.queryByText(/left out of the draw/)).toBeNull();
});

test("changes that raced stand side by side", async () => {
  const rivals = [trialRow({ trial_id: "trial_02", says: "Ask about everything", outcome: "worse", measures: [{ name: "questions", parent: 12, successor: 30, measured_by: "parent" }] }), trialRow({ trial_id: "trial_03", says: "Wait", state: "running", outcome: null, measures: [] })];
  show(scene({ "successor.show": trial({ rivals }) }), AT);
  const rows = within(await screen.findByRole("table", { name: "Changes that raced" })).getAllByRole("row");
  expect(rows.map((row) => row.textContent)).toEqual([
    "ChangeVerdictQuestions to youTokensTurnsDenials",
    "Documents may be edited unaskedBetter12 to 41,000 to 1,000––",
    "Ask about everythingWorse12 to 30–––",
    "WaitRunning––––",
  ]);
});

test("a trial that runs is stopped from its page, and one that was adopted says so", async () => {
  const host = scene({ "successor.show": trial({ trial: trialRow({ state: "running", outcome: null, measures: [] }), verdict: null }), "successor.stop": trial() });
  const { user } = show(host, AT);
  await user.click(await screen.findByRole("button", { name: "Stop this trial" }));
  await waitFor(() => expect(host.asked.find((call) => call.name === "successor.stop")?.params).toEqual({ trial: trialRow().trial_id, reason: null }));
  show(scene({ "successor.show": trial({ trial: trialRow({ state: "adopted" }) }) }), AT);
  expect((await screen.findAllByText("Adopted")).length).toBeGreaterThan(0);
});
