// A new task: the folder from those that are known, the goal with names of files, the model from those that answer.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { FakeHost } from "~/host/fake";
import { Refused } from "~/host/host";
import type { Asked, Found } from "~/ipc/generated/models";
import { DONE, doneTask, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { meant } from "./FolderField";
import { keptForm } from "./form";
import { naming } from "./GoalField";

const small = "openai:http://127.0.0.1:8080/v1#small";
const away = "openai:https://models.example.org/v1#big";
const asked = (address: string): Asked => ({ address, context: 32_768, output: 4096, from: "its server says so", temperature: "0", mode: "auto", tools: "all", price: null, without: [], sees: false });
const found: Found = {
  servers: [{ name: "llama.cpp", url: "http://127.0.0.1:8080/v1", models: [{ id: "small", address: small, asked: asked(small) }], trouble: null }],
  looked: [8080], standard: away, providers: [], set: [asked(away)],
};
const made = { task_id: DONE, ingress_id: "ing_1", duplicate: false };
const submitted = (host: FakeHost) => host.asked.find((one) => one.name === "task.submit")?.params as { reasoner: unknown; goal: string; workspace: string; attachments: string[] } | undefined;
const begin = () => screen.findByRole("button", { name: "Begin" });

test("a folder is chosen among recent ones, a file is named with @, and the default model proposes", async () => {
  // The last task there was a playbook's, which says nothing of a model.
  const last = { ...doneTask, row: { ...doneTask.row, proposer: "playbook" as const } };
  const host = scene({ "models.find": found, "task.submit": made, "task.show": last });
  const { user } = show(host, "/tasks/new");
  await user.click(await screen.findByRole("button", { name: "atlas-billing" }));
  await user.type(await screen.findByLabelText("Goal"), "sum up @meeting");
  const named = within(await screen.findByRole("listbox", { name: "Files of the folder" }));
  expect(named.getAllByRole("option").map((one) => one.textContent)).toEqual(["notes/meeting 1.md", "meeting.md"]);
  expect(await seriousFindings()).toEqual([]);
  await user.keyboard("{ArrowDown}{ArrowUp}{Enter}");
  await waitFor(() => expect((screen.getByLabelText("Goal") as HTMLTextAreaElement).value).toBe("sum up `notes/meeting 1.md` "));
  expect((await screen.findByRole("radio", { name: /big/ })).getAttribute("aria-checked")).toBe("true");
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)).toMatchObject({ workspace: "/home/you/atlas-billing", goal: "sum up `notes/meeting 1.md`", reasoner: { kind: "address", address: away } }));
});

test("a path is taken as it was meant, with the quotes of a terminal or as the address of a file manager", () => {
  expect(["'/home/you/My files'", '"/home/you/My files"', "file:///home/you/My%20files"].map(meant)).toEqual(Array(3).fill("/home/you/My files"));
  expect(meant("file:///C:/My%20files")).toBe("C:/My files");
  expect(["/home/you/it's", "'", "~/notes", "file:///%zz"].map(meant)).toEqual(["/home/you/it's", "'", "~/notes", "file:///%zz"]);
});

test("a folder of Hermit's own is not offered to work in, and one that is pasted with its quotes is named", async () => {
  const of = (folder: string) => ({ workspace_id: `wsp_${folder}`, folder, project_hash: null, project_source: null, tasks: 1, waiting: 0, last_task_id: DONE, last_at: null });
  const host = scene({ "models.find": found, "task.submit": made, "workspaces.list": { workspaces: ["/home/you/.local/share/hermit/policy", "/home/you/notes"].map(of) } });
  const { user } = show(host, "/tasks/new");
  const recent = within(await screen.findByRole("group", { name: "Recent folders" }));
  await waitFor(() => expect(recent.getAllByRole("button").map((one) => one.textContent)).toEqual(["notes"]));
  const field = screen.getByLabelText<HTMLInputElement>("Folder to work in");
  await user.click(field);
  await user.paste("'/home/you/My files'");
  expect(field.value).toBe("/home/you/My files");
});

test("the address of another model is asked for beside the choice, and typed at once", async () => {
  const host = scene({ "task.submit": made });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes&goal=go");
  await user.click(await screen.findByRole("radio", { name: /^Another model/ }));
  const address = await screen.findByLabelText("Address");
  await waitFor(() => expect(document.activeElement).toBe(address));
  await user.keyboard(small);
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)?.reasoner).toEqual({ kind: "address", address: small }));
});

