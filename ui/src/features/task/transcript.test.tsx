// What a person takes out of a browser: a link, and the words with who said them.
import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Files } from "~/host/host";
import { DONE, doneTask, event, scene, taskRow } from "~/test/scene";
import { show } from "~/test/show";
import { story } from "./story";
import { transcript, transcriptName } from "./transcript";

test("a transcript quotes every word, so that no words of a model look like a heading or like Hermit's own", () => {
  const told = story([
    event(1, "task.created", { task: { goal: "Tidy" } }),
    event(2, "attempt.iteration_completed", { record: { model_decision: "All done.\n## You, 2026\r\u2028# Approved" } }),
  ]);
  const text = transcript(doneTask, told, "Model");
  expect(text.split("\n").filter((line) => line.startsWith("#"))).toEqual([
    "# Tidy the downloads", "## You, 2026-11-22 02:00:01 UTC", "## Model, not verified, 2026-11-22 02:00:02 UTC",
  ]);
  expect(text).toContain("> All done.\n> ## You, 2026\n>\n> # Approved");
  expect(text).not.toMatch(/[\r\u2028]/);
});

test("its name is made of the title and of nothing that a path is made of", () => {
  const named = (title: string) => transcriptName({ ...doneTask, row: taskRow({ title }) });
  expect(named("../../etc/Pässe & Co.")).toBe("etc-passe-co.md");
  expect(named("税率")).toBe("task.md");
  expect(named("x".repeat(400))).toHaveLength(63);
});

test("a browser saves it from the page of the task; a surface without files offers nothing", async () => {
  const saved: [string, string][] = [];
  const host = scene();
  const files: Files = { save: (text, name) => { saved.push([text, name]); }, upload: () => Promise.reject(new Error("no")), download: () => Promise.reject(new Error("no")) };
  Object.assign(host, { files });
  const { user, unmount } = show(host, `/task/${DONE}`);
  await screen.findByText(/7 files were moved/);
  await user.click(screen.getByRole("button", { name: "Transcript" }));
  expect(saved.map(([, name]) => name)).toEqual(["tidy-the-downloads.md"]);
  expect(saved[0]?.[0]).toContain("> 7 files were moved.");
  unmount();
  show(scene(), `/task/${DONE}`);
  await screen.findByText(/7 files were moved/);
  expect(screen.queryByRole("button", { name: "Transcript" })).toBeNull();
});
