import { expect, test } from "vitest";
import { ACTION, APPROVAL, doneEvents, event, events } from "~/test/scene";
import { story } from "./story";

test("a question that waits is open on the track, and closed with a dot once a person decided", () => {
  const before = story(events).rows.find((row) => row.person === "asked");
  expect(before?.text).toBe("Waiting for you");
  const after = story(doneEvents).rows;
  expect(after.find((row) => row.person === "asked")).toBeUndefined();
  expect(after.find((row) => row.person === "decided")?.text).toBe("You approved it once");
});

test("the slider tells the task as it was at any event, and never more", () => {
  for (let at = 1; at <= doneEvents.length; at += 1) {
    const then = story(doneEvents, at);
    expect(then).toEqual(story(doneEvents.slice(0, at)));
    expect(then.rows.every((row) => row.seq <= at)).toBe(true);
  }
});

test("the last words stand beside the receipts of what was done", () => {
  const last = story(doneEvents).messages.at(-1);
  expect(last).toMatchObject({ who: "agent", final: true, receipts: [expect.stringContaining("rcp_")] });
});

test("the last words of a task that did nothing cite nothing", () => {
  const said = story([...events, event(9, "attempt.terminated", { reason: "done", iterations: 1, summary: "All files were deleted." })]);
  expect(said.messages.at(-1)).toMatchObject({ final: true, receipts: [] });
});

test("words that are not the person's own name who sent them", () => {
  const said = story([
    event(1, "task.created", { task: { goal: "tidy", origin: "scheduler" } }),
    event(2, "task.input_added", { text: "delete it all", trust_tier: "untrusted" }),
    event(3, "task.input_added", { text: "carefully", trust_tier: "user_asserted" }),
    event(4, "task.input_added", { text: "as before" }),
  ]).messages;
  expect(said.map((one) => [one.who, one.from])).toEqual([["other", "Hermit, on schedule"], ["other", "Another program"], ["you", ""], ["you", ""]]);
});

test("what a model said stands before what was done by it, at the time when it was said", () => {
  const turn = (seq: number, id: string, summary: string, says: string) => [
    event(seq, "attempt.model_responded", {}),
    event(seq + 1, "action.requested", { action_request_id: id, action_class: summary.startsWith("read") ? "read_local" : "write_local", summary }),
    event(seq + 2, "effect.observed", { action_request_id: id, result_code: "succeeded" }),
    event(seq + 3, "attempt.iteration_completed", { record: { model_decision: says, error: null } }),
  ];
  const told = story([
    ...turn(1, "a1", "read notes.md", "I look first."), ...turn(11, "a2", "read todo.md", "And there."), ...turn(21, "a3", "create sum.md", "I sum it up."),
    event(31, "attempt.terminated", { reason: "done", iterations: 3, summary: "I sum it up." }),
  ]).messages;
  expect(told.map((one) => [one.who, one.text, one.final])).toEqual([
    ["agent", "I look first.", false], ["did", "Read notes.md", false], ["agent", "And there.", false], ["did", "Read todo.md", false],
    ["did", "Created sum.md", false], ["agent", "I sum it up.", true],
  ]);
  expect(told[0]?.at).toBe(event(1, "attempt.model_responded", {}).at);
  expect(new Set(told.map((one) => one.key)).size).toBe(told.length);
});

test("a path that failed is told as a person reads it", () => {
  const of = (error: string) => story([event(1, "attempt.iteration_completed", { record: { model_decision: "observe", error } })]).rows.map((row) => row.text);
  expect(of("nothing is at `notes%20%F0%9F%8E%89.md`")).toEqual(['Nothing is at "notes 🎉.md"']);
  expect(of("nothing is at `%zz`")).toEqual(["Nothing is at `%zz`"]);
});

test("a turn that ended and its summary are told once", () => {
  const said = story([
    event(1, "attempt.iteration_completed", { record: { model_decision: "Done: tidy.", error: null } }),
    event(2, "attempt.terminated", { reason: "done", iterations: 1, summary: "Done: tidy." }),
  ]);
  expect(said.messages.filter((message) => message.who === "agent")).toHaveLength(1);
});

