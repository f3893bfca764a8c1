// Prompts of servers: listed behind a slash, asked for what they take, and put into the draft without being sent.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Server, Shown } from "~/ipc/generated/tools";
import { openPalette } from "~/screen/commands";
import { AT, DONE, WAITS, doneTask, scene, task } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { asksForPrompt, cameTo, meant } from "./prompts";

const PROMPT = "task_01a20000000070008000000000000aaa";
const server: Server = {
  server: "files", state: "changed", why: null, argv: ["npx"], url: null, hosts: [], since: AT, manifest_sha256: "c0ffee00".repeat(8), tools: [],
};
const shown: Shown = {
  server, pins: [], package: null, secrets: {}, variables: {}, reads: [], words: [], resources: [], left_out: [], sampling: null, passed_on: false, calls: [],
  prompts: [
    { name: "review", title: null, description: "Reviews a change.", arguments: [{ name: "change", description: "Its number", required: true }, { name: "tone", description: null, required: false }], changed: false },
    { name: "stale", title: null, description: null, arguments: [], changed: true },
  ],
};

const world = (summary: string) => scene({
  "tools.list": { servers: [server] }, "tools.show": shown, "tools.prompt": { task_id: PROMPT, ingress_id: "ing_1", duplicate: false },
  "task.show": ({ task: id }) => (id === PROMPT ? { ...doneTask, summary, row: { ...doneTask.row, task_id: PROMPT } } : id === DONE ? doneTask : task),
  "task.note": { task_id: WAITS, ingress_id: "ing_2" } as never,
});

test("what is typed finds prompts, and a path or a second line asks for none", () => {
  const all = [{ server: "files", name: "review", says: "", takes: [], typed: "files review" }, { server: "git", name: "blame", says: "", takes: [], typed: "git blame" }];
  expect(meant(all, "/").length).toBe(2);
  expect(meant(all, "/REV fil").map((one) => one.name)).toEqual(["review"]);
  expect(meant(all, "/nothing")).toEqual([]);
  expect(["/", "/files review"].every(asksForPrompt)).toBe(true);
  expect(["", "look at /etc", "/etc/hosts", "/a\nb"].some(asksForPrompt)).toBe(false);
  expect(cameTo("It answered: Review it.")).toBe("Review it.");
  expect(cameTo("It failed")).toBeNull();
});

test("a prompt is chosen behind a slash, and its words are the person's draft", async () => {
  const host = world("It answered: Review change 7.");
  const { user } = show(host, `/task/${WAITS}`);
  const field = await screen.findByRole("textbox", { name: "Message" });
  await user.type(field, "/rev");
  const list = within(await screen.findByRole("list", { name: "Prompts of servers" }));
  expect(list.getByText("Reviews a change.")).toBeTruthy();
  expect(list.queryByText(/stale/)).toBeNull();
  await user.click(list.getByRole("button", { name: /files review/ }));
  const form = within(screen.getByRole("group", { name: "Prompt review of files" }));
  await user.click(form.getByRole("button", { name: "Put it into the draft" }));
  expect(host.times("tools.prompt")).toBe(0);
  await user.type(form.getByLabelText("change"), "7{Enter}");
  expect(await seriousFindings()).toEqual([]);
  await user.click(form.getByRole("button", { name: "Put it into the draft" }));
  await waitFor(() => expect((field as HTMLTextAreaElement).value).toBe("Review change 7."));
  expect(host.asked.find((one) => one.name === "tools.prompt")?.params).toMatchObject({ server: "files", prompt: "review", arguments: { change: "7" } });
  expect(screen.queryByRole("group", { name: "Prompt review of files" })).toBeNull();
  expect(host.times("task.note")).toBe(0);
});

test("words that come after the person has written something replace nothing unasked", async () => {
  let ended = false;
  const answered = { ...doneTask, summary: "It answered: Review change 7.", row: { ...doneTask.row, task_id: PROMPT } };
  const host = scene({
    "tools.list": { servers: [server] }, "tools.show": shown, "tools.prompt": { task_id: PROMPT, ingress_id: "ing_1", duplicate: false },
    "task.show": ({ task: id }) => (id !== PROMPT ? task : ended ? answered : { ...answered, row: { ...answered.row, ended_at: null } }),
  });
  const { user } = show(host, `/task/${WAITS}`);
  const field = await screen.findByRole("textbox", { name: "Message" });
  await user.type(field, "/rev");
  await user.click(await screen.findByRole("button", { name: /files review/ }));
  const form = within(screen.getByRole("group", { name: "Prompt review of files" }));
  await user.type(form.getByLabelText("change"), "7");
  await user.click(form.getByRole("button", { name: "Put it into the draft" }));
  await form.findByText(/Getting the words/);
  await user.clear(field);
  await user.type(field, "my own words");
  ended = true;
  await user.click(await screen.findByRole("button", { name: "Replace it with the prompt" }, { timeout: 3_000 }));
  expect((field as HTMLTextAreaElement).value).toBe("Review change 7.");
});

test("what comes to nothing says why, and leaves the draft as it is", async () => {
  const { user } = show(world("nothing was done: the server refused the call"), "/tasks/new?goal=%2Ffiles%20review&folder=%2Fhome%2Fyou%2Fwork");
  await user.click(await screen.findByRole("button", { name: /files review/ }));
  const form = within(screen.getByRole("group", { name: "Prompt review of files" }));
  await user.type(form.getByLabelText("change"), "7");
  await user.click(form.getByRole("button", { name: "Put it into the draft" }));
  await form.findByText(/the server refused the call/);
  expect(form.getByRole("link", { name: "Show the task" }).getAttribute("href")).toContain(PROMPT);
  expect((screen.getByRole("textbox", { name: "Goal" }) as HTMLTextAreaElement).value).toBe("/files review");
});

test("a prompt that is longer than what is shown of it says so", async () => {
  const { user } = show(world(`It answered: ${"x".repeat(4_000)}`), `/task/${WAITS}`);
  await user.type(await screen.findByRole("textbox", { name: "Message" }), "/");
  await user.click(await screen.findByRole("button", { name: /files review/ }));
  const form = within(screen.getByRole("group", { name: "Prompt review of files" }));
  await user.type(form.getByLabelText("change"), "7");
  await user.click(form.getByRole("button", { name: "Put it into the draft" }));
  await screen.findByText(/the first 4000 letters/);
});

test("the palette finds a prompt and leads to a draft", async () => {
  const { user, router } = show(world(""), "/");
  await screen.findAllByText(/Inbox|Waiting/);
  openPalette();
  await user.type(await screen.findByRole("combobox", { name: "Find or do" }), "review");
  await user.click(await screen.findByText(/review: Reviews a change/));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ goal: "/files review" }));
});
