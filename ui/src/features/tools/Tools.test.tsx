// Servers of tools on a page: every word of a server, what a person said of each tool, and saying something else.
import { act, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { LoginAt, Server, Shown } from "~/ipc/generated/tools";
import { AT, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { textsOf } from "./Classify";

const HASH = "ab".repeat(32);
const SCHEMA = JSON.stringify({ type: "object", properties: { path: { type: "string" }, depth: { type: "number" }, all: { type: "array", items: { type: "string" } } } });
const server: Server = {
  server: "files", state: "ready", why: null, argv: ["npx", "-y", "server-filesystem", "."], url: null, hosts: [], since: AT, manifest_sha256: HASH,
  tools: [
    { name: "read", offered_as: "files__read", class: "read_local", off: false, only_in: "/home/anna/notes", paths: ["/path"], hosts: [], amounts: ["/depth"], examples: [{ arguments: '{"path":"../b"}', matches: false }], repeatable: true, trusted: false, time_limit_s: null, changed: false },
    { name: "send", offered_as: "files__send", class: null, off: false, only_in: null, paths: [], hosts: [], amounts: [], examples: [], repeatable: false, trusted: false, time_limit_s: null, changed: false },
  ],
};
const shown: Shown = {
  server, pins: [{ name: "npx", path: "/usr/bin/npx", sha256: HASH }], package: "the npm package \"server-filesystem\", version not pinned", secrets: { TOKEN: "github" }, variables: { LOG_LEVEL: "debug" }, reads: ["/opt/tool"],
  words: [
    { name: "read", title: null, description: "Reads a file.", input_schema: SCHEMA, output_schema: null, says_of_itself: [], proposes: null, sha256: HASH },
    { name: "send", title: "Send", description: "Sends \u202egnp.exe away.", input_schema: SCHEMA, output_schema: null, says_of_itself: ["read-only", "open-world"], proposes: "network_read", sha256: HASH },
  ],
  resources: [{ uri: "note://plans", is_template: false, name: "plans", title: null, description: "Every plan.", media_type: null, changed: true }],
  prompts: [{ name: "review", title: null, description: "Reviews a change.", arguments: [{ name: "change", description: null, required: true }, { name: "tone", description: null, required: false }], changed: false }, { name: "x;reboot", title: null, description: null, arguments: [{ name: "it's$(id)", description: null, required: true }], changed: false }, { name: "-short", title: null, description: null, arguments: [], changed: false }],
  sampling: "at most 4 times in one call of a tool", passed_on: true,
  left_out: ["its pictures: too much of them"],
  calls: [
    { summary: "call files.read {\"path\":\"a.txt\"}", at: AT, task_id: "task_1", state: "observed", result: "succeeded", receipt_id: "rcpt_1" },
    { summary: "call files.send {}", at: AT, task_id: "task_2", state: "awaiting_approval", result: null, receipt_id: null },
    { summary: "call files.read {}", at: AT, task_id: "task_3", state: "observed", result: "failed", why: "it ended before it answered; the last that the server itself wrote on its error output: \"no such ledger\"", receipt_id: "rcpt_3" },
  ],
};
const world = (more: Partial<Server> = {}) => scene({
  "tools.list": { servers: [{ ...server, ...more }] }, "tools.show": { ...shown, server: { ...server, ...more } },
  "workspaces.list": { workspaces: [] }, "tools.classify": { task_id: "task_new", ingress_id: "ing_1", duplicate: false },
  "tools.disable": { servers: [] }, "tools.remove": { servers: [] },
});

test("without a server the page says how one is added", async () => {
  show(scene(), "/tools");
  await screen.findByText("No servers of tools");
  expect(screen.getByText("hermit tools add NAME -- PROGRAM ARGUMENTS")).toBeTruthy();
});

test("every word of a server stands there, with what a person said of each tool", async () => {
  const { user } = show(world(), "/tools");
  const send = within(await screen.findByRole("article", { name: "send" }));
  expect(send.getByText(/Not classified: you are asked each time/)).toBeTruthy();
  // What would turn the words around is written out.
  expect(send.queryByText(/\u202e/)).toBeNull();
  const read = within(screen.getByRole("article", { name: "read" }));
  expect(read.getByText(/Read files, may be repeated/)).toBeTruthy();
  for (const words of ["npx -y server-filesystem .", "/usr/bin/npx", "/opt/tool", "LOG_LEVEL=debug", /version not pinned/]) expect(screen.getByText(words)).toBeTruthy();
  await user.click(send.getByText("Arguments and results"));
  expect(send.getByText(/"depth"/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("a form stays open and filled in when another server comes before the one that is shown", async () => {
  let servers = [server];
  const host = scene({ "tools.list": () => ({ servers }), "tools.show": ({ server: name }) => ({ ...shown, server: { ...server, server: name } }), "workspaces.list": { workspaces: [] } });
  const { user } = show(host, "/tools");
  await user.click(within(await screen.findByRole("article", { name: "send" })).getByRole("button", { name: "Classify" }));
  const field = screen.getByLabelText<HTMLInputElement>("Folder in which you are asked");
  await user.type(field, "/home/anna");
  servers = [{ ...server, server: "archive" }, server];
  act(() => host.link("live"));
  await screen.findByRole("link", { name: /^archive/ });
  expect([field.isConnected, field.value]).toEqual([true, "/home/anna"]);
});

test("of a server at an address the page says where it is and what it gets, and speaks of no program", async () => {
  const url = "https://mcp.example.org/mcp";
  const far = { ...server, argv: [], url, hosts: ["mcp.example.org:443"] };
  show(scene({
    "tools.list": { servers: [far] }, "tools.show": { ...shown, server: far, pins: [], package: null, variables: {}, reads: [], secrets: { Authorization: "wiki" } }, "workspaces.list": { workspaces: [] }, "tools.logins": { logins: [] },
  }), "/tools");
  await screen.findByText(url);
  expect(screen.getByText(/to this address only/)).toBeTruthy();
  expect(screen.queryByText("Started as")).toBeNull();
  expect(screen.queryByText("Program")).toBeNull();
});

test("a tool is classified with its paths and hosts, and a person is asked before it counts", async () => {
  const host = world();
  const { user } = show(host, "/tools?of=files");
  const send = within(await screen.findByRole("article", { name: "send" }));
  await user.click(send.getByRole("button", { name: "Classify" }));
  const form = within(send.getByRole("form"));
  // What the server says of it proposes, and says nothing by itself.
  expect(form.getByText(/The server says that it is read-only, open-world; nobody has checked that/)).toBeTruthy();
  const kind = form.getByLabelText<HTMLSelectElement>("What it does");
  expect(kind.value).toBe("external_effect");
  await user.click(form.getByRole("button", { name: /Believe it/ }));
  expect(kind.value).toBe("network_read");
  await user.selectOptions(kind, "network_write");
  await user.selectOptions(form.getByLabelText("Its argument path"), "paths");
  await user.selectOptions(form.getByLabelText("Its argument all"), "hosts");
  // A number is no place and no host, and may be an amount.
  expect(within(form.getByLabelText("Its argument depth")).queryByRole("option", { name: "is a host" })).toBeNull();
  await user.selectOptions(form.getByLabelText("Its argument depth"), "amounts");
  await user.type(form.getByLabelText("Arguments of calls that are to be judged so"), '{{"path":"a"}\n\n{{"path":"b"}');
  await user.type(form.getByLabelText("Arguments of calls that are to be refused"), '{{"path":"../c"}');
  await user.click(form.getByLabelText(/Only in the folder below/));
  await user.type(form.getByLabelText("Folder in which you are asked"), "/home/you/work");
  const limit = form.getByLabelText("Seconds that a call may take");
  await user.type(limit, "3601");
  await user.click(form.getByRole("button", { name: "Ask me to approve this" }));
  expect(host.times("tools.classify")).toBe(0);
  await user.clear(limit);
  await user.type(limit, "600");
  await user.click(form.getByRole("button", { name: "Ask me to approve this" }));
  const link = await send.findByRole("link", { name: "Review it" });
  expect(link.getAttribute("href")).toContain("task_new");
  expect(host.asked.find((one) => one.name === "tools.classify")?.params).toEqual({
    server: "files", tool: "send", class: "network_write", paths: ["/path"], hosts: ["/all"], amounts: ["/depth"], here: true, matches: ['{"path":"a"}', '{"path":"b"}'], no_matches: ['{"path":"../c"}'], repeatable: false, trusted: false, time_limit_s: 600, workspace: "/home/you/work", channel: "app",
  });
});

test("what was said of a tool stands there, is switched off without being asked about, and comes back into the form", async () => {
  const host = world();
  const { user } = show(host, "/tools?of=files");
  const read = within(await screen.findByRole("article", { name: "read" }));
  for (const words of [/Paths in its arguments: \/path. Amounts in its arguments: \/depth/, "/home/anna/notes", '{"path":"../b"}']) expect(read.getByText(words)).toBeTruthy();
  await user.click(read.getByRole("button", { name: "Classify again" }));
  const form = within(read.getByRole("form"));
  expect(form.getByLabelText<HTMLSelectElement>("Its argument depth").value).toBe("amounts");
  expect(form.getByLabelText<HTMLTextAreaElement>("Arguments of calls that are to be refused").value).toBe('{"path":"../b"}');
  await user.click(read.getByRole("button", { name: "Switch off what I said" }));
  expect(host.asked.find((one) => one.name === "tools.disable")?.params).toMatchObject({ server: "files", tool: "read" });
});

test("the latest calls stand there, each with the way to its receipt or its task", async () => {
  show(world(), "/tools?of=files");
  const calls = within(await screen.findByRole("list", { name: "Latest calls" }));
  expect(calls.getByText('call files.read {"path":"a.txt"}')).toBeTruthy();
  expect(calls.getAllByRole("link", { name: "Receipt" }).map((link) => link.getAttribute("href"))).toEqual([expect.stringContaining("rcpt_1"), expect.stringContaining("rcpt_3")]);
  expect(calls.getByText(/the server itself wrote on its error output: "no such ledger"/)).toBeTruthy();
  expect(calls.getByText("Awaiting approval")).toBeTruthy();
  expect(calls.getByRole("link", { name: "Task" }).getAttribute("href")).toContain("task_2");
});

test("a tool that changes files has no hosts among its arguments, and the form says how it works", async () => {
  const host = world();
  const { user } = show(host, "/tools?of=files");
  const send = within(await screen.findByRole("article", { name: "send" }));
  await user.click(send.getByRole("button", { name: "Classify" }));
  const form = within(send.getByRole("form"));
  await user.selectOptions(form.getByLabelText("Its argument all"), "hosts");
  await user.selectOptions(form.getByLabelText("What it does"), "write_local");
  expect(form.getByText(/works in a copy, without the network/)).toBeTruthy();
  expect(form.queryByRole("option", { name: "is a host" })).toBeNull();
  await user.type(form.getByLabelText("Folder in which you are asked"), "/home/you/work");
  await user.click(form.getByRole("button", { name: "Ask me to approve this" }));
  await send.findByRole("link", { name: "Review it" });
  const params = host.asked.find((one) => one.name === "tools.classify")?.params;
  expect(params).toMatchObject({ class: "write_local", hosts: [] });
});

test("a server that says something else says so, and is not offered for classifying", async () => {
  const changed = world({ state: "changed", why: "it says something else now of: send", tools: server.tools.map((tool) => ({ ...tool, changed: tool.name === "send" })) });
  const { user } = show(changed, "/tools");
  const send = within(await screen.findByRole("article", { name: "send" }));
  expect(send.getByText(/Changed since you registered it/)).toBeTruthy();
  expect(send.queryByRole("button", { name: /Classify/ })).toBeNull();
  expect(screen.getByText("hermit tools add files --again")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Forget" }));
  expect(changed.times("tools.remove")).toBe(0);
  await user.click(screen.getByRole("button", { name: /Forget it and what I said/ }));
  expect(changed.times("tools.remove")).toBe(1);
});

test("arguments that are texts are found, whatever the schema is", () => {
  expect(textsOf(SCHEMA)).toEqual(["/path", "/all"]);
  for (const odd of ["", "7", "null", "{}", '{"properties":[]}', '{"properties":{"a/b":{"type":["string","null"]}}}']) expect(Array.isArray(textsOf(odd))).toBe(true);
  expect(textsOf('{"properties":{"a/b":{"type":["string","null"]}}}')).toEqual(["/a~1b"]);
});

test("resources and prompts stand below the tools, with what a person types for a prompt", async () => {
  show(world(), "/tools");
  const plans = within(await screen.findByRole("article", { name: "note://plans" }));
  expect(plans.getByText("Every plan.")).toBeTruthy();
  expect(plans.getByText(/Changed since you registered it; not read/)).toBeTruthy();
  const review = within(screen.getByRole("article", { name: "review" }));
  expect(review.getByText("hermit tools prompt files review change=")).toBeTruthy();
  expect(within(screen.getByRole("article", { name: "-short" })).getByText("hermit tools prompt files -- -short")).toBeTruthy();
  expect(screen.getByText(/May ask the model of a task, at most 4 times/)).toBeTruthy();
  expect(screen.getByText(/its pictures: too much of them/)).toBeTruthy();
  // What a server names is one word of the command, whatever it holds.
  const odd = within(screen.getByRole("article", { name: "x;reboot" }));
  expect(odd.getByText("hermit tools prompt files 'x;reboot' 'it'\\''s$(id)='")).toBeTruthy();
});

const farServer: Server = { ...server, argv: [], url: "https://mcp.example.org/mcp", hosts: ["mcp.example.org:443"] };
const loginAt = (more: Partial<LoginAt> = {}): LoginAt => ({
  server: "files", url: "https://mcp.example.org/mcp", issuer: "https://id.example.org", host: "id.example.org:443", scopes: ["notes:read"], state: "logged_in", why: null,
  address: null, until: null, since: AT, expires_at: AT + 3_600_000, ...more,
});
const farWorld = (logins: LoginAt[]) => scene({
  "tools.list": { servers: [farServer] }, "tools.show": { ...shown, server: farServer, pins: [], package: null, variables: {}, reads: [], secrets: { Authorization: "login.files" } },
  "workspaces.list": { workspaces: [{ workspace_id: "ws_1", folder: "/home/you/work", project_hash: null, project_source: null, tasks: 1, waiting: 0, last_task_id: null, last_at: AT }] },
  "tools.logins": { logins }, "tools.login": { task_id: "task_new", ingress_id: "ing_1", duplicate: false }, "tools.login_begin": loginAt({ state: "waiting", address: "https://id.example.org/authorize?x=1" }),
  "tools.login_cancel": loginAt({ state: "logged_out" }), "tools.logout": { server: "files", not_revoked: "no way to take a token back is offered there" },
});

test("a person asks on the page to log in, and is asked to approve it first", async () => {
  const host = farWorld([]);
  const { user } = show(host, "/tools");
  const section = within(await screen.findByRole("region", { name: "Log-in" }));
  await user.click(await section.findByRole("button", { name: "Log in" }));
  expect(host.asked.findLast((one) => one.name === "tools.login")?.params).toMatchObject({ server: "files", workspace: "/home/you/work", channel: "app" });
  expect(await section.findByRole("link", { name: "Review it" })).toBeTruthy();
  expect(screen.getByText(/carries the token of your log-in/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("what was approved goes on in the browser, at an address that stands there while a person is waited for", async () => {
  const host = farWorld([loginAt({ state: "allowed", since: null })]);
  const { user } = show(host, "/tools");
  const section = within(await screen.findByRole("region", { name: "Log-in" }));
  await user.click(await section.findByRole("button", { name: "Go on in your browser" }));
  expect(host.asked.findLast((one) => one.name === "tools.login_begin")?.params).toEqual({ server: "files" });
  expect(section.queryByRole("button", { name: "Log in" })).toBeNull();
});

test("a log-in that waits shows its address and can be given up", async () => {
  const address = "https://id.example.org/authorize?state=abc";
  const host = farWorld([loginAt({ state: "waiting", address, since: null })]);
  const { user } = show(host, "/tools");
  const link = await screen.findByRole("link", { name: "Log in at id.example.org:443" });
  expect([link.getAttribute("href"), link.getAttribute("rel")]).toEqual([address, "noreferrer noopener"]);
  await user.click(screen.getByRole("button", { name: "Give up" }));
  expect(host.asked.findLast((one) => one.name === "tools.login_cancel")?.params).toEqual({ server: "files" });
});

test("a log-in that is over says why, and a log-out says what stays valid elsewhere", async () => {
  const host = farWorld([loginAt({ state: "refused", why: "the renewal was refused" })]);
  const { user } = show(host, "/tools");
  await screen.findByText("the renewal was refused");
  expect(screen.getByRole("button", { name: "Log in again" })).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Log out" }));
  await screen.findByText(/not taken back where it came from/);
});