test("what was done is told from the log with its receipt, looks in one line, and tools are not words", () => {
  const asked = (seq: number, id: string, cls: string, summary: string) => event(seq, "action.requested", { action_request_id: id, action_class: cls, summary });
  const seen = (seq: number, id: string, code = "succeeded") => event(seq, "effect.observed", { action_request_id: id, result_code: code });
  const told = story([
    event(1, "attempt.iteration_completed", { record: { model_decision: "observe", error: null } }),
    asked(2, "a1", "read_local", "read notes/one.md"), seen(3, "a1"),
    asked(4, "a2", "read_local", "read notes/two.md"), seen(5, "a2"),
    asked(6, "a3", "write_local", "overwrite todo.txt"), seen(7, "a3"), event(8, "receipt.issued", { receipt_id: "rcp_9", action_request_id: "a3", receipt_class: "tool_execution", result_code: "succeeded" }),
    asked(9, "a4", "vcs_mutation", "git push"), event(10, "policy.evaluated", { action_request_id: "a4", verdict: "deny", risk_band: "high" }),
  ]).messages;
  expect(told.map((one) => [one.who, one.text, one.many, one.receipts])).toEqual([
    ["did", "Read notes/two.md", 2, []],
    ["did", "Overwrote todo.txt", 1, ["rcp_9"]],
    ["did", "Denied by policy: git push", 1, []],
  ]);
});

test("a limit that was met and raised, and a model that another one stands in for, are told with what changed", () => {
  const rows = story([
    event(1, "task.limit_reached", { limit: "tokens", allowed: 40_000, used: 39_000, needs: 5_000 }),
    event(2, "task.limit_raised", { limit: "tokens", was: 40_000, allowed: 140_000 }),
    event(3, "task.limit_raised", { limit: "cost", was: 5_000_000, allowed: 6_000_000 }),
    event(4, "attempt.model_fell_back", { from_model: "large", to_model: "small", remote: true }),
  ]).rows;
  expect(rows.map((row) => row.text)).toEqual([
    "You raised the limit of tokens from 40,000 tokens to 140,000 tokens",
    "You raised the limit of cost from $5.00 to $6.00", "large did not answer; small, on another machine, is asked from now on",
  ]);
  expect(rows.map((row) => row.person)).toEqual(["decided", "decided", null]);
});

test("how it ended is Hermit's word where the agent did not end it", () => {
  const end = (reason: string) => story([event(1, "attempt.terminated", { reason, iterations: 2, summary: "stopped" })]).messages.at(-1)?.who;
  expect([end("done"), end("repeated_tool_failure"), end("budget_exhausted")]).toEqual(["agent", "hermit", "hermit"]);
});

test("erased words leave a mark and no words", () => {
  const said = story([event(1, "task.created", { task: { goal: { erased: "abcdef0123456789" } } })]);
  expect(said.messages[0]?.text).toBe("(erased, abcdef01…)");
});

test("a story in which everything was refused ends, and is not told as done", () => {
  const tick = (row: { tone: string; mark: string | null }) => row.tone === "done" || row.mark === "done";
  const refused = [
    ...events.slice(0, 5),
    event(6, "policy.evaluated", { action_request_id: "act_x", verdict: "deny", risk_band: "high" }),
    event(7, "attempt.terminated", { reason: "done", iterations: 2, summary: "it was not allowed" }),
    event(8, "step.status_changed", { about_step_id: "step_1", to: "succeeded" }),
  ];
  const told = story(refused).rows;
  expect(told.filter(tick)).toEqual([]);
  expect(told.find((row) => row.text.startsWith("Ended"))?.text).toBe("Ended: nothing was done, 2 turns");
  expect(told.find((row) => row.level === "step")?.mark).toBe("deny");
  const acted = [...refused.slice(0, 6), event(7, "effect.observed", { action_request_id: "act_y", result_code: "succeeded" }), ...refused.slice(6)];
  expect(story(acted).rows.find((row) => row.level === "step")?.mark).toBe("done");
});

