// What a proof would show is told as a person reads it.
import { screen, waitFor } from "@testing-library/react";
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

test("the app proposes where the proof is saved, another place after it, and what a person typed stays", async () => {
  const made = { path: "/home/you/Downloads/proof.zip", files: 3, byte_size: 9, sums_sha256: "ab".repeat(32), exported_at: 1, left_out: [] };
  const preview = { events: 1, receipts: 1, values: [], withheld: 0, artifacts: [], artifacts_withheld: 0, left_out: [] };
  const host = scene({ "proof.preview": preview, "proof.export": made }, "window");
  host.savePlace = (name) => Promise.resolve(`/home/you/Downloads/${host.times("proof.export") === 0 ? name : "proof-2.zip"}`);
  const { user } = show(host, "/proof");
  // The first one is the view of the page.
  const go = () => screen.getAllByRole("button", { name: "Export" }).at(-1) as HTMLElement;
  const field = await screen.findByLabelText<HTMLInputElement>("Save as");
  await waitFor(() => expect(field.value).toBe("/home/you/Downloads/proof.zip"));
  await user.click(go());
  await waitFor(() => expect(field.value).toBe("/home/you/Downloads/proof-2.zip"));
  await user.clear(field);
  await user.type(field, "/tmp/mine.zip");
  await user.click(go());
  const paths = () => host.asked.filter((one) => one.name === "proof.export").map((one) => (one.params as { path: string }).path);
  await waitFor(() => expect(paths()).toEqual(["/home/you/Downloads/proof.zip", "/tmp/mine.zip"]));
  expect(field.value).toBe("/tmp/mine.zip");
});
