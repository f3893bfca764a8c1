import { expect, test } from "vitest";
import { SANDBOX_LEVEL } from "~/ipc/generated/words";
import { sandboxName } from "./words";

test("each level of the sandbox has words of its own, and one that is not known is shown as it came", () => {
  const words = SANDBOX_LEVEL.map(sandboxName);
  expect(new Set(words).size).toBe(SANDBOX_LEVEL.length);
  expect(sandboxName("namespaces_landlock")).toBe("namespaces, Landlock and seccomp");
  expect(sandboxName("seatbelt_open")).toMatch(/^not confined: /);
  expect(sandboxName("a_level_to_come")).toBe("a level to come");
});
