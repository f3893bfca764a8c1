// The summary that stands in a context is shown line by line, and each line leads to the events it stands for.
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { AT, WAITS, event, events, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const compacted = [...events, event(9, "attempt.context_compacted", { about_attempt_id: "att_1", summary: { artifact_id: "art_s", sha256: "sha256:ab" }, through: 12, results: 12, lines: 2 })];
const line = { kind: "quote" as const, iteration: 1, text: "read f00.txt: The port is 8443.", events: [{ event_id: "evt_1", seq: 3, event_type: "effect.observed" }], artifact_id: "art_1" };

test("a summary of the oldest turns unfolds to the events it stands for", async () => {
  show(scene({
    "task_events.list": ({ after_seq }) => ({ task_id: WAITS, events: (after_seq ?? 0) === 0 ? compacted : [], last_seq: 9, ended: false }),
    "context.summary": ({ artifact }) => ({ task_id: WAITS, artifact_id: artifact ?? "", sha256: "sha256:ab", made_at: AT, through: 12, results: 12, trust: "untrusted", lines: [line], left_out: 3, before: "art_older", retold_by: null }),
  }), `/task/${WAITS}`);
  fireEvent.click(await screen.findByRole("button", { name: /Turns 1 to 12 summed up in 2 lines/ }));
  const details = within(await screen.findByRole("region", { name: "Details of what is chosen" }));
  expect(await details.findByRole("heading", { name: "Summary of turns 1 to 12" })).toBeTruthy();
  expect(details.getByText("Untrusted")).toBeTruthy();
  expect(details.getByText("read f00.txt: The port is 8443.")).toBeTruthy();
  expect(details.getByText("3 older lines found no room.")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  fireEvent.click(details.getByText("read f00.txt: The port is 8443."));
  fireEvent.click(details.getByRole("button", { name: "3: effect observed" }));
  expect(details.queryByRole("heading", { name: "Summary of turns 1 to 12" })).toBeNull();
});

test("words of a model are marked as such, and the model is named", async () => {
  const retold = { ...line, kind: "retold" as const, text: "f00.txt: port is 8443." };
  show(scene({
    "task_events.list": ({ after_seq }) => ({ task_id: WAITS, events: (after_seq ?? 0) === 0 ? compacted : [], last_seq: 9, ended: false }),
    "context.summary": ({ artifact }) => ({ task_id: WAITS, artifact_id: artifact ?? "", sha256: "sha256:ab", made_at: AT, through: 12, results: 12, trust: "untrusted", lines: [retold], left_out: 0, before: "art_older", retold_by: "qwen" }),
  }), `/task/${WAITS}`);
  fireEvent.click(await screen.findByRole("button", { name: /Turns 1 to 12 summed up in 2 lines/ }));
  const details = within(await screen.findByRole("region", { name: "Details of what is chosen" }));
  expect(await details.findByText("In short")).toBeTruthy();
  expect(details.getByText(/qwen/)).toBeTruthy();
});