test("a model that was used by its address is offered the next time, behind the default", async () => {
  const typed = "openai:https://models.example.org/v1#typed";
  let used: string[] = [];
  const host = scene({ "models.find": () => ({ ...found, used }), "task.submit": () => { used = [typed]; return made; } });
  const { user, router } = show(host, "/tasks/new?folder=/home/you/notes&goal=go");
  await user.click(await screen.findByRole("radio", { name: /^Another model/ }));
  await user.type(await screen.findByLabelText("Address"), typed);
  await user.click(await begin());
  await waitFor(() => expect(router.state.location.pathname).toContain(DONE));
  // The host is asked again, although it was asked a moment ago.
  router.history.push("/tasks/new?folder=/home/you/other&goal=go");
  const again = await screen.findByRole("radio", { name: /^typed/ });
  expect(screen.getByRole("radio", { name: /big/ }).getAttribute("aria-checked")).toBe("true");
  expect(await seriousFindings()).toEqual([]);
  await user.click(again);
  await user.click(await begin());
  await waitFor(() => expect(host.asked.filter((one) => one.name === "task.submit")).toHaveLength(2));
  expect(host.asked.findLast((one) => one.name === "task.submit")?.params).toMatchObject({ reasoner: { kind: "address", address: typed } });
});

test("one that was merely used before is offered and proposed to nobody, and that nothing answers here is said beside it", async () => {
  const before = "openai:https://models.example.org/v1#before";
  const host = scene({ "models.find": { ...found, servers: [], standard: null, set: [], used: [before] }, "task.submit": made });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes&goal=go");
  const offered = await screen.findByRole("radio", { name: /^before/ });
  expect(offered.getAttribute("aria-checked")).toBe("false");
  expect((await begin()).getAttribute("aria-disabled")).toBe("true");
  expect(screen.getByText(/No model was found on this machine/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  await user.click(offered);
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)?.reasoner).toEqual({ kind: "address", address: before }));
});

test("a default model in the box whose weights are not here is not offered, and it is said what to do", async () => {
  const gone = "box:none";
  const says = (words: RegExp) => (_: string, element: Element | null) => element?.tagName === "SPAN" && words.test(element.textContent ?? "");
  const alone: Found = { ...found, servers: [], standard: gone, set: [asked(gone)] };
  const { unmount } = show(scene({ "models.find": alone }), "/tasks/new?folder=/home/you/notes&goal=go");
  expect(await screen.findByText(says(/^The default model box:none is not on this machine\. Get it below, or choose another\.$/))).toBeTruthy();
  expect(screen.queryByRole("radio", { name: /none/ })).toBeNull();
  expect((await begin()).getAttribute("aria-disabled")).toBe("true");
  expect(await seriousFindings()).toEqual([]);
  unmount();
  // Another one that answers is proposed in its place.
  const other = show(scene({ "models.find": { ...found, standard: gone, set: [asked(gone)] } }), "/tasks/new?folder=/home/you/notes&goal=go");
  expect(await screen.findByText(says(/^The default model box:none is not on this machine\. Get it in Settings, or choose another\.$/))).toBeTruthy();
  expect((await screen.findByRole("radio", { name: /small/ })).getAttribute("aria-checked")).toBe("true");
  other.unmount();
  // With its weights it is offered, also where their digest is named.
  const here: Found = { ...found, standard: `${gone}@${"ab".repeat(32)}`, servers: [{ name: "The model in the box", url: "box:", models: [{ id: "none", address: gone, asked: null }], trouble: null }], set: [] };
  show(scene({ "models.find": here }), "/tasks/new?folder=/home/you/notes&goal=go");
  expect(await screen.findByRole("radio", { name: /^none/ })).toBeTruthy();
  expect(screen.queryByText(says(/is not on this machine/))).toBeNull();
});

test("another model that answers here is one click away, and none is a sentence with what to do", async () => {
  const host = scene({ "models.find": found, "task.submit": made });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes&goal=go");
  await user.click(await screen.findByRole("radio", { name: /small/ }));
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)?.reasoner).toEqual({ kind: "address", address: small }));
});

