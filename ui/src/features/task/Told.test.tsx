// What is told of a task and its receipts is what came of it: refused is not done, and a standing grant is no yes of today.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { FileChange } from "~/ipc/generated/changes";
import type { StandingGrant } from "~/ipc/generated/grants";
import type { Judged } from "~/ipc/generated/policy";
import type { Receipt } from "~/ipc/generated/receipts";
import type { AnswerCheck, AnswerSentence } from "~/ipc/generated/answer";
import type { Task, TaskRow } from "~/ipc/generated/task";
import { DONE, RECEIPT, WAITS, changes, changesOf, doneRow, doneTask, explanation, ofPart, receipt, scene } from "~/test/scene";
import { show } from "~/test/show";

const GRANT = "grt_01a20000000070008000000000000011";
const act = doneTask.actions[0] as (typeof doneTask.actions)[number];

async function authority(): Promise<string> {
  const asked = await screen.findByText("On whose authority");
  const answer = asked.parentElement?.querySelector("dd");
  await waitFor(() => expect(answer?.textContent).toMatch(/grant/));
  return (answer?.textContent ?? "").replaceAll(/\s+/g, " ");
}

test("words of a model are never proven: they are marked, and what was done stands apart with its receipts", async () => {
  const lie = { ...doneTask, reasoner: "openai:qwen", summary: "I moved 7 files and e-mailed your team." };
  show(scene({ "task.show": lie }), `/task/${DONE}`);
  const log = within(await screen.findByRole("log"));
  const claim = (await log.findByText("7 files were moved.")).closest("[data-who]") as HTMLElement;
  expect(within(claim).getByText("UNVERIFIED")).toBeTruthy();
  expect(within(claim).getByText("Model")).toBeTruthy();
  expect(within(claim).getByText(/Done in this task, each with its receipt/).textContent).toMatch(/R-/);
  expect(claim.querySelector("p button")?.closest("p")?.textContent).not.toMatch(/were moved/);
});

test("each sentence of an answer stands with what shows it, and one that nothing shows is marked by itself", async () => {
  const sentence = (text: string, more: Partial<AnswerSentence>): AnswerSentence => ({ gap: " ", text, plain: null, support: "unverified", receipts: [], sources: [], because: null, near: null, cited: false, cites: [], ...more });
  const check: AnswerCheck = {
    method: "hermit.answer/1",
    sentences: [
      sentence("7 files", { gap: "", support: "receipt", receipts: [RECEIPT] }),
      sentence("were", { support: "evidence", sources: [{ artifact_id: "art_1", title: "list atlas" }] }),
      sentence("moved.", { because: "no receipt shows that" }),
    ],
  };
  show(scene({ "task.show": { ...doneTask, reasoner: "openai:qwen", answer_check: check } }), `/task/${DONE}`);
  const log = within(await screen.findByRole("log"));
  const marked = (await log.findByText("UNVERIFIED")).closest("[data-support]") as HTMLElement;
  expect(marked.dataset["support"]).toBe("unverified");
  expect(marked.textContent).toContain("moved.");
  expect(within(marked).getByTitle("Nothing on record shows this: no receipt shows that")).toBeTruthy();
  const parts = [...(marked.parentElement as HTMLElement).querySelectorAll<HTMLElement>("[data-support]")];
  expect(parts[0]?.textContent).toMatch(/7 files.*R-/);
  expect(parts[1]?.textContent).toContain("list atlas");
  expect(log.queryAllByText("UNVERIFIED")).toHaveLength(1);
});

test("Hermit's own line and a playbook's carry no mark", async () => {
  show(scene(), `/task/${DONE}`);
  await (await screen.findByRole("log")).querySelector("p");
  expect(within(screen.getByRole("log")).queryByText("UNVERIFIED")).toBeNull();
});

