import { expect, test } from "vitest";
import { SANDBOX_LEVEL } from "~/ipc/generated/words";
import { grantStands, sandboxName } from "./words";

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
