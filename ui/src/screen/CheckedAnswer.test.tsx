// A sentence of an answer that is bound by what its model cited.
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { AnswerCheck } from "~/ipc/generated/answer";
import { CheckedAnswer } from "./CheckedAnswer";
import { countsOf, isBare, markedAnswer } from "./answer";

const check: AnswerCheck = {
  method: "hermit.answer/5",
  sentences: [
    { gap: "", text: "The port is another now [r2].", plain: "The port is another now.", support: "receipt", receipts: ["rcp_1"], sources: [], because: null, near: null, cited: true, cites: [{ number: 2, bears: true, source: null, receipts: ["rcp_1"], quote: "changed app.toml" }] },
    { gap: " ", text: "It is out. [r9]", plain: "It is out.", support: "unverified", receipts: [], sources: [], because: "r9, which it cites, is nothing that was shown", near: null, cited: false, cites: [{ number: 9, bears: false, source: null, receipts: [], quote: null }] },
  ],
};

test("it stands with its receipt and the record's own words, and without the mark of the citation", () => {
  const { container } = render(<CheckedAnswer check={check} cite={(receipt) => <b key={receipt}>{receipt}</b>} />);
  const [first, second] = [...container.querySelectorAll<HTMLElement>("[data-support]")];
  expect(first?.textContent).toMatch(/The port is another now\..*rcp_1.*changed app\.toml/);
  expect(screen.getByTitle("What the record says, in its own words").textContent).toContain("changed app.toml");
  expect(second?.textContent).toMatch(/It is out\..*UNVERIFIED/);
  expect(screen.getByTitle("Nothing on record shows this: r9, which it cites, is nothing that was shown")).toBeTruthy();
  expect(container.textContent).not.toMatch(/\[r\d/);
});

test("copied, it names the receipt with the record's own words", () => {
  expect(markedAnswer(check, (receipt) => receipt)).toBe("The port is another now. [rcp_1: \u201cchanged app.toml\u201d] It is out. [UNVERIFIED]");
});

test("where the record that it cites does not show it, the words of both stand beside each other", () => {
  const open: AnswerCheck = { ...check, sentences: [check.sentences[0]!, { ...check.sentences[1]!, text: "It lasts 8 weeks [r5].", plain: "It lasts 8 weeks.", because: "what it cites does not show it", cites: [{ number: 5, bears: false, source: { artifact_id: "art_1", title: "read notes.md" }, receipts: [], quote: "Battery: up to 6 weeks" }] }] };
  const { container } = render(<CheckedAnswer check={open} cite={(receipt) => <b key={receipt}>{receipt}</b>} />);
  expect(container.textContent).toMatch(/It lasts 8 weeks\..*UNVERIFIED.*compare with.*Battery: up to 6 weeks/);
  expect(markedAnswer(open, (receipt) => receipt)).toContain("[UNVERIFIED, compare with: \u201cBattery: up to 6 weeks\u201d]");
});

test("one that is told like the record is not shown as verified: it has a mark of its own, and the words of the record beside it", () => {
  const near: AnswerCheck = { ...check, sentences: [check.sentences[0]!, { ...check.sentences[1]!, text: "I improved it.", plain: null, receipts: ["rcp_2"], because: "a receipt shows what was done, and not that it was improved", near: "changed app.toml", cites: [] }, check.sentences[1]!] };
  const { container } = render(<CheckedAnswer check={near} cite={(receipt) => <b key={receipt}>{receipt}</b>} />);
  const [, told] = [...container.querySelectorAll<HTMLElement>("[data-support]")];
  expect(told?.textContent).toMatch(/I improved it\..*COMPARE.*changed app\.toml/);
  expect(told?.textContent).not.toMatch(/UNVERIFIED|rcp_2/);
  expect(screen.getByTitle(/not every word of it is: a receipt shows what was done/)).toBeTruthy();
  expect(markedAnswer(near, (receipt) => receipt)).toContain("I improved it. [COMPARE: \u201cchanged app.toml\u201d] It is out. [UNVERIFIED]");
  expect(countsOf(near)).toBe("1 verified, 1 to compare, 1 unverified");
  expect(isBare({ ...near, sentences: near.sentences.slice(1) })).toBe(false);
});
