// Training on its page: nothing is kept unseen, the run in hand shows its loss, worse is not offered, and a recall says what it took.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { CURATION, DATASET, NO_RUN, TRAININGS, liveRun, runRow } from "~/test/training";

test("what would be learned from is seen, with what is left out and why, before it is kept as it was shown", async () => {
  const host = scene({ "training.preview": CURATION, "training.curate": DATASET });
  const { user: person } = show(host, "/training");
  expect(screen.queryByRole("button", { name: "Keep this dataset" })).toBeNull();
  await person.click(await screen.findByRole("button", { name: "Preview the dataset" }));
  const card = within(await screen.findByRole("group", { name: "What a dataset would hold" }));
  expect(card.getByText(/8 examples are learned from, with 9 receipts; 2 are held out, of other projects/)).toBeTruthy();
  expect(card.getByText("You or policy said no")).toBeTruthy();
  expect(card.getByText("It shows a secret, or had one taken out")).toBeTruthy();
  expect(card.getByText("U+202E"), "what would turn the line is shown").toBeTruthy();
  expect(card.getByText(/letters/)).toBeTruthy();
  expect(host.times("training.curate")).toBe(0);
  await person.click(screen.getByRole("button", { name: "Keep this dataset" }));
  await waitFor(() => expect(host.asked.find((call) => call.name === "training.curate")?.params).toEqual({ by_time: false, shown: CURATION.sha256 }));
  expect(await screen.findByText(/Kept: 40 examples, 8 of them held out/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("where no dataset can be made the reason stands there, and there is nothing to keep", async () => {
  const host = scene({ "training.preview": { ...CURATION, examples: 0, held_out: 0, shown: [], trouble: "all examples are of one project" } });
  const { user: person } = show(host, "/training");
  await person.click(await screen.findByRole("button", { name: "Preview the dataset" }));
  expect(await screen.findByText("All examples are of one project")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Keep this dataset" })).toBeNull();
});

test("the run in hand shows its steps and its loss, and is paused, continued and stopped", async () => {
  let run = liveRun();
  const host = scene({
    "training.stands": () => ({ ...NO_RUN, run }),
    "training.pause": () => { run = liveRun({ state: "paused" }); return { ...NO_RUN, run }; },
    "training.run": () => { run = liveRun(); return { ...NO_RUN, run }; },
    "training.stop": () => { run = liveRun({ state: "stopped" }); return { ...NO_RUN, run, resumable: ["run_0b"] }; },
  });
  const { user: person } = show(host, "/training");
  const curve = await screen.findByRole("img", { name: "Loss from 4.000 at step 1 to 2.500 at step 3" });
  const points = curve.querySelector("polyline")?.getAttribute("points")?.split(" ") ?? [];
  expect(points).toHaveLength(3);
  const heights = points.map((point) => Number(point.split(",")[1]));
  expect([...heights].sort((a, b) => a - b), "it falls").toEqual(heights);
  expect(screen.queryByRole("button", { name: "Train" })).toBeNull();
  await person.click(screen.getByRole("button", { name: "Pause" }));
  await person.click(await screen.findByRole("button", { name: "Continue" }));
  await waitFor(() => expect(host.asked.find((call) => call.name === "training.run")?.params).toEqual({ resume: "run_0b" }));
  await person.click(await screen.findByRole("button", { name: "Stop" }));
  expect(await screen.findByText("Stopped")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("before and after stand beside each other, worse is not offered, and better becomes a model", async () => {
  const better = runRow({ run_id: "run_0c", offered: true, words: "25.0 of a hundred exact next acts" });
  const gone = runRow({ run_id: "run_0d", recalled: 1_700_000_200_000, exported: { name: "own", address: "box:own", sha256: "00".repeat(32), card_id: "art_3", at: 1 } });
  const host = scene({ "training.list": { ...TRAININGS, runs: [better, runRow(), gone] }, "training.export": NO_RUN });
  const { user: person } = show(host, "/training");
  const worse = within(await screen.findByRole("article", { name: "run_0a" }));
  expect(worse.getByText("Not offered")).toBeTruthy();
  expect(worse.getByText(/^Ran on/).textContent).toBe("Ran on cpu, 2 threads, x86_64 linux");
  expect(within(worse.getByRole("row", { name: /^After/ })).getByText("25.0 %")).toBeTruthy();
  expect(worse.queryByRole("button", { name: "Make a model of it" })).toBeNull();
  expect(within(screen.getByRole("article", { name: "run_0d" })).getByText(/something that you recalled/)).toBeTruthy();
  await person.click(within(screen.getByRole("article", { name: "run_0c" })).getByRole("button", { name: "Make a model of it" }));
  await waitFor(() => expect(host.asked.find((call) => call.name === "training.export")?.params).toEqual({ run: "run_0c" }));
});

test("without the program, and without a dataset, nothing is begun and the page says why", async () => {
  const host = scene({ "training.list": { ...TRAININGS, datasets: [] }, "training.stands": { ...NO_RUN, trouble: "this build of Hermit has no program that trains" } });
  show(host, "/training");
  expect(await screen.findByText("This build of Hermit has no program that trains.")).toBeTruthy();
  expect((await screen.findByRole("button", { name: "Train" })).getAttribute("title")).toBe("The program that trains is not here");
});

test("a recall says what it took, and what the default model has to do with it", async () => {
  const host = scene({ "training.recall": { recall: { source: "task_1", datasets: ["art_1"], runs: ["run_0a"], at: 1 }, standard: "the default model `box:own` learned from what was recalled" } });
  const { user: person } = show(host, "/training");
  const recall = await screen.findByRole("button", { name: "Recall it" });
  expect(recall.getAttribute("title")).toBe("Name what is recalled");
  await person.type(screen.getByLabelText("Task, receipt, artifact or folder"), "task_1");
  await person.click(recall);
  expect(await screen.findByText(/1 dataset lost examples, and 1 adapter saw some/)).toBeTruthy();
  expect(screen.getByText(/box:own/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("a run that machines learn together says with whom and what it sent, and an invitation is shown", async () => {
  const together = { name: "notes", lead: null, machines: ["desk", "server"], round: 2, rounds: 10, counted: 3, sent_bytes: 700, plain_bytes: 4000 };
  const invitation = { name: "letters", from: "laptop", node: "ab".repeat(32), base_sha256: "cd".repeat(32), rounds: 4, steps: 20 };
  const host = scene({ "training.stands": { ...NO_RUN, run: liveRun({ state: "done", together }), invitations: [invitation] } });
  show(host, "/training");
  const line = await screen.findByText(/2 of 10 rounds, 3 machines/);
  expect(line.textContent).toContain("Together with desk, server");
  expect(line.textContent).toContain("Sent 700 bytes; plain averaging would have sent 4000");
  expect(screen.getByText(/asks whether this machine learns/).textContent).toContain("in 4 rounds of 20 steps");
  expect(await seriousFindings()).toEqual([]);
});
