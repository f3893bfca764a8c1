// What is remembered, as a person reads, narrows, adds to and ends it.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Memory, TaskContexts } from "~/ipc/generated/knowledge";
import { DONE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const memory = (id: string, claim: string, more: Partial<Memory> = {}): Memory => ({
  memory_id: id, task_id: DONE, conversation_id: null, claim, scope: "project", reason: "a person said so", trust: "user_asserted", status: "active",
  evidence: [{ artifact_id: "art_1", part: "the value at /claim", excerpt_sha256: "ab".repeat(32), trust: "user_asserted", confidence: 1000 }],
  promoted_by: "prn_1", memory_type: "decision", project: { hash: "cd".repeat(32), name: "invoices" }, retention: "kept", invalidation: "correction",
  from_belief: null, supersedes: null, uses: 0, last_used_at: null, helped: 0, helped_in: null, contradicted: 0, contradicted_in: null, withheld: false, expires_at: null, created_at: 1_700_000_000_000, ended_at: null, end_reason: null, superseded_by: null, relevance: null,
  ...more,
});

const rows = [
  memory("mem_1", "invoices are numbered by year", { uses: 3, last_used_at: 1_700_000_100_000, contradicted: 1, contradicted_in: DONE }),
  memory("mem_2", "answers are short", { memory_type: "preference", project: null, scope: "*", retention: "pinned" }),
  memory("mem_4", "drafts go into entwurf", { uses: 5, helped: 3, helped_in: DONE }),
  memory("mem_3", "staging is down", { status: "expired", expires_at: 1_700_000_200_000, ended_at: 1_700_000_200_000 }),
];
const workspaces = { workspaces: [{ workspace_id: "wsp_1", folder: "/home/me/invoices", project_hash: "cd".repeat(32), project_source: "folder" as const, tasks: 1, waiting: 0, last_task_id: DONE, last_at: 1 }] };

const open = async () => {
  const host = scene({ "knowledge.memories": { rows }, "workspaces.list": workspaces, "knowledge.remember": { task_id: "task_new", ingress_id: "ing_1", duplicate: false }, "knowledge.forget": { memory_id: "mem_1", task_id: DONE } });
  const shown = show(host, "/knowledge");
  await shown.user.click(await screen.findByRole("button", { name: "Memory" }));
  return { ...shown, host };
};

test("each memory says where it holds, of what kind it is, and whether tasks were told of it", async () => {
  const { user, host } = await open();
  const line = (await screen.findAllByRole("row")).map((one) => one.textContent);
  expect(line[1]).toMatch(/invoices are numbered by year.*Decision.*invoices.*active.*contradicted 1/i);
  expect(line[2]).toMatch(/answers are short.*pinned.*Preference.*Every project.*never/);
  const detail = await screen.findByRole("complementary", { name: "Memory" });
  expect(within(detail).getByText("Until you say otherwise")).toBeTruthy();
  await user.click(screen.getByText("staging is down"));
  expect(within(await screen.findByRole("complementary", { name: "Memory" })).queryByRole("button", { name: "Forget it" })).toBeNull();
  await user.selectOptions(screen.getByLabelText("Type"), "Preference");
  await user.selectOptions(screen.getByLabelText("Project"), "/home/me/invoices");
  await screen.findAllByRole("row");
  expect(host.asked.filter((one) => one.name === "knowledge.memories").at(-1)?.params).toMatchObject({ memory_type: "preference", folder: "/home/me/invoices" });
  expect(await seriousFindings()).toEqual([]);
});

test("what helped most comes first when a person orders by use, and each says what came of it", async () => {
  const { user } = await open();
  await user.selectOptions(await screen.findByLabelText("Order"), "Most helpful first");
  const claims = (await screen.findAllByRole("row")).slice(1).map((one) => one.textContent ?? "");
  expect(claims[0]).toMatch(/drafts go into entwurf.*helped 3/);
  expect(claims.at(-1)).toMatch(/invoices are numbered by year.*contradicted 1/);
  const detail = await screen.findByRole("complementary", { name: "Memory" });
  expect(detail.textContent).toMatch(/Helped3 times, last in this task/);
  expect(within(detail).getByRole("link", { name: "this task" }).getAttribute("href")).toContain(DONE);
});

test("a memory that no task is told of says so in the list, and why where it is read", async () => {
  const held = [memory("mem_1", "the pet is a flamingo", { withheld: true }), memory("mem_2", "the pet has a cage")];
  const { user } = show(scene({ "knowledge.memories": { rows: held }, "workspaces.list": workspaces }), "/knowledge");
  await user.click(await screen.findByRole("button", { name: "Memory" }));
  const line = (await screen.findAllByRole("row")).map((one) => one.textContent);
  expect(line[1]).toContain("the pet is a flamingo not told to any task");
  expect(line[2]).not.toContain("not told");
  const detail = () => screen.findByRole("complementary", { name: "Memory" });
  expect((await detail()).textContent).toContain("it holds, or may hold, a value of a secret that a task looked into");
  await user.click(screen.getByText("the pet has a cage"));
  expect((await detail()).textContent).not.toContain("a value of a secret");
  expect(await seriousFindings()).toEqual([]);
});

test("a memory leads to the contexts that it was sent in, and says whether it helped there", async () => {
  const task = (task_id: string, title: string, more: Partial<TaskContexts> = {}): TaskContexts => ({
    task_id, title, contexts: 1, turns: [{ attempt: 1, first: 1, last: 1 }], first_at: 1_700_000_000_000, last_at: 1_700_000_100_000, helped: false, contradicted: false, ...more,
  });
  const told = [
    task(DONE, "Number the invoices", { contexts: 4, turns: [{ attempt: 1, first: 1, last: 3 }, { attempt: 2, first: 2, last: 2 }], helped: true }),
    task("task_other", "Print the invoices"),
  ];
  const host = scene({ "knowledge.memories": { rows }, "workspaces.list": workspaces, "knowledge.memory_contexts": { memory_id: "mem_1", tasks: told, more: 2 } });
  const { user } = show(host, "/knowledge");
  await user.click(await screen.findByRole("button", { name: "Memory" }));
  const fold = await screen.findByText("Contexts it was sent in");
  expect(host.asked.some((one) => one.name === "knowledge.memory_contexts")).toBe(false);
  await user.click(fold);
  const lines = within(await screen.findByRole("list", { name: "Contexts it was sent in" })).getAllByRole("listitem");
  expect(host.asked.find((one) => one.name === "knowledge.memory_contexts")?.params).toEqual({ memory: "mem_1" });
  expect(lines.map((one) => one.textContent)).toEqual([
    expect.stringMatching(/^Number the invoices4 contexts, last .*, helpedattempt 1, turn 1 to turn 3, attempt 2, turn 2$/),
    expect.stringMatching(/^Print the invoices1 context, last [^,]*attempt 1, turn 1$/),
  ]);
  screen.getByText("It was sent in 2 more tasks before these.");
  expect(await seriousFindings()).toEqual([]);
  // A memory that nobody was told of has none.
  await user.click(screen.getByText("answers are short"));
  expect(screen.queryByText("Contexts it was sent in")).toBeNull();
  await user.click(screen.getByText("invoices are numbered by year", { selector: "td *, td" }));
  await user.click(await screen.findByText("Contexts it was sent in"));
  await user.click(await screen.findByRole("link", { name: "turn 3" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "context.show")?.params).toMatchObject({ task: DONE, attempt: 1, iteration: 3 }));
});

test("a person adds a memory and is asked to approve it; what cannot be is not sent", async () => {
  const { user, host } = await open();
  await user.click(await screen.findByRole("button", { name: "Add a memory" }));
  const form = await screen.findByRole("form", { name: "Add a memory" });
  const send = () => within(form).getByRole("button", { name: "Ask me to approve this" });
  await user.click(send());
  expect(host.asked.some((one) => one.name === "knowledge.remember")).toBe(false);
  await user.type(within(form).getByLabelText("What to remember"), "always answer in German");
  await user.type(within(form).getByLabelText(/For how many days/), "0");
  await user.click(send());
  expect(host.asked.some((one) => one.name === "knowledge.remember")).toBe(false);
  await user.clear(within(form).getByLabelText(/For how many days/));
  await user.click(within(form).getByLabelText("It holds in every project"));
  await user.selectOptions(within(form).getByLabelText(/Type/), "Preference");
  await user.click(send());
  await screen.findByText(/asks you to approve this before it is remembered/);
  expect(host.asked.find((one) => one.name === "knowledge.remember")?.params).toMatchObject({
    claim: "always answer in German", everywhere: true, memory_type: "preference", pinned: false, days: null, replaces: null, workspace: "/home/me/invoices",
  });
});

test("a person sees how memory is found, and what keeps it from being found by meaning", async () => {
  const host = scene({
    "knowledge.memories": { rows }, "workspaces.list": workspaces,
    "models.embedded": { model: "ollama:all-minilm", memories: 4, with_vectors: 1, trouble: "it did not answer within 0.7 seconds" },
  });
  const { user } = show(host, "/knowledge");
  await user.click(await screen.findByRole("button", { name: "Memory" }));
  expect((await screen.findByText(/by words and by meaning/)).textContent).toMatch(/with ollama:all-minilm: 1 of 4 memories has a vector\.$/);
  screen.getByText("By words alone at present: it did not answer within 0.7 seconds.");
  expect(await seriousFindings()).toEqual([]);
});

test("a memory is replaced by other words, or forgotten with a reason", async () => {
  const { user, host } = await open();
  await user.click(await screen.findByRole("button", { name: "Replace it" }));
  const form = await screen.findByRole("form", { name: "Replace a memory" });
  await user.clear(within(form).getByLabelText("What to remember"));
  await user.type(within(form).getByLabelText("What to remember"), "invoices are numbered by client");
  await user.click(within(form).getByRole("button", { name: "Ask me to approve this" }));
  await screen.findByText(/asks you to approve this before it is remembered/);
  expect(host.asked.find((one) => one.name === "knowledge.remember")?.params).toMatchObject({ replaces: "mem_1", everywhere: false, memory_type: "decision" });
  await user.type(screen.getByLabelText("Why it should not have been kept"), "it is private");
  await user.click(screen.getByRole("button", { name: "Forget it" }));
  expect(host.asked.find((one) => one.name === "knowledge.forget")?.params).toEqual({ memory: "mem_1", reason: "it is private" });
});
