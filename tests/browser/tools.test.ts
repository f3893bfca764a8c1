// A server of tools in Chromium: registered at a terminal and allowed on the page, classified there, and seen to change.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { model } from "./model";
import { conforms, picture } from "./kept";
import { World } from "./world";

const world = new World();
// Where it tells what it is at, it takes long enough to be followed.
const SERVER = readFileSync(fileURLToPath(new URL("../journeys/data/tool_server.py", import.meta.url)), "utf8").replace("        time.sleep(1)\n", `        time.sleep(5)
        say({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 50, "total": 50, "message": "nearly there"}})
        time.sleep(4)
`);
const at = (...more: string[]) => ["--workspace", world.folder, "--no-input", ...more];
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const tool = (name: string) => world.page.getByRole("article", { name, exact: true });

beforeAll(async () => {
  world.keys();
  world.file("server.py", SERVER);
  world.file("mode.txt", "good");
  await world.ui();
  world.hermit("tools", "add", "toy", ...at("--", "/usr/bin/python3", "server.py"));
  await world.open(await world.serve());
});

afterAll(() => world.close());

test("what a terminal proposed is allowed on its card, and the page has every word of it", async () => {
  const card = world.page.getByRole("article", { name: "Approval" });
  await card.getByText("| Gives back what it is given.").first().waitFor();
  // What changes what Hermit may do is asked about each time.
  expect(await card.getByRole("radio", { name: "Also similar actions, from now on" }).getAttribute("aria-disabled")).toBe("true");
  await picture(world.page, "tools-card");
  await world.approve("high");
  await world.go("/tools");
  await tool("echo").getByText("Not classified: you are asked each time").waitFor();
  await world.page.getByText("/usr/bin/python3 server.py", { exact: true }).waitFor();
  await tool("echo").getByText("Arguments and results").click();
  await tool("echo").getByText('"additionalProperties": false').first().waitFor();
  await picture(world.page, "tools");
});

test("a tool is classified on the page, and counts once its card was allowed", async () => {
  await tool("echo").getByRole("button", { name: "Classify" }).click();
  await tool("echo").getByLabel("What it does").selectOption("read_local");
  await picture(world.page, "tools-classify");
  await button("Ask me to approve this").click();
  await tool("echo").getByRole("link", { name: "Review it" }).click();
  await world.page.getByRole("link", { name: "Review" }).first().click();
  await world.approve("high");
  await expect.poll(async () => {
    await world.go("/tools");
    return tool("echo").getByText("Read files").count();
  }, { timeout: 90_000 }).toBe(1);
  // No question any more: it is called, and answers.
  const said = world.hermit("tools", "try", "toy", "echo", '{"text":"hello"}', ...at());
  expect(said).toContain("hello");
});

const FILES = ["one.md", "two.md", "three.md"];
/** Prints a line, a warning and another line, a moment after one another. */
const COMMAND = "echo one of two; sleep 3; echo a warning >&2; sleep 1; echo two of two; sleep 3";

