// A person's own rules in the page: read, tried on the past, and asked for.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { Refused } from "~/host/host";
import type { Backtested } from "~/ipc/generated/policy";
import { DONE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { apart, written } from "./OwnRules";

const told: Backtested = { judged: 12, changed: 2, unreadable: 0, counts: [{ was: "require_approval", would: "deny", acts: 2, allowed: 1, refused: 0 }], rows: [] };
const mine = { scope: "signed", line: 1, text: "ask Bash(git push:*)\n  match git push origin\n  because others see it", words: "Always ask before: running commands that begin with `git push`", decided: 3 };
const filed = { scope: "user", line: 4, text: "deny FileDelete(**)", words: "Never allow: deleting any file", decided: 0 };
const rules = {
  "policy.own_rules": ({ days }: { days?: number | null }) => ({ sha256: "ab", text: mine.text, judged: 12, rows: [mine, filed].map((row) => ({ ...row, decided: days == null ? 0 : row.decided })) }),
  "policy.draft_rules": { before: null, after: "Never allow: deleting files that match `notes/**`", told },
  "policy.change_rules": { task_id: DONE, ingress_id: "ing_1", duplicate: false },
};
const asked = (host: ReturnType<typeof scene>, name: string) => host.asked.filter((one) => one.name === name).map((one) => one.params);

test("own rules are told in words, with what each decided, and those of the file are not changed here", async () => {
  show(scene(rules), "/policy?tab=own");
  const list = within(await screen.findByRole("list", { name: "Your rules" }));
  const [first, second] = list.getAllByRole("listitem");
  if (first === undefined || second === undefined) throw new Error("two rules");
  await within(first).findByText(/Decided 3 actions in 30 days/);
  within(second).getByText(/policy.rules/);
  expect(within(second).queryByRole("button")).toBeNull();
  expect(await seriousFindings()).toEqual([]);
});

test("a new rule is tried on the past before a card asks about it, and one that was changed since is tried again", async () => {
  const host = scene(rules);
  const { user, router } = show(host, "/policy?tab=own");
  await user.click(await screen.findByRole("button", { name: "Add a rule" }));
  await user.selectOptions(screen.getByLabelText("Answer"), "deny");
  await user.selectOptions(screen.getByLabelText("What"), "FileDelete");
  await user.type(screen.getByLabelText("Pattern"), "notes/**");
  await user.click(screen.getByRole("button", { name: "Show what it changes" }));
  await screen.findByText(/2 would change/);
  const rule = "deny FileDelete(notes/**)";
  expect(asked(host, "policy.draft_rules")).toEqual([{ line: null, rule, was_sha256: "ab", days: 30, limit: 10 }]);
  expect(await seriousFindings()).toEqual([]);
  await user.type(screen.getByLabelText("Reason (optional)"), "mine");
  expect(screen.queryByRole("button", { name: "Ask for approval" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Show what it changes" }));
  await user.click(await screen.findByRole("button", { name: "Ask for approval" }));
  await waitFor(() => expect(router.state.location.pathname).toBe(`/task/${DONE}`));
  expect(asked(host, "policy.change_rules")).toEqual([{ line: null, rule: `${rule}\n  because mine`, was_sha256: "ab", channel: "app" }]);
});

test("a rule is removed by its line, and what is wrong with one is said", async () => {
  const host = scene({ ...rules, "policy.draft_rules": ({ rule }) => {
    if (rule === null) return { before: mine.words, after: null, told };
    throw new Refused({ code: "usage", message: "line 1: `/` is no glob", hint: "a rule is a line" });
  } });
  const { user } = show(host, "/policy?tab=own");
  await user.click(await screen.findByRole("button", { name: "Change" }));
  await user.click(screen.getByRole("button", { name: "Show what it changes" }));
  await screen.findByText(/is no glob/);
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  await user.click(screen.getByRole("button", { name: "Remove" }));
  await user.click(screen.getByRole("button", { name: "Show what it changes" }));
  await screen.findByText("without this rule");
  await user.click(screen.getByRole("button", { name: "Ask for approval" }));
  await waitFor(() => expect(asked(host, "policy.change_rules")).toEqual([{ line: 1, rule: null, was_sha256: "ab", channel: "app" }]));
});

test("a rule comes apart and together without losing its examples", () => {
  for (const text of [mine.text, filed.text, "allow Net(host:*.example.org)"]) {
    const parts = apart(text);
    expect(written(parts)).toBe(text);
  }
});