test("models that are asked when one does not answer are named in order, and one elsewhere only with the person's word", async () => {
  const other = "box:qwen";
  const both: Found = { ...found, standard: small, servers: [...found.servers, { name: "The model in the box", url: "box:", models: [{ id: "qwen", address: other, asked: null }], trouble: null }] };
  const host = scene({ "models.find": both, "task.submit": made });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes&goal=go");
  await user.click(await screen.findByRole("radio", { name: /small/ }));
  await user.selectOptions(screen.getByLabelText(/^When the model does not answer/), other);
  expect(screen.queryByLabelText(/on another machine/)).toBeNull();
  await user.selectOptions(screen.getByLabelText(/^When that one does not answer either/), away);
  // There is none left that could follow.
  expect(screen.getAllByLabelText(/does not answer/)).toHaveLength(2);
  await user.click(screen.getByLabelText(/on another machine/));
  expect(await seriousFindings()).toEqual([]);
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)).toMatchObject({ reasoner: { kind: "address", address: small }, fallbacks: [other, away], fallback_remote: true }));
});

test("a model whose name hides something is named with what it hides, also where models follow one another", async () => {
  const odd = "openai:http://127.0.0.1:8080/v1#odd";
  const both: Found = { ...found, standard: small, servers: [{ name: "llama.cpp", url: "http://127.0.0.1:8080/v1", models: [{ id: "small", address: small, asked: null }, { id: "big\u202egib", address: odd, asked: null }], trouble: null }] };
  show(scene({ "models.find": both }), "/tasks/new?folder=/home/you/notes&goal=go");
  const follows = within(await screen.findByLabelText(/^When the model does not answer/));
  expect(follows.getAllByRole("option").map((one) => one.textContent)).toContain("Ask big\u27e8U+202E\u27e9gib, llama.cpp on this machine");
  expect(document.body.textContent).not.toMatch(/\u202e/);
});

/** Everything that this tab keeps. */
const keptByTab = () => Array.from({ length: sessionStorage.length }, (_, at) => sessionStorage.getItem(sessionStorage.key(at) ?? "") ?? "");

test("what was filled in is there after the page is loaded again, as the same task, and is gone when that has begun", async () => {
  const host = scene({ "models.find": found, "task.submit": made });
  Object.assign(host, { files: { upload: () => Promise.resolve("upload:brief.md") } });
  const before = show(host, "/tasks/new?folder=/home/you/notes");
  await before.user.type(await screen.findByLabelText("Goal"), "half a thou");
  await before.user.click(await screen.findByRole("radio", { name: /small/ }));
  await before.user.type(screen.getByLabelText("Title (optional)"), "Mine");
  await before.user.upload(screen.getByLabelText(/Attach files/), [new File(["a"], "brief.md")]);
  const { key } = keptForm(keptByTab()[0] ?? "");
  before.unmount();
  const { user, router } = show(host, "/tasks/new?folder=/home/you/notes");
  expect((await screen.findByLabelText<HTMLTextAreaElement>("Goal")).value).toBe("half a thou");
  expect((await screen.findByRole("radio", { name: /small/ })).getAttribute("aria-checked")).toBe("true");
  expect(screen.getByLabelText<HTMLInputElement>("Title (optional)").value).toBe("Mine");
  // A tab keeps no files, and does not seem to.
  expect(screen.getByText(/without the 1 file that was attached. Attach it again/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)).toMatchObject({ goal: "half a thou", title: "Mine", workspace: "/home/you/notes", attachments: [], reasoner: { kind: "address", address: small }, idempotency_key: key }));
  expect(key).toMatch(/^window:/);
  await waitFor(() => expect(router.state.location.pathname).toContain(DONE));
  await waitFor(() => expect(keptByTab()).toEqual([]));
});

test("what was filled in is given up by a button, and what is proposed does not take its place", async () => {
  const host = scene({ "models.find": found });
  const like = `/tasks/new?like=${DONE}`;
  const folder = () => screen.getByLabelText<HTMLInputElement>(/Folder to work in/).value;
  const before = show(host, like);
  await waitFor(() => expect(folder()).toBe("/home/you/atlas-billing"));
  const proposed = screen.getByLabelText<HTMLTextAreaElement>("Goal").value;
  expect(screen.queryByRole("button", { name: "Discard what I wrote" })).toBeNull();
  await before.user.clear(screen.getByLabelText("Goal"));
  await before.user.type(screen.getByLabelText("Goal"), "my own");
  before.unmount();
  const { user } = show(host, like);
  await waitFor(() => expect(folder()).toBe("/home/you/atlas-billing"));
  expect(screen.getByLabelText<HTMLTextAreaElement>("Goal").value).toBe("my own");
  await user.click(screen.getByRole("button", { name: "Discard what I wrote" }));
  expect(screen.getByLabelText<HTMLTextAreaElement>("Goal").value).toBe(proposed);
  expect(keptByTab()).toEqual([]);
});

