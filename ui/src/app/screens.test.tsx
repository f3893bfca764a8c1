// Every screen in every state that it has, and what a reader of screens would find wrong with it.
import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { Refused } from "~/host/host";
import { DONE, RECEIPT, WAITS, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const SCREENS = [
  { at: "/", says: /Waiting for you/, needs: "approvals.list" },
  { at: "/conversations", says: /Began a task/, needs: "conversations.list" },
  { at: "/tasks", says: /Tidy the downloads/, needs: "task.list" },
  { at: "/tasks/new", says: /Model or playbook/, needs: "playbooks.list" },
  { at: `/task/${WAITS}`, says: /Timeline/, needs: "task.show" },
  { at: `/task/${DONE}?see=${RECEIPT}`, says: /On whose authority/, needs: "receipts.show" },
  { at: `/lineage?of=${RECEIPT}`, says: /As a table/, needs: "lineage.draw" },
  { at: "/knowledge", says: /90 days/, needs: "knowledge.beliefs" },
  { at: "/policy", says: /in Cedar/, needs: "policy.rules" },
  { at: "/tools", says: /No servers of tools/, needs: "tools.list" },
  { at: "/tools?tab=skills", says: /No skills here/, needs: "skills.list" },
  { at: "/gateways", says: /Nothing waits to be sent/, needs: "gateways.list" },
  { at: "/schedules", says: /Tell me what changed/, needs: "schedules.list" },
  { at: "/proof", says: /What a reader sees/, needs: "task.list" },
  { at: "/anchors", says: /Block 840,000/, needs: "anchors.list" },
  { at: "/machines", says: /relays have 2, and 1 waits on this machine/, needs: "mesh.show" },
  { at: "/successor", says: /Documents may be edited unasked/, needs: "successor.list" },
  { at: "/training", says: /Not offered/, needs: "training.list" },
  { at: "/identity", says: /Version 2 of SOUL\.md attested/, needs: "identity.show" },
  { at: "/settings", says: /This machine/, needs: "host.doctor" },
  { at: "/first", says: /You decide/, needs: "playbooks.list" },
] as const;

describe.each(SCREENS)("$at", ({ at, says, needs }) => {
  test("shows what the host says, and a reader of screens finds nothing serious", async () => {
    show(scene(), at);
    await screen.findAllByText(says);
    await waitFor(() => expect(screen.queryAllByLabelText(/^Reading/)).toHaveLength(0));
    expect(await seriousFindings()).toEqual([]);
  });

  test("says what it reads while it waits", async () => {
    show(scene({ [needs]: () => new Promise(() => {}) }), at);
    const waits = await screen.findAllByRole("status", { name: /^Reading/ });
    expect(waits.length).toBeGreaterThan(0);
    expect(await seriousFindings()).toEqual([]);
  });

  test("tells a failure with its words and lets a person try again", async () => {
    show(scene({ [needs]: () => { throw new Refused({ code: "failed", message: "the disk is gone", hint: "plug it in" }); } }), at);
    expect((await screen.findAllByText(/The disk is gone\./))[0]).toBeTruthy();
    expect(screen.getAllByText(/Plug it in\./).length).toBeGreaterThan(0);
    expect(screen.getAllByRole("button", { name: "Try again" }).length).toBeGreaterThan(0);
    expect(await seriousFindings()).toEqual([]);
  });

  test("tells a refusal as one, and offers no second try", async () => {
    show(scene({ [needs]: () => { throw new Refused({ code: "forbidden", message: "this surface may not ask that" }); } }), at);
    expect((await screen.findAllByText(/Hermit refuses to show/)).length).toBeGreaterThan(0);
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
  });
});

test("a list that has nothing says so and what to do", async () => {
  show(scene({ "task.list": { rows: [] } }), "/tasks");
  expect(await screen.findByText("No task yet")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("an inbox without anything waiting says so", async () => {
  show(scene({ "approvals.list": { rows: [] }, "task.list": { rows: [] } }), "/");
  expect((await screen.findAllByText(/Nothing waits for you/)).length).toBeGreaterThan(0);
});

test("an inbox of which a part could not be read does not say that nothing waits", async () => {
  const lost = () => { throw new Refused({ code: "unavailable", message: "the host does not answer" }); };
  show(scene({ "approvals.list": { rows: [] }, "task.list": { rows: [] }, "conversations.undecided": lost }), "/");
  expect(await screen.findByText("Not all that may wait for you could be read.")).toBeTruthy();
  expect(screen.queryByText(/Nothing waits for you|You will be asked here/)).toBeNull();
});

test("what can no longer be refreshed stays, and is marked as old", async () => {
  let times = 0;
  const host = scene({ "task.list": () => {
    times += 1;
    if (times > 1) throw new Refused({ code: "unavailable", message: "the host does not answer" });
    return { rows: [] , next: null };
  } });
  const { client } = show(host, "/tasks");
  await screen.findByText("No task yet");
  await client.invalidateQueries({ queryKey: ["task.list"] });
  expect(await screen.findByText(/This may be old/)).toBeTruthy();
  expect(screen.getByText("No task yet")).toBeTruthy();
});

test("a lost connection is said in the frame", async () => {
  const host = scene();
  show(host, "/");
  await screen.findAllByText(/Waiting for you/);
  host.link("lost");
  expect(await screen.findByText(/Not live/)).toBeTruthy();
});

test("a session that has ended is said as such, with how to get another", async () => {
  const host = scene();
  show(host, "/");
  await screen.findAllByText(/Waiting for you/);
  host.link("ended");
  expect((await screen.findByText(/session has ended/)).textContent).toContain("hermit open");
  expect(screen.queryByText(/Trying again/)).toBeNull();
});

test("a notice refreshes exactly the questions of its topics", async () => {
  const host = scene();
  show(host, "/policy");
  await screen.findAllByText(/in Cedar/);
  const before = { status: host.times("host.status"), policy: host.times("policy.rules") };
  host.say({ kind: "event", task_id: WAITS, task_seq: 9, event_type: "approval.requested", topics: ["approvals", "tasks"] });
  await waitFor(() => expect(host.times("host.status")).toBe(before.status + 1));
  expect(host.times("policy.rules")).toBe(before.policy);
});

test("places are reached by keys, and none of them while a person types", async () => {
  const { user, router } = show(scene(), "/");
  await screen.findAllByText(/Waiting for you/);
  await user.keyboard("gt");
  await waitFor(() => expect(router.state.location.pathname).toBe("/tasks"));
  await user.click(await screen.findByRole("searchbox"));
  await user.keyboard("gk");
  expect(router.state.location.pathname).toBe("/tasks");
});

test("the palette finds places and tasks, and goes there by Enter", async () => {
  const { user, router } = show(scene(), "/");
  await screen.findAllByText(/Waiting for you/);
  await user.keyboard("{Control>}k{/Control}");
  const field = await screen.findByRole("combobox", { name: "Find or do" });
  expect(await seriousFindings()).toEqual([]);
  await user.type(field, "know");
  await user.keyboard("{Enter}");
  await waitFor(() => expect(router.state.location.pathname).toBe("/knowledge"));
});

test("the nine questions of a task are answered within two clicks", async () => {
  const { user } = show(scene(), "/tasks");
  await user.click((await screen.findAllByText("Tidy the downloads"))[0] as HTMLElement);
  for (const question of ["What", "Why", "On whose authority", "On what evidence", "Sent to the model", "What was blocked", "Result", "Can it be undone", "Can others verify"]) {
    expect(await screen.findByText(question), question).toBeTruthy();
  }
});

test("history is judged again without a rule, and what would change is counted", async () => {
  const host = scene();
  const { user } = show(host, "/policy");
  await user.click(await screen.findByRole("button", { name: "Without this rule" }));
  expect(await screen.findByText("40 actions tested again")).toBeTruthy();
  expect(screen.getByText(/3 actions, 2 you had approved, 1 you had denied/)).toBeTruthy();
  expect(host.asked.find((one) => one.name === "policy.backtest")?.params).toMatchObject({ trial: { without: ["base.read_local"] } });
});

test("a message that nobody could bind is bound by a person, once", async () => {
  const message = {
    message_id: "ing_1", conversation_id: "cnv_1", channel: "webhook" as const, trust: "untrusted" as const, text: "and the others?", said_at: Date.now(), confidence: 500, margin: 250, rationale: "2 tasks are open and none is in focus",
    candidates: [{ task_id: WAITS, title: "Move tax rates", status: "awaiting_approval" as const, updated_at: Date.now() }, { task_id: DONE, title: "Tidy the downloads", status: "completed" as const, updated_at: Date.now() }],
  };
  const host = scene({ "approvals.list": { rows: [] }, "conversations.undecided": { rows: [message] }, "conversations.bind": { message_id: "ing_1", resolution: "append_note", task_id: WAITS, candidates: [], rationale: "a person said what it is about", told: [], conversation_id: "cnv_1" } });
  const { user } = show(host, "/");
  expect(await screen.findByText("2 tasks are open and none is in focus.")).toBeTruthy();
  expect(screen.getByText(/through a webhook, by a sender that nobody confirms/)).toBeTruthy();
  expect(screen.getByRole("button", { name: "A task that follows it" })).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "More input for it" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "conversations.bind")?.params).toEqual({ message: "ing_1", about: "task", task: WAITS }));
  expect(await seriousFindings()).toEqual([]);
});

test("a message where no task is yet leads to a new task with its words, which stay those of its sender", async () => {
  const message = {
    message_id: "ing_1", conversation_id: "cnv_1", channel: "webhook" as const, trust: "untrusted" as const, text: "sort the notes", said_at: Date.now(), confidence: null, margin: null,
    rationale: "there is no task here yet", candidates: [],
  };
  const host = scene({ "approvals.list": { rows: [] }, "conversations.undecided": { rows: [message] }, "task.submit": { task_id: DONE, ingress_id: "ing_1", duplicate: false } });
  const { user } = show(host, "/");
  expect(await screen.findByText("There is no task here yet.")).toBeTruthy();
  expect(screen.getByText(/through a webhook, by a sender that nobody confirms/)).toBeTruthy();
  expect(screen.getByText("Message, no task yet")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  await user.click(screen.getByRole("link", { name: "Begin a task with these words" }));
  expect(await screen.findByText("sort the notes")).toBeTruthy();
  expect(screen.getByText(/whom nobody confirms: policy treats what follows from them as untrusted/)).toBeTruthy();
  expect(screen.queryByLabelText("Goal")).toBeNull();
  await user.type(screen.getByLabelText("Folder to work in"), "/home/you/notes");
  await user.click(await screen.findByRole("radio", { name: /Sorts a folder/ }));
  expect(await seriousFindings()).toEqual([]);
  await user.click(await screen.findByRole("button", { name: "Begin" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "task.submit")?.params).toMatchObject({ message: "ing_1", workspace: "/home/you/notes" }));
  expect(host.asked.find((one) => one.name === "task.submit")?.params).not.toHaveProperty("goal");
});

test("a task that nobody works on says so, and where what is known of it ends", async () => {
  const host = scene();
  const shown = await host.call("task.show", { task: WAITS });
  show(scene({ "task.show": { ...shown, interrupted: true } }), `/task/${WAITS}`);
  expect((await screen.findByText(/Interrupted\. It should be at work/)).textContent).toContain("event 8");
  expect(await seriousFindings()).toEqual([]);
});

test("policy is asked about an act that nobody proposed, and why it said what it said", async () => {
  const host = scene();
  const { user } = show(host, "/policy");
  await user.click(await screen.findByRole("button", { name: "Test" }));
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  await waitFor(() => expect(host.asked.filter((one) => one.name === "policy.test").at(-1)?.params).toEqual({ profile: "local_edit_allowed", act: { kind: "delete", path: "notes.txt" }, untrusted: false }));
  expect((await screen.findAllByText("base.delete_local")).length).toBe(1);
  await user.click(screen.getByRole("button", { name: "Command" }));
  await waitFor(() => expect(host.asked.filter((one) => one.name === "policy.test").at(-1)?.params).toMatchObject({ act: { kind: "command", argv: ["cargo", "test"], network: false } }));
  await user.type(screen.getByLabelText("Identifier"), "apr_1");
  await user.click(screen.getByRole("button", { name: "Explain" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "policy.explain")?.params).toEqual({ about: "apr_1" }));
  await waitFor(() => expect(screen.queryAllByText("base.delete_local").length).toBe(2));
  expect(await seriousFindings()).toEqual([]);
});

test.each(["/nowhere", "/task", "/settings/deep/down"])("an unknown address %s is said within the frame, with the way to every place", async (at) => {
  show(scene(), at);
  await screen.findByText("There is nothing at this address");
  const rail = screen.getByRole("navigation", { name: "Places" });
  expect(within(rail).getByRole("link", { name: /Tasks/ })).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});