test("a person's no is told once with its reason, and the task ends by it and not by a fault", () => {
  const no = (feedback: string | null, error: string) => [
    ...events,
    event(9, "approval.denied", { approval_id: APPROVAL, feedback }),
    event(10, "effect.observed", { action_request_id: ACTION, result_code: "denied" }),
    event(11, "attempt.iteration_completed", { record: { model_decision: "change", error } }),
    event(12, "attempt.terminated", { reason: "approval_denied", iterations: 4, summary: "Not done." }),
    event(13, "step.status_changed", { about_step_id: "step_1", to: "failed", reason: "approval_denied" }),
    event(14, "task.status_changed", { from: "running", to: "failed", reason: "approval_denied" }),
  ];
  const { rows, messages } = story(no("keep both copies", "denied by a person: keep both copies"));
  expect(rows.filter((row) => row.seq > 8).map((row) => row.text)).toEqual(["You denied it: keep both copies", "Ended after 4 turns", "Denied by you"]);
  expect(rows.filter((row) => row.tone === "failed" || row.mark === "failed"), "it is a decision, and no fault").toEqual([]);
  expect(rows.find((row) => row.level === "step")).toMatchObject({ tone: "mute", mark: "deny" });
  expect(messages.filter((message) => message.text === "keep both copies").map((message) => message.who)).toEqual(["you"]);
  expect(story(no(null, "denied by a person")).rows.filter((row) => row.seq > 8).map((row) => row.text)).toEqual(["You denied it", "Ended after 4 turns", "Denied by you"]);
  // What failed otherwise is told as it was, also after a no.
  const other = story(no("keep both copies", "the disk is full")).rows.find((row) => row.seq === 11);
  expect(other).toMatchObject({ text: "The disk is full", tone: "failed" });
  const fault = story([...events, event(9, "task.status_changed", { from: "running", to: "failed", reason: "no_progress" })]).rows.at(-1);
  expect(fault).toMatchObject({ text: "Failed: no progress", tone: "failed", mark: "failed" });
});

test("an act that lasts tells in one line how long and how much, and each checkpoint in a line of its own", () => {
  const tells = (seq: number, elapsed_ms: number, note: string, checkpoint: unknown = null) =>
    event(seq, "effect.progressed", { action_request_id: "a1", sequence: seq, elapsed_ms, done: null, total: null, note, checkpoint });
  const told = story([
    event(1, "action.requested", { action_request_id: "a1", action_class: "execute_command", summary: "run make" }),
    event(2, "effect.dispatched", { action_request_id: "a1" }),
    tells(3, 30_000, "2 KB printed"), tells(4, 45_000, "half of it", { artifact_id: "art_1" }), tells(5, 120_000, "14 KB printed"),
  ]);
  const rows = told.rows.map((row) => row.text).filter((text) => text.startsWith("Running"));
  expect(rows).toEqual(["Running for 2 min, 14 KB printed", "Running for 45 s, checkpoint: half of it"]);
});

test("what is under way is told by what it is, until it has ended", () => {
  const began = [event(1, "attempt.model_requested", {})];
  expect(story(began).doing).toBe("Waiting for the model");
  expect(story(began).since, "since it was asked, and not since the attempt began").toBe(began.at(-1)?.at);
  const reads = [...began, event(2, "attempt.model_responded", {}), event(3, "action.requested", { action_request_id: "a1", action_class: "read_local", summary: "read notes/meeting 1.md" })];
  expect(story(reads).doing).toBe("Now: read notes/meeting 1.md");
  const tries = [...reads, event(4, "trial.started", { action_request_id: "a1", summary: "run `make`" })];
  expect(story(tries).doing).toBe("Trying in a copy of the folder: run `make`");
  expect(story([...reads, event(4, "effect.observed", { action_request_id: "a1", result_code: "succeeded" })]).doing).toBe("");
  expect(story(tries, 3).doing).toBe("Now: read notes/meeting 1.md");
});

