// Commands behind a slash in the composer: the host says which there are, and what one tells stands where it was written.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { TALK, WAITS, doneTask, scene, taskRow } from "~/test/scene";
import { show } from "~/test/show";

const running = taskRow({ task_id: WAITS, status: "running", run_status: "running", open_approvals: 0 });
const said = { message_id: "ing_9", resolution: "control" as const, task_id: WAITS, candidates: [], rationale: "", told: ["`/help` tells which commands there are", "`/stop` ends it"], conversation_id: TALK.conversation_id };
const open = (more: object = {}) => {
  const host = scene({ "conversations.show": { ...TALK, focus_task_id: WAITS }, "task.list": { rows: [running] }, "task.show": { ...doneTask, reasoner: "openai:qwen", row: running }, "conversations.say": said, ...more });
  return { host, ...show(host, `/conversations?at=${TALK.conversation_id}`) };
};

test("a slash lists the commands, arrows choose, Enter completes and sends, and what it tells is shown", async () => {
  const { host, user } = open();
  const field = (await screen.findByLabelText("Message")) as HTMLTextAreaElement;
  await user.type(field, "/");
  const list = within(await screen.findByRole("listbox", { name: "Commands" }));
  expect(list.getAllByRole("option").map((one) => one.querySelector("b")?.textContent)).toEqual(["/help", "/goal", "/stop"]);
  await user.keyboard("{ArrowDown}{Enter}");
  expect(field.value).toBe("/goal ");
  expect(screen.queryByRole("listbox")).toBeNull();
  await user.clear(field);
  await user.type(field, "/h{Enter}");
  expect(field.value).toBe("/help");
  expect(host.asked.some((one) => one.name === "conversations.say")).toBe(false);
  await user.keyboard("{Enter}");
  await waitFor(() => expect(host.asked.filter((one) => one.name === "conversations.say").map((one) => one.params)).toMatchObject([{ text: "/help", task: WAITS }]));
  const told = within((await screen.findByText("/stop")).closest("[role=status]") as HTMLElement);
  await user.click(told.getByRole("button", { name: "Close" }));
  expect(screen.queryByText("/stop")).toBeNull();
});

test("an unknown command stays where it was written, with the host's words", async () => {
  const { user } = open({ "conversations.say": undefined });
  const field = (await screen.findByLabelText("Message")) as HTMLTextAreaElement;
  await user.type(field, "/nothing{Enter}");
  await screen.findByRole("alert");
  expect(field.value).toBe("/nothing");
});

test("a command goes to the host whenever it is read, and a branch leads to its conversation", async () => {
  const { host, user, router } = open({ "conversations.say": { ...said, told: [], conversation_id: "cnv_branch" } });
  const field = await screen.findByLabelText("Message");
  await screen.findByRole("option", { name: /^For: / });
  await user.click(screen.getByRole("button", { name: "Queue" }));
  await user.type(field, "/branch another way{Enter}");
  await waitFor(() => expect(router.state.location.search).toMatchObject({ at: "cnv_branch" }));
  expect(host.asked.some((one) => one.name === "task.note")).toBe(false);
});

test("Tab completes what is not whole and goes on from what is, also back; Escape closes the list", async () => {
  const { user } = open();
  const field = (await screen.findByLabelText("Message")) as HTMLTextAreaElement;
  await user.type(field, "/he");
  await screen.findByRole("listbox", { name: "Commands" });
  await user.tab({ shift: true });
  expect(document.activeElement).not.toBe(field);
  expect(field.value).toBe("/he");
  await user.click(field);
  await user.tab();
  expect(field.value).toBe("/help");
  expect(document.activeElement).toBe(field);
  expect(screen.getByRole("listbox", { name: "Commands" })).toBeTruthy();
  await user.tab();
  expect(document.activeElement).not.toBe(field);
  await user.click(field);
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(field.value).toBe("/help");
  await user.keyboard("{Backspace}");
  expect(screen.getByRole("listbox", { name: "Commands" })).toBeTruthy();
});

test("letters that are being composed complete nothing and send nothing, whichever way a browser says so", async () => {
  const { host } = open();
  const field = (await screen.findByLabelText("Message")) as HTMLTextAreaElement;
  await screen.findByRole("option", { name: /^For: / });
  fireEvent.change(field, { target: { value: "/he" } });
  await screen.findByRole("listbox", { name: "Commands" });
  for (const composing of [{ isComposing: true }, { keyCode: 229 }]) {
    fireEvent.keyDown(field, { key: "Enter", ...composing });
    expect(field.value).toBe("/he");
  }
  fireEvent.change(field, { target: { value: "にほん" } });
  fireEvent.keyDown(field, { key: "Enter", keyCode: 229 });
  expect(host.asked.some((one) => one.name === "conversations.say")).toBe(false);
  fireEvent.keyDown(field, { key: "Enter", keyCode: 13 });
  await waitFor(() => expect(host.asked.some((one) => one.name === "conversations.say")).toBe(true));
});