test("an address that may hold a password is kept by the page alone, and what is no form of ours is none", async () => {
  const { user } = show(scene({ "models.find": found }), "/tasks/new?folder=/home/you/notes&goal=go");
  await user.click(await screen.findByRole("radio", { name: /^Another model/ }));
  const address = await screen.findByLabelText<HTMLInputElement>("Address");
  await user.type(address, `openai:https://me:${"hunter2"}@models.example.org/v1#m`);
  expect(address.value).toContain("hunter2");
  expect(keptByTab().join("\n")).not.toContain("hunt");
  expect(keptForm("{")).toEqual({});
  expect(keptForm("7")).toEqual({});
  expect(keptForm('{"goal":7,"title":"x","values":{"a":1,"b":"x"},"chain":["m",3],"attached":-1,"isSet":true,"more":"y"}')).toEqual({ title: "x", values: { b: "x" }, chain: ["m"], isSet: true });
});

test("without any model the page says what to start, and a playbook needs none", async () => {
  const host = scene({ "task.submit": made });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes&goal=go");
  await screen.findByText(/No model was found on this machine/);
  expect((await begin()).getAttribute("aria-disabled")).toBe("true");
  await screen.findByText("Choose a model, or a playbook.");
  await user.click(screen.getByRole("radio", { name: /^Tidy/ }));
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)?.reasoner).toEqual({ kind: "playbook", name: "tidy", parameters: {} }));
});

test("a playbook of one's own is read from its file, its parameters are asked for, and its text goes along", async () => {
  const host = scene({
    "task.submit": made,
    "playbooks.read": ({ text }) => {
      if (text.includes("oops")) throw new Refused({ code: "usage", message: "this is no playbook that can be used: line 2: there is no key `oops`" });
      return { name: "notes", about: "Sorts notes", description: "Moves each note.", parameters: [{ name: "into", about: "Where to", standard: "Notes" }], version: null };
    },
  });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes");
  await user.click(await screen.findByRole("radio", { name: /^Your own playbook/ }));
  await screen.findByText("Choose the file of your playbook.");
  const field = screen.getByLabelText(/File of the playbook/);
  await user.upload(field, new File(["playbook: 1\noops: 1"], "bad.yaml"));
  expect((await screen.findByRole("alert")).textContent).toContain("there is no key oops");
  await user.upload(field, new File(["playbook: 1"], "notes.yaml"));
  await screen.findByText("Moves each note.");
  expect(screen.queryByRole("alert")).toBeNull();
  await user.type(screen.getByLabelText("Into"), "Old");
  expect(await seriousFindings()).toEqual([]);
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)?.reasoner).toEqual({ kind: "playbook", name: "notes", text: "playbook: 1", parameters: { into: "Old" } }));
});

test("a playbook reads no goal: the page says so, sends none, and keeps what was written for a model", async () => {
  const host = scene({ "models.find": found, "task.submit": made });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes");
  await user.type(await screen.findByLabelText("Goal"), "sort them by year");
  await user.click(await screen.findByRole("radio", { name: /^Tidy/ }));
  await screen.findByText(/A playbook reads no goal: .* The goal that you wrote is not sent/);
  expect(screen.queryByLabelText(/^Goal/)).toBeNull();
  expect(await seriousFindings()).toEqual([]);
  await user.click(screen.getByRole("radio", { name: /^Model/ }));
  expect((await screen.findByLabelText<HTMLTextAreaElement>("Goal")).value).toBe("sort them by year");
  await user.click(screen.getByRole("radio", { name: /^Tidy/ }));
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)).toMatchObject({ goal: "", title: null, reasoner: { kind: "playbook", name: "tidy" } }));
});

test("a goal is given in steps, and a playbook takes none", async () => {
  const host = scene({ "models.find": found, "task.submit": made });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes");
  await screen.findByRole("radio", { name: /big/ });
  await user.click(screen.getByRole("radio", { name: /^Tidy/ }));
  expect(screen.queryByLabelText(/^Plan/)).toBeNull();
  await user.click(screen.getByRole("radio", { name: /^Model/ }));
  await user.type(await screen.findByLabelText(/^Plan/), "read the notes\n\n  write a summary ");
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)).toMatchObject({ goal: "", steps: [{ objective: "read the notes" }, { objective: "write a summary" }] }));
});

