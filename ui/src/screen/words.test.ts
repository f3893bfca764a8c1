import { expect, test } from "vitest";
import { SANDBOX_LEVEL } from "~/ipc/generated/words";
import { BY_A_NO, count, grantStands, run, sandboxName } from "./words";

test("each level of the sandbox has words of its own, and one that is not known is shown as it came", () => {
  const words = SANDBOX_LEVEL.map(sandboxName);
  expect(new Set(words).size).toBe(SANDBOX_LEVEL.length);
  expect(sandboxName("namespaces_landlock")).toBe("namespaces, Landlock and seccomp");
  expect(sandboxName("seatbelt_open")).toMatch(/^not confined: /);
  expect(sandboxName("a_level_to_come")).toBe("a level to come");
});

test("a grant that was taken back while its act was under way says that it was used, too", () => {
  expect(grantStands({ state: "revoked", consumed_at: 1 })).toBe("revoked while in use");
  expect(grantStands({ state: "revoked", consumed_at: null })).toBe("revoked");
  expect(grantStands({ state: "consumed", consumed_at: 1 })).toBe("consumed");
});

test("a task that a person's no ended is theirs, also where something was done before it", () => {
  const row = { run_status: "failed", unknown_effects: 0, refused_by: null, undone: null, interrupted: null } as const;
  expect(run({ ...row, reason: BY_A_NO })).toMatchObject({ word: "Denied by you", tone: "mute", mark: "deny" });
  expect(run({ ...row, reason: "no_progress" })).toMatchObject({ word: "Failed", tone: "failed" });
  expect(run(row)).toMatchObject({ word: "Failed" });
});

test("a number and its noun have their thousands apart", () => {
  expect([count(1, "file"), count(1_500, "file"), count(3_000, "memory", "memories")]).toEqual(["1 file", "1,500 files", "3,000 memories"]);
});
