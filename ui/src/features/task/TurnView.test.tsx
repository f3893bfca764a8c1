// The context of one turn says what of memory it was made without, and why.
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DONE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const SECRET = "holds, or may hold, a value of a secret that a task looked into";
const items = [{ title: "Goal", section: "task_contract", trust_tier: "user_asserted", text: "Tidy", tokens: 3 }];
const left = (source: string, reason: string, section = "memory") => ({ source, section, reason });

const open = async (omissions: readonly unknown[]) => {
  const bytes = btoa(JSON.stringify({ items, omissions }));
  const pack = { artifact_id: "art_p", sha256: "ab".repeat(32), byte_size: 60, bytes };
  show(scene({ "context.show": { task_id: DONE, turns: [], shown: { attempt: 1, iteration: 1, pack, request: null, response: null } } }), `/task/${DONE}?see=${encodeURIComponent("turn 1 1")}`);
  await screen.findByText("Tidy", { selector: "pre, pre *" });
  return within(screen.getByRole("region", { name: "Details of what is chosen" })).queryAllByRole("status").map((one) => one.textContent).filter((words) => words !== ""); // What was copied is told in one as well.
};

test("a context says how many memories it was made without, and why, and nothing of what they say", async () => {
  const told = await open([
    left("mem_1", SECRET), left("mem_2", SECRET), left("mem_3", "does not fit: needs 12 tokens"), left("mem_4", "does not fit: needs 9 tokens"),
    left("skills", "3 further skills do not fit"), left("art_1", "expired", "artifacts"),
  ]);
  expect(told).toEqual([`2 records of memory left out: ${SECRET}.`, "2 records of memory left out: does not fit."]);
  expect(await seriousFindings()).toEqual([]);
});

test("a context that was made without none says nothing of that", async () => {
  expect(await open([])).toEqual([]);
});
