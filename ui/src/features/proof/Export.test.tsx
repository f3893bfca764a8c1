// What a proof would show is told as a person reads it.
import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { scene } from "~/test/scene";
import { show } from "~/test/show";
import { read } from "./Export";

const WORKSPACE = "file:wsp_01a20e72c8847a248b160c5cd71b77a9";

test("names of files are never percent-encoded, and what is cut or other stays as it is", () => {
  expect(read(JSON.stringify(`${WORKSPACE}/%E5%90%88%20a.docx`))).toBe("合 a.docx");
  expect(read(JSON.stringify(`${WORKSPACE}/`))).toBe("the whole folder");
  expect(read(JSON.stringify("\" leading.txt\", as hashed"))).toBe("\" leading.txt\", as hashed");
  expect(read(JSON.stringify(`${WORKSPACE}/100%`))).toBe("100%");
  expect(read('"cut in the mid')).toBe('"cut in the mid');
  expect(read("12")).toBe("12");
});

test("the preview of a proof names the file", async () => {
  show(scene({ "proof.preview": { events: 1, receipts: 1, values: [{ pointer: "/predicate/changes/*/resource", count: 1, example: JSON.stringify(`${WORKSPACE}/my%20photo.jpg`) }], withheld: 0, artifacts: [], artifacts_withheld: 0, left_out: [] } }), "/proof");
  expect(await screen.findByText("my photo.jpg")).toBeTruthy();
});
