import { expect, test } from "vitest";
import { doneEvents, event, events } from "~/test/scene";
import { story } from "./story";

test("a question that waits is open on the track, and closed with a dot once a person decided", () => {
  const before = story(events).rows.find((row) => row.person === "asked");
  expect(before?.text).toBe("Waiting for you");
  const after = story(doneEvents).rows;
  expect(after.find((row) => row.person === "asked")).toBeUndefined();
  expect(after.find((row) => row.person === "decided")?.text).toBe("You allowed it once");
});

test("the slider tells the task as it was at any event, and never more", () => {
  for (let at = 1; at <= doneEvents.length; at += 1) {
    const then = story(doneEvents, at);
    expect(then).toEqual(story(doneEvents.slice(0, at)));
    expect(then.rows.every((row) => row.seq <= at)).toBe(true);
  }
});

test("the last words cite the receipts that stand behind them", () => {
  const last = story(doneEvents).messages.at(-1);
  expect(last).toMatchObject({ who: "hermit", final: true, receipts: [expect.stringContaining("rcp_")] });
});

test("the last words of a task that did nothing cite nothing", () => {
  const said = story([...events, event(9, "attempt.terminated", { reason: "done", iterations: 1, summary: "All files were deleted." })]);
  expect(said.messages.at(-1)).toMatchObject({ final: true, receipts: [] });
});

test("a turn that ended and its summary are told once", () => {
  const said = story([
    event(1, "attempt.iteration_completed", { record: { model_decision: "Done: tidy.", error: null } }),
    event(2, "attempt.terminated", { reason: "done", iterations: 1, summary: "Done: tidy." }),
  ]);
  expect(said.messages.filter((message) => message.who === "hermit")).toHaveLength(1);
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
