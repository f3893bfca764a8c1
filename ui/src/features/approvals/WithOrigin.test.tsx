// From a line of a difference to where it came from: by the number that the line has in the file as it is now.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { Refused } from "~/host/host";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import { APPROVAL, DONE, RECEIPT, changes, changesOf, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { ChangeList } from "./ChangeList";

const side = (text: string) => ({ sha256: "c0ffee00".repeat(8), byte_size: text.length, text, missing: null });

test("a line of a card leads to where it came from, and only a line that is there already", async () => {
  const files = [
    { op: "write" as const, path: "src/a%20b.ts", to: null, same_as: null, before: side("one\ntwo\nthree\n"), after: side("one\n2\n3\nthree\n"), outcome: null },
    { op: "write" as const, path: "new.ts", to: null, same_as: null, before: null, after: side("new\n"), outcome: null },
  ];
  const { user, router } = show(scene({ "changes.show": changesOf({ ...changes, files }) }), "/");
  const file = within(await screen.findByRole("region", { name: "Replace src/a b.ts" }));
  // Numbered as they are read after the change; what leads is the number before it.
  expect(file.getAllByTitle(/^Where line/).map((one) => [one.textContent, one.title])).toEqual([
    ["1", "Where line 1 came from"], ["2", "Where line 2 came from"], ["4", "Where line 3 came from"],
  ]);
  const added = within(screen.getByRole("region", { name: "Create new.ts" }));
  expect(added.queryByTitle(/^Where/)).toBeNull();
  expect(await seriousFindings()).toEqual([]);
  await user.click(file.getByTitle("Where line 3 came from"));
  expect(router.state.location).toMatchObject({ pathname: "/lineage", search: { of: "/home/you/atlas-billing/src/a b.ts:3" } });
});

test("of what was done the lines lead by the numbers that they have since, and the file by keys", async () => {
  const files = [{ op: "write" as const, path: "a.ts", to: null, same_as: null, before: side("one\n"), after: side("zero\none\n"), outcome: "done" as const }];
  const { user, router } = show(scene({ "changes.show": changesOf({ ...changes, of: RECEIPT, tense: "done", files }) }), `/task/${DONE}?see=${RECEIPT}`);
  const file = within(await screen.findByRole("region", { name: "Replaced a.ts" }));
  expect(file.getAllByTitle(/^Where line/).map((one) => one.title)).toEqual(["Where line 1 came from", "Where line 2 came from"]);
  file.getByRole("button", { name: "Where a.ts came from" }).focus();
  await user.keyboard("{Enter}");
  expect(router.state.location).toMatchObject({ pathname: "/lineage", search: { of: "/home/you/atlas-billing/a.ts" } });
});

test("a file is saved as it would be written, byte for byte, where a browser is: a text by the page, other bytes by the host", async () => {
  const saved: [string, string][] = [];
  const taken: unknown[] = [];
  const host = scene({ "changes.show": changesOf({ ...changes, files: [
    { op: "write", path: "notes/a%20b.md", to: null, same_as: null, before: side("one\n"), after: side("\ufeffone\r\ntwo"), outcome: null },
    { op: "write", path: "photo.jpg", to: null, same_as: null, before: null, after: { ...side(""), text: null, missing: "binary" }, outcome: null },
    { op: "write", path: "gone.jpg", to: null, same_as: null, before: null, after: { ...side(""), text: null, missing: "gone" }, outcome: null },
  ] }) });
  Object.assign(host, { files: {
    save: (text: string, name: string) => { saved.push([text, name]); },
    download: (...asked: unknown[]) => { taken.push(asked); return Promise.reject(new Refused({ code: "not_found", message: "the bytes of this file are not kept here" })); },
  } });
  const { user } = show(host, "/");
  await user.click(await screen.findByRole("button", { name: "Download notes/a b.md" }));
  expect(saved).toEqual([["\ufeffone\r\ntwo", "a b.md"]]);
  await user.click(screen.getByRole("button", { name: "Download photo.jpg" }));
  expect(taken).toEqual([["changes.export", { of: APPROVAL, sha256: "c0ffee00".repeat(8) }, "photo.jpg"]]);
  expect((await screen.findByRole("alert")).textContent).toBe("The bytes of this file are not kept here.");
  expect(screen.queryByRole("button", { name: /Download gone/ })).toBeNull();
});

test("in the window that a yes is given in a difference leads nowhere", () => {
  const first = changesOf(changes)({});
  render(<HostProvider value={scene()}><QueryClientProvider client={makeQueryClient()}><ChangeList of={APPROVAL} first={first} /></QueryClientProvider></HostProvider>);
  expect(screen.getAllByText("Replace").length + screen.getAllByText("Delete").length).toBeGreaterThan(1);
  expect(screen.queryByTitle(/^Where/)).toBeNull();
});