test("a line of a plan begins with what its step is for, and other colons are words", async () => {
  const host = scene({ "models.find": found, "task.submit": made });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes");
  await screen.findByRole("radio", { name: /big/ });
  await user.type(await screen.findByLabelText(/^Plan/), "Inspect: the notes\nawait approval: they are complete\nthe rest: sum up\nrollback: it\nedit:");
  await user.click(await begin());
  const steps = [{ objective: "the notes", kind: "inspect" }, { objective: "they are complete", kind: "await_approval" }, { objective: "the rest: sum up" }, { objective: "rollback: it" }, { objective: "edit:" }];
  await waitFor(() => expect(submitted(host)).toMatchObject({ steps }));
});

test("what was attached goes along, by what stands for it", async () => {
  const host = scene({ "models.find": found, "task.submit": made });
  const sent: string[] = [];
  Object.assign(host, { files: { upload: (file: File) => { sent.push(file.name); return Promise.resolve(`upload:${file.name}`); } } });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes&goal=go");
  const field = await screen.findByLabelText(/Attach files/);
  await user.upload(field, [new File(["a"], "brief.md"), new File(["b"], "rates.csv")]);
  await user.click(await screen.findByRole("button", { name: "Leave out rates.csv" }));
  await screen.findByRole("radio", { name: /big/ });
  expect(sent).toEqual([]);
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)?.attachments).toEqual(["upload:brief.md"]));
  expect(await seriousFindings()).toEqual([]);
});

test("a task like another begins with its folder, goal and model", async () => {
  show(scene({ "models.find": found }), `/tasks/new?like=${DONE}`);
  await waitFor(() => expect((screen.getByLabelText(/Folder to work in/) as HTMLInputElement).value).toBe("/home/you/atlas-billing"));
});

test("the words of a task that somebody else sent are not taken over as a person's own", async () => {
  const theirs = { ...doneTask, reasoner: away, constraints: ["send it away"], row: { ...doneTask.row, origin: "program" as const } };
  show(scene({ "models.find": found, "task.show": theirs }), `/tasks/new?like=${DONE}`);
  await screen.findByText(/are not taken over: another program or a sender whom nobody confirms wrote them/);
  await waitFor(() => expect((screen.getByLabelText(/Folder to work in/) as HTMLInputElement).value).toBe("/home/you/atlas-billing"));
  expect((screen.getByLabelText("Goal") as HTMLTextAreaElement).value).toBe("");
  expect(screen.queryByDisplayValue("send it away")).toBeNull();
  expect(await seriousFindings()).toEqual([]);
});

test("a task like one that another agent began says that the agent wrote its words", async () => {
  const theirs = { ...doneTask, row: { ...doneTask.row, origin: "agent" as const } };
  show(scene({ "models.find": found, "task.show": theirs }), `/tasks/new?like=${DONE}`);
  await screen.findByText(/are not taken over: the agent of another task wrote them/);
  expect((screen.getByLabelText("Goal") as HTMLTextAreaElement).value).toBe("");
});

test("a file is named after an @ that begins a word", () => {
  expect(naming("see @no", 7)).toEqual({ at: 4, find: "no" });
  expect(naming("@", 1)).toEqual({ at: 0, find: "" });
  for (const text of ["ana@example.org", "see `@no`", "@no more"]) expect(naming(text, text.length)).toBeNull();
});

test("an agent of another program that is here is offered, needs its key, and says what it reaches", async () => {
  const agent = (name: string, title: string, program: string | null, has_secret: boolean) => ({
    name, title, program, install: `npm install -g ${name}`, hosts: [`api.${name}.example:443`], secret: name, has_secret, goes_on: true, tells: true, acp: false,
  });
  const host = scene({
    "task.submit": made,
    "guests.list": { agents: [agent("codex", "Codex", "/usr/bin/codex", true), agent("aider", "aider", "/usr/bin/aider", false), agent("goose", "goose", null, true)] },
  });
  const { user } = show(host, "/tasks/new?folder=/home/you/notes&goal=go");
  await user.click(await screen.findByRole("radio", { name: /^aider/ }));
  expect((await begin()).getAttribute("aria-disabled")).toBe("true");
  await screen.findByText(/hermit secret set aider --host api.aider.example:443/);
  expect(screen.queryByRole("radio", { name: /^goose/ })).toBeNull();
  await user.click(screen.getByRole("radio", { name: /^Codex/ }));
  await screen.findByText(/reaches api.codex.example:443 and nothing else/);
  expect(await seriousFindings()).toEqual([]);
  await user.click(await begin());
  await waitFor(() => expect(submitted(host)).toMatchObject({ goal: "go", reasoner: { kind: "guest", agent: "codex" } }));
});