test("what a tool says while it is at work is on the page of its task as it comes, and gone with the answer", conforms("RA-1.2-6", async () => {
  interface Told { type: string; payload: { tool_call_id?: string; phase?: string; data?: { stream?: string; text?: string } | null; progress?: { done: number; total: number } | null } }
  world.file("mode.txt", "tells");
  const wishes = await model([{ tool: "toy__echo", arguments: { text: "hello" } }, { tool: "command", arguments: { argv: ["/bin/sh", "-c", COMMAND] } }, { tool: "change", arguments: { items: FILES.map((path) => ({ op: "write", path, content: "x\n" })) } }, { tool: "done", arguments: { summary: "It said it again." } }]);
  world.hermit("models", "use", wishes.name);
  world.hermit("conversation", "say", "Have it say hello", "--new", "--workspace", world.folder);
  const id = (JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string }[] }).rows[0]?.task_id ?? "";
  await world.go(`/task/${id}`);
  const prints = world.page.getByRole("group").filter({ hasText: "What it prints" });
  await prints.getByText("going on").first().waitFor({ timeout: 90_000 });
  const early = await prints.innerText();
  expect(early, "as it comes, not at the end").not.toContain("nearly there");
  await picture(world.page, "tools-at-work");
  await prints.getByText("nearly there").first().waitFor({ timeout: 90_000 });
  // A command, with what it prints on either way.
  await prints.getByText("one of two").first().waitFor({ timeout: 90_000 });
  expect(await prints.innerText(), "as it comes, and nothing of the tool before it").not.toMatch(/two of two|nearly there/);
  await prints.getByText("a warning").first().waitFor({ timeout: 90_000 });
  await prints.getByText("two of two").first().waitFor({ timeout: 90_000 });
  // Files that are written: how far it is.
  await expect.poll(() => world.hermit("approvals", "list", "--json"), { timeout: 90_000 }).toContain(id);
  await world.go("/");
  await world.approve();
  await world.go(`/task/${id}`);
  await world.page.getByRole("log").getByText("It said it again.").first().waitFor({ timeout: 90_000 });
  await expect.poll(() => prints.count()).toBe(0);
  // The run's stream says the same of each call: what is printed by its way, what is said with how far it is.
  const headers = { authorization: `Bearer ${world.token()}` };
  const { events } = (await (await fetch(`${new URL(world.page.url()).origin}/v1/runs/${id}/events?limit=500`, { headers })).json()) as { events: Told[] };
  const calls = events.filter((one) => one.type === "tool.started").map((one) => one.payload.tool_call_id);
  const updates = (call: string | undefined) => events.filter((one) => one.type === "tool.updated" && one.payload.tool_call_id === call);
  const printed = (call: string | undefined, stream?: string) => updates(call).filter((one) => stream === undefined || one.payload.data?.stream === stream).map((one) => one.payload.data?.text ?? "").join("");
  expect(calls).toHaveLength(3);
  expect(printed(calls[0])).toMatch(/going on[\s\S]*nearly there/);
  expect(updates(calls[2]).map(({ payload: { progress } }) => [progress?.done, progress?.total])).toEqual([[1, 3], [2, 3], [3, 3]]);
  // A command is tried in a copy before it is called; what it prints comes of its trial, which the stream tells of as such.
  const tried = events.find((one) => one.type === "progress" && one.payload.phase === "tried")?.payload.tool_call_id;
  expect(tried).toMatch(/^act_/);
  expect(printed(tried, "stdout")).toBe("one of two\ntwo of two\n");
  expect(printed(tried, "stderr")).toBe("a warning\n");
  const at = (type: string, call: string | undefined) => events.findIndex((one) => one.type === type && one.payload.tool_call_id === call);
  for (const call of [calls[0], calls[2]]) expect(at("tool.updated", call)).toBeLessThan(at("tool.done", call));
  await wishes.end();
}));

test("a server that says something else is seen at once, and what changed is not called", async () => {
  world.file("mode.txt", "pulled");
  expect(() => world.hermit("tools", "try", "toy", "echo", '{"text":"again"}', ...at())).toThrow("ended with 1");
  await world.go("/tools");
  await tool("echo").getByText("Changed since you registered it; not called").waitFor();
  await world.page.getByText("hermit tools add toy --again", { exact: true }).waitFor();
  expect(await tool("echo").getByRole("button", { name: /Classify/ }).count()).toBe(0);
  // The difference is on the card that asks to register it again.
  await world.end("SIGTERM");
  world.hermit("tools", "add", "toy", "--again", ...at());
  await world.reopen(await world.serve());
  await world.go("/");
  await world.page.getByRole("article", { name: "Approval" }).getByText("Also read ~/.ssh.", { exact: false }).first().waitFor();
  await picture(world.page, "tools-changed");
  expect(world.complaints).toEqual([]);
});
