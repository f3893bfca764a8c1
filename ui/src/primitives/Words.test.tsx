import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Name, Words } from "./Words";

const shown = (of: string) => render(<p><Words of={of} /></p>).container.firstElementChild;

test("a long name breaks at its joints and nowhere within a word, and is the same text", () => {
  const name = "reports/2026-11/quarterly_summary_of_everything.final.md";
  const words = shown(`overwrite "${name}" now`);
  expect(words?.textContent).toBe(`overwrite "${name}" now`);
  const pieces = [...(words?.childNodes ?? [])].filter((node) => node.nodeName !== "WBR").map((node) => node.textContent);
  expect(pieces).toEqual(["overwrite ", "\"reports/", "2026-", "11/", "quarterly_", "summary_", "of_", "everything.", "final.", "md\"", " now"]);
});

test("short words are left alone", () => {
  expect(shown("a-b/c_d.txt and more")?.querySelector("wbr")).toBeNull();
});

test("a long name that hides something still shows it", () => {
  const { container } = render(<Name of={"a_very_long_file_name_that_hides\u202e_its_end.txt"} />);
  expect(container.textContent).toContain("U+202E");
  expect(container.querySelector("wbr")).not.toBeNull();
});
