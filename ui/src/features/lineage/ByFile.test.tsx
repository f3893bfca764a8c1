// A file is named as a person names it, and its newest change is drawn.
import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { Refused } from "~/host/host";
import { RECEIPT, scene, sceneAnswers } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { fileAndLine, isIdentifier, placesOf } from "./ByFile";

test("a file by its name is looked for where work was done, and told in sentences above the path of its change", async () => {
  const explain = sceneAnswers()["trace.explain"] as (params: { subject: string }) => object;
  const host = scene({
    "trace.explain": (params) => {
      if (params.subject !== "/home/you/atlas-billing/notes/a.md") throw new Refused({ code: "not_found", message: "no such file" });
      const line = { number: 3, text: "VAT is 19 percent", written_by: RECEIPT, number_then: 3 };
      return { ...explain(params), kind: "path", told: ["you approved it in the browser"], line } as never;
    },
  });
  const { user } = show(host, "/lineage");
  await user.type(await screen.findByLabelText(/File, line of a file/), "notes/a.md:3{Enter}");
  await screen.findByText("VAT is 19 percent");
  await screen.findByText("You approved it in the browser.");
  await screen.findByText("Written by the change below.");
  await screen.findAllByText(/As a table/);
  expect(host.asked.findLast((one) => one.name === "lineage.draw")?.params).toEqual({ of: RECEIPT });
  expect(await seriousFindings()).toEqual([]);
});

test("a file that nobody knows is said to be unknown, in the host's words", async () => {
  show(scene({ "trace.explain": () => { throw new Refused({ code: "not_found", message: "no task worked on that file" }); } }), "/lineage?of=/elsewhere/b.md");
  await screen.findByText(/No task worked on that file/);
});

test("what names a file, a line and a thing of the store is told apart", () => {
  expect(fileAndLine("a b.md:12")).toEqual({ path: "a b.md", line: 12 });
  expect(fileAndLine("C:\\notes\\a.md")).toEqual({ path: "C:\\notes\\a.md", line: null });
  expect(placesOf("a.md", ["/two/", "/one"])).toEqual(["/two/a.md", "/one/a.md"]);
  expect(placesOf("/x/a.md", ["/one"])).toEqual(["/x/a.md"]);
  expect([RECEIPT, "effect:act_1", "a.md"].map(isIdentifier)).toEqual([true, true, false]);
});
