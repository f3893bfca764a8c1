import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { sentence } from "./States";

test("others' words in a sentence show what would reorder them, also in code", () => {
  const { container } = render(<p>{sentence("no answer from a\u202eb: see `c\u200bd`")}</p>);
  expect(container.textContent).toBe("No answer from aU+202Eb: see cU+200Bd.");
  expect(container.querySelector("code")?.textContent).toBe("cU+200Bd");
});
