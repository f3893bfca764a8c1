import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Select } from "./Field";
import { Name, Words, wordsAsText } from "./Words";

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

test("where only text can stand, what would not show is written out as well", () => {
  expect(wordsAsText("small\u202egib \u27e8U+200B\u27e9 <U+200D>")).toBe("small\u27e8U+202E\u27e9gib \u27e8U+200B\u27e9 \u27e8U+200D\u27e9");
  expect(wordsAsText("one\tof two\nlines")).toBe("one\tof two\nlines");
  const { container } = render(<Select label="Model" options={[{ value: "a\u202eb", label: "Ask a\u202eb" }]} />);
  const option = container.querySelector("option");
  expect([option?.value, option?.textContent]).toEqual(["a\u202eb", "Ask a\u27e8U+202E\u27e9b"]);
});