test("a task goes on after its end: the words become a task that follows it", async () => {
  const host = scene({ "task.show": { ...doneTask, reasoner: "openai:qwen" }, "conversations.say": { message_id: "ing_1", resolution: "start_new_root", task_id: "task_01a2000000007000800000000000000a", candidates: [], rationale: "", told: [], conversation_id: "cnv_1" } });
  const { user, router } = show(host, `/task/${DONE}`);
  await user.type(await screen.findByLabelText("Continue with a follow-up"), "and now the other folder");
  await user.click(screen.getByRole("button", { name: "Follow up" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "conversations.say")?.params).toEqual({ task: DONE, text: "and now the other folder", channel: "app", idempotency_key: expect.stringMatching(/^[0-9a-f-]{36}$/) as string }));
  await waitFor(() => expect(router.state.location.pathname).toContain("task_01a2000000007000800000000000000a"));
});

test("after a playbook the words lead to a new task for a model, in the same folder", async () => {
  const { user, router } = show(scene({ "task.show": { ...doneTask, row: { ...doneTask.row, proposer: "playbook" } } }), `/task/${DONE}`);
  await user.type(await screen.findByLabelText("Continue with a follow-up"), "summarise it");
  await user.click(screen.getByRole("button", { name: "Follow up" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/tasks/new"));
  expect(((await screen.findByLabelText("Goal")) as HTMLTextAreaElement).value).toBe("summarise it");
  expect((screen.getByLabelText(/Folder to work in/) as HTMLInputElement).value).toBe("/home/you/atlas-billing");
});

test("a receipt after a yes names the person and the card", async () => {
  show(scene(), `/task/${DONE}?see=${RECEIPT}`);
  expect(await authority()).toMatch(/^You, once/);
});

test.each([
  ["Run the playbook tidy", "Run the playbook tidy. Move 3 files"],
  ["tidy it, please!", "Tidy it, please! Move 3 files"],
  ["sort these.", "Sort these. Move 3 files"],
  ["整理する。", "整理する。 Move 3 files"],
])("why an act was done is told in sentences, each with a capital letter: %s", async (goal, why) => {
  const chain = { ...explanation, decisions: explanation.decisions.map((one) => ({ ...one, label: "move 3 files" })) };
  const told = { kind: "receipt" as const, subject: RECEIPT, told: [], line: null, chains: [chain], graph: { nodes: [], edges: [], layers: 0, rows: 0 } };
  show(scene({ "task.show": { ...doneTask, goal }, "trace.explain": told }), `/task/${DONE}?see=${RECEIPT}`);
  const asked = await screen.findByText("Why");
  await waitFor(() => expect(asked.parentElement?.querySelector("dd")?.textContent).toBe(why));
});

test("a receipt says which task of the tree its own was a part of, and which agent asked", async () => {
  show(scene({ "receipts.show": { ...receipt, ...ofPart } }), `/task/${DONE}?see=${RECEIPT}`);
  const who = await screen.findByRole("list", { name: "Who asks" });
  expect(within(who).getAllByRole("listitem").map((one) => one.textContent)).toEqual(["Part of: Tidy U+202Eall of it", "Asked by: qwen2.5-1.5b"]);
});

test("a receipt under a standing grant says which, by whom, and how much of it is left", async () => {
  const under: Receipt = { ...receipt, receipt: { verifiability: "signed", changes: [], authorized: { standing: { grant_id: GRANT, envelope_sha256: "00" } } } };
  const row: StandingGrant = {
    grant_id: GRANT, words: "move `*.jpg` in this project, 7 days, 50 times", scope: "project", place: "/home/you/Downloads", state: "active", expires_at: Date.now() + 6 * 86_400_000,
    max_uses: 50, uses: 3, surface: "approval_window", decided_by: "prn_1", reason: null,
  };
  const host = scene({
    "task.show": { ...doneTask, actions: [{ ...act, verdict: "allow", approval_id: null }] }, "receipts.show": under,
    "grants.standing": ({ all }) => ({ rows: all === true ? [row] : [] }),
  });
  show(host, `/task/${DONE}?see=${RECEIPT}`);
  const said = await authority();
  expect(said).toContain("A standing grant, given by you in the approval window: move");
  expect(said).toContain("47 of 50 uses left");
  expect(said).not.toMatch(/once/);
});

test("a yes behind what was read before is no yes to this act", async () => {
  show(scene({ "task.show": { ...doneTask, actions: [{ ...act, verdict: "allow", approval_id: null }] } }), `/task/${DONE}?see=${RECEIPT}`);
  expect(await authority()).toMatch(/^Policy allowed it/);
});

test("a task whose only act was refused is not done: who refused it stands in the list, and the rule on the task", async () => {
  const refused: TaskRow = { ...doneRow, receipts: 0, refused_by: "policy" };
  const task: Task = { ...doneTask, row: refused, actions: [{ ...act, state: "refused", verdict: "deny", approval_id: null, grant_id: null, receipt_id: null, result: null }] };
  const judged: Judged = {
    profile: "destructive_denied", verdict: "deny", downgrade: null, instead_of: null, risk: "high", classes: ["delete_local"], summary: "delete notes.txt", risk_summary: "deletes a file", reasons: "no",
    rules: [{ name: "profile.destructive_denied", effect: "forbid", reason: "this profile deletes nothing", text: "" }],
  };
  const host = scene({ "task.list": ({ group }) => ({ rows: group === "done" ? [] : [refused, { ...doneRow, task_id: "task_other", refused_by: "person" }] }), "task.show": task, "policy.explain": judged });
  const { user, router } = show(host, "/tasks");
  const table = within(await screen.findByRole("table", { name: "Tasks" }));
  expect(await table.findByText("Denied by policy")).toBeTruthy();
  expect(table.getByText("Denied by you")).toBeTruthy();
  expect(table.queryByText("Done")).toBeNull();
  await user.click(screen.getByText("Board"));
  expect(await within(await screen.findByRole("region", { name: "Done" })).findByText("None")).toBeTruthy();
  await router.navigate({ to: "/task/$id", params: { id: DONE } });
  expect(await screen.findByText(/This profile deletes nothing\./)).toBeTruthy();
  expect(screen.getByText("profile.destructive_denied")).toBeTruthy();
});

test("what a receipt tells as done was done, and what was not is told as it was asked", async () => {
  const files = changes.files.map((file, at): FileChange => ({ ...file, outcome: at === 0 ? "done" : "not_done" }));
  show(scene({ "changes.show": changesOf({ ...changes, tense: "done", files }) }), `/task/${DONE}?see=${RECEIPT}`);
  expect(await screen.findByRole("region", { name: "Deleted data/tax-rates.csv" })).toBeTruthy();
  expect(within(screen.getByRole("region", { name: "Replace src/tax/reverse.ts" })).getByText("not done")).toBeTruthy();
});

test("a receipt of a part that was chosen has the look of what was done, and of one that failed it has not", async () => {
  const tag = async (asChosen: boolean) => {
    const { unmount } = show(scene({ "receipts.show": { ...receipt, row: { ...receipt.row, result: "partial" }, as_chosen: asChosen } }), `/task/${DONE}?see=${RECEIPT}`);
    const found = await screen.findByText(/^In part/);
    const told = [found.textContent, found.closest("[data-tone]")?.getAttribute("data-tone")];
    unmount();
    return told;
  };
  expect(await tag(true)).toEqual(["In part, as you chose", "done"]);
  expect(await tag(false)).toEqual(["In part", "failed"]);
});

test("what an undo leaves is told as left as it is", async () => {
  const files = changes.files.map((file): FileChange => ({ ...file, op: "write", outcome: "not_done", after: file.before }));
  show(scene({ "changes.show": changesOf({ ...changes, tense: "done", files }) }), `/task/${DONE}?see=${RECEIPT}`);
  const left = within(await screen.findByRole("region", { name: "Left as it is src/tax/reverse.ts" }));
  expect(left.queryByText("not done")).toBeNull();
});

const folder: FileChange = { op: "delete", path: "made%20here", to: null, same_as: null, before: null, after: null, outcome: "not_done", note: "stays: it holds files that came later" };

test("a folder that an undo leaves says why it stays", async () => {
  show(scene({ "changes.show": changesOf({ ...changes, tense: "done", files: [folder] }) }), `/task/${DONE}?see=${RECEIPT}`);
  const stays = within(await screen.findByRole("region", { name: "The folder made here" }));
  expect(stays.getByText("stays: it holds files that came later")).toBeTruthy();
  expect(stays.queryByText("not done")).toBeNull();
});

test("a folder that is to go says on what that depends", async () => {
  const files: FileChange[] = [{ ...folder, outcome: null, note: "if it is empty by then" }];
  show(scene({ "changes.show": changesOf({ ...changes, files }) }), `/task/${DONE}?see=${RECEIPT}`);
  const goes = within(await screen.findByRole("region", { name: "Remove the folder made here" }));
  expect(goes.getByText("if it is empty by then")).toBeTruthy();
});

test("a folder that went is told as removed, and not with the look of a deleted file", async () => {
  const went: FileChange = { ...folder, outcome: "done", note: "it was empty by then" };
  show(scene({ "changes.show": changesOf({ ...changes, tense: "done", files: [went] }) }), `/task/${DONE}?see=${RECEIPT}`);
  const row = await screen.findByRole("region", { name: "Removed the folder made here" });
  expect(row.getAttribute("data-op")).toBe("remove");
  expect(screen.queryByText("Deleted")).toBeNull();
});

test("a denial is overridden in a browser by a sentence that was read, a word, the passphrase, and a hand that holds", async () => {
  const denied: Task = { ...doneTask, row: { ...doneRow, refused_by: "policy" }, actions: [{ ...act, state: "refused", verdict: "deny", approval_id: null, grant_id: null, receipt_id: null, result: null }] };
  const host = scene({ "task.show": denied }, "passphrase");
  const { user } = show(host, `/task/${DONE}?see=${act.action_request_id}`);
  await user.click(await screen.findByRole("button", { name: "Override" }));
  const show_it = screen.getByRole("button", { name: "Show what I would sign" });
  await user.click(show_it);
  expect(screen.queryByLabelText("Approval passphrase")).toBeNull();
  const write = async (label: RegExp, words: string) => { await user.click(screen.getByLabelText(label)); await user.paste(words); };
  await write(/Why you override it/, "it is a copy");
  await user.click(show_it);
  expect((await screen.findByText(/because it is a copy/)).textContent).toContain(act.action_request_id);
  await write(/Type override to sign it/, "override");
  await write(/Approval passphrase/, "right");
  await user.keyboard("{Enter}");
  const hold = screen.getByRole("button", { name: "Hold to override" });
  await waitFor(() => expect(hold.getAttribute("aria-disabled")).toBeNull());
  expect(host.signed).toEqual([]);
  await user.pointer({ keys: "[MouseLeft>]", target: hold });
  expect(await screen.findByText(/When this action is proposed again you are asked/, {}, { timeout: 4000 })).toBeTruthy();
  expect(host.signed.map((one) => [one.kind, one.word, one.words])).toEqual([["allow_override", "override", `ask about ${act.action_request_id}, because it is a copy`]]);
});

test("a receipt of an agent of another program says that no model of Hermit's was asked, and what was seen of its turn", async () => {
  const seen: Receipt = { ...receipt, receipt: { verifiability: "signed", observed: ["it calls its version \u201ctoy 9\u201d", "network: api.toy.example:443 at 192.0.2.1: allowed"] } };
  const first = show(scene({ "task.show": { ...doneTask, reasoner: "guest:toy" }, "receipts.show": seen }), `/task/${DONE}?see=${RECEIPT}`);
  const sent = async () => (await screen.findByText("Sent to the model")).parentElement?.querySelector("dd")?.textContent ?? "";
  expect(await sent()).toContain("the agent toy worked by itself");
  const turn = within(await screen.findByRole("region", { name: "What was seen of the agent's turn" }));
  expect(turn.getByText(/api.toy.example:443/)).toBeTruthy();
  first.unmount();
  show(scene({ "task.show": { ...doneTask, reasoner: "playbook:tidy" }, "receipts.show": seen }), `/task/${DONE}?see=${RECEIPT}`);
  expect(await sent()).toContain("the playbook tidy proposed it");
  expect(screen.queryByRole("region", { name: "What was seen of the agent's turn" })).toBeNull();
});

test("a receipt names what policy and the person refused of its task, and tells a result once", async () => {
  const command = { ...act, summary: "run `npm test`", verdict: "allow" as const };
  const refused = { ...act, action_request_id: "act_01a20000000070008000000000000021", receipt_id: null, summary: "delete `notes.md`", state: "refused" as const, verdict: "require_approval" as const };
  const denied = { ...refused, action_request_id: "act_01a20000000070008000000000000022", summary: "push to `origin`", verdict: "deny" as const };
  const failed: Receipt = { ...receipt, row: { ...receipt.row, summary: "the command ended with status 1", result: "failed" } };
  show(scene({ "task.show": { ...doneTask, actions: [command, refused, denied] }, "receipts.show": failed }), `/task/${DONE}?see=${RECEIPT}`);
  const blocked = (await screen.findByText("What was blocked")).parentElement?.querySelector("dd")?.textContent ?? "";
  expect(blocked).toContain("delete `notes.md`");
  expect(blocked).toContain("push to `origin`");
  expect(blocked).not.toContain("npm test");
  const facts = screen.getByText("What was blocked").closest("dl");
  expect(facts?.textContent?.match(/ended with status 1/gi)).toHaveLength(1);
});

test("words to a task that were not taken are the same message when they are sent again, after a reload too, and an Enter that ends a composition sends nothing", async () => {
  const at = () => {
    const host = scene();
    return { host, ...show(host, `/task/${WAITS}`) };
  };
  const sent = (host: ReturnType<typeof scene>) => host.asked.filter((one) => one.name === "task.note").map((one) => one.params);
  const first = at();
  const field = await screen.findByLabelText("Message");
  await first.user.type(field, "hurry");
  fireEvent.keyDown(field, { key: "Enter", ctrlKey: true, keyCode: 229 });
  expect(sent(first.host)).toEqual([]);
  await first.user.click(screen.getByRole("button", { name: "Queue" }));
  await first.user.click(screen.getByRole("button", { name: "Send" }));
  await screen.findByRole("alert");
  first.unmount();
  const again = at();
  expect(((await screen.findByLabelText("Message")) as HTMLTextAreaElement).value).toBe("hurry");
  await again.user.click(screen.getByRole("button", { name: "Send" }));
  await waitFor(() => expect(sent(again.host)).toEqual(sent(first.host)));
  expect(sent(again.host)).toMatchObject([{ mode: "queue", text: "hurry" }]);
});

test("what must hold at the end stands with what was found, and leads to the receipt that bears it", async () => {
  const criteria: Task["criteria"] = [
    { criterion: "file: report.md", outcome: "met", found: "a file of 12 bytes is there", receipt_id: null },
    { criterion: "command: npm test", outcome: "unmet", found: "it ended with status 1", receipt_id: RECEIPT },
    { criterion: "it reads well", outcome: "unchecked", found: "a person judges it", receipt_id: null },
  ];
  const { user } = show(scene({ "task.show": { ...doneTask, criteria } }), `/task/${DONE}`);
  const part = (await screen.findByText("Must hold at the end: 1 of 3 met")).closest("details") as HTMLElement;
  const rows = within(part).getAllByRole("listitem").map((row) => row.textContent);
  expect(rows).toEqual(["file: report.mdmet: a file of 12 bytes is there", "command: npm testnot met: it ended with status 1", "it reads wellyou judge it"]);
  await user.click(within(part).getByRole("button", { name: "command: npm test" }));
  expect(await screen.findByText("On whose authority")).toBeTruthy();
});