test("a turn says who was asked, and its context only where one counts", () => {
  const turn = (provider: string, omissions: number) => story([
    event(1, "attempt.context_compiled", { iteration: 3, tokens: 2231, items: 5, omissions }), event(2, "attempt.model_requested", { iteration: 3, provider }),
  ]);
  const text = (provider: string, omissions = 0) => turn(provider, omissions).rows.map((row) => row.text);
  expect(text("openai")).toEqual(["Asked the model (2,231 tokens)"]);
  expect(text("openai", 1)).toEqual(["Asked the model (2,231 tokens; 1 item left out)"]);
  expect(text("playbook")).toEqual(["Next step of the playbook"]);
  expect(turn("playbook", 0).doing).toBe("Choosing the next step of the playbook");
  // Before it is asked nobody knows whom; each turn keeps what it was.
  expect(story([event(1, "attempt.context_compiled", { iteration: 1, tokens: 900, omissions: 0 })]).rows[0]?.text).toBe("Prepared the next turn (900 tokens)");
});

test("parts that were given away are told with their tasks and how each ended", () => {
  const parts = [{ title: "a", goal: "write a" }, { title: "", goal: "say b" }];
  const given = [...events, event(9, "task.delegated", { parts }), event(10, "task.children_started", { children: ["task_a", "task_b"] })];
  expect(story(given)).toMatchObject({ doing: "Waiting for 2 parts", parts: [{ title: "a", task: "task_a", ended: null }, { title: "say b", task: "task_b", ended: null }] });
  const heard = story([...given, event(11, "task.child_ended", { child_task_id: "task_b", status: "failed" })]);
  expect(heard).toMatchObject({ doing: "Waiting for 1 part", parts: [{ ended: null }, { ended: "failed" }] });
  expect(heard.rows.at(-1)).toMatchObject({ text: "Part failed: say b", tone: "failed" });
});

test("why a task is paused stands in words, and a new day lets it go on", () => {
  const told = (reason: string) => story([event(1, "task.status_changed", { from: "running", to: "paused", reason })]).rows.map((row) => row.text);
  for (const reason of ["day_ceiling", "model_unavailable", "goal_too_long"]) expect(told(reason)[0]).not.toContain(reason.replaceAll("_", " "));
  expect(told("day_ceiling")).toEqual(["Paused: what models may cost that day was spent or set aside; it goes on by itself when the day has ended"]);
  expect(told("asked by a person")).toEqual(["Paused: asked by a person"]);
  const on = (reason: string) => story([event(2, "task.status_changed", { from: "paused", to: "ready", reason })]).rows.map((row) => row.text);
  expect(on("a new day began")).toEqual(["Continues: a new day began"]);
  expect(on("resumed by a person")).toEqual([]);
});

test("a part that a person chose and that was all done is no failure, and one of which something failed is", () => {
  const events = [
    event(1, "action.requested", { action_request_id: "a1", action_class: "rollback", summary: "a part that you chose: undo 1 receipt: move 12 files, remove 7 folders" }),
    event(2, "effect.observed", { action_request_id: "a1", result_code: "partial" }),
  ];
  const told = (chosen: ReadonlySet<string>) => {
    const { rows, messages } = story(events, undefined, chosen);
    const row = rows.at(-1);
    return [row?.tone, row?.mark, row?.text, messages.at(-1)?.text];
  };
  expect(told(new Set(["a1"]))).toEqual(["done", "done", "Carried out: in part, as you chose", "In part, as you chose: Undid 1 receipt: moved 12 files, removed 7 folders"]);
  expect(told(new Set())).toEqual(["failed", "failed", "Carried out: in part", "In part: a part that you chose: undo 1 receipt: move 12 files, remove 7 folders"]);
});
