// Machines on their page: nothing runs until a person turns it on, how far a message came is told as it is, and what may be done is
// one question to the host.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { type FakeHost } from "~/host/fake";
import { Refused } from "~/host/host";
import type { Mesh, PairingState } from "~/ipc/generated/mesh";
import { MESH_ALERT } from "~/ipc/generated/words";
import { DESK, LAPTOP, MESH, MESH_OFF, NOT_HEARD, meshAlert, meshMessage, meshQuestion, meshReceipt, node } from "~/test/mesh";
import { DONE, RECEIPT, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { alertWords, howFar, typedCode, waitsFor, wrongAlias, wrongRelay } from "./words";

const NO_PAIRING: PairingState = { state: "none", code: null, until: null, node: null, name: null, tries_left: null, says: null };
const asked = (host: FakeHost, name: string) => host.asked.filter((call) => call.name === name).map((call) => call.params);
/** A host whose page takes the passphrase `right`; what was said with it, in order. */
function saying(host: FakeHost): unknown[][] {
  const said: unknown[][] = [];
  const never = () => Promise.reject(new Error("not asked here"));
  host.person = {
    boot: never, settle: never, resume: never,
    mesh: (command, params, passphrase) => {
      if (passphrase !== "right") return Promise.reject(new Refused({ code: "key_locked", message: "the passphrase is wrong" }));
      said.push([command, params, passphrase]);
      return Promise.resolve({ nodes: [], questions: [] } as never);
    },
  };
  return said;
}
const machine = async (name: string) => within(await screen.findByRole("article", { name }));

test("off, the page says what it is, asks no machine, and turns on only with a name and a way", async () => {
  const host = scene({ "mesh.show": MESH_OFF, "mesh.set": MESH });
  const { user: person } = show(host, "/machines");
  expect(await screen.findByText(/this machine opens no connection for it/)).toBeTruthy();
  for (const name of ["mesh.nodes", "mesh.pairing", "mesh.questions", "mesh.messages", "mesh.receipts"] as const) expect(host.times(name), name).toBe(0);
  const form = within(screen.getByRole("form", { name: "This machine" }));
  const on = form.getByRole("button", { name: "Turn the mesh on" });
  expect(on.getAttribute("title")).toBe("Give this machine a name for your others");
  await person.type(form.getByLabelText("Name"), "server");
  expect(on.getAttribute("title")).toMatch(/^Name a relay, or an address/);
  await person.type(form.getByLabelText("Relays"), "relay.example");
  expect(on.getAttribute("title")).toMatch(/relay\.example has none/);
  await person.clear(form.getByLabelText("Relays"));
  await person.type(form.getByLabelText("Relays"), "wss://relay.example");
  await person.click(form.getByRole("button", { name: "Add a folder" }));
  await person.type(form.getByLabelText("Folder"), "/home/you/photos");
  expect((form.getByLabelText("Name for your other machines") as HTMLInputElement).value).toBe("photos");
  await person.keyboard("{Enter}");
  expect(asked(host, "mesh.set"), "Enter adds the folder and saves nothing").toEqual([]);
  expect(await seriousFindings()).toEqual([]);
  await person.click(on);
  await waitFor(() => expect(asked(host, "mesh.set")).toEqual([{ on: true, name: "server", relays: ["wss://relay.example"], folders: { photos: "/home/you/photos" } }]));
});

test("without SOUL.md the page says what is missing and leads there", async () => {
  const { version: _, ...rest } = await scene().call("identity.show", {});
  show(scene({ "mesh.show": MESH_OFF, "identity.show": { ...rest, version: 0 } }), "/machines");
  expect(await screen.findByText(/this one has none yet/)).toBeTruthy();
  expect(screen.getByRole("link", { name: "SOUL.md" }).getAttribute("href")).toContain("/identity");
});

test("on, only what was changed is set, and turning it off says what that means first", async () => {
  const host = scene({ "mesh.set": MESH });
  const { user: person } = show(host, "/machines");
  const form = within(await screen.findByRole("form", { name: "This machine" })), save = form.getByRole("button", { name: "Save" });
  expect(save.getAttribute("title")).toBe("Nothing is changed yet");
  await person.clear(form.getByLabelText("Address on your network (optional)"));
  await person.click(form.getByRole("button", { name: "Remove the folder notes" }));
  await person.click(save);
  await waitFor(() => expect(asked(host, "mesh.set")).toEqual([{ listen: "", folders: {} }]));
  await person.click(screen.getByRole("button", { name: "Turn it off" }));
  expect(screen.getByText(/Nothing is sent to your other machines and nothing of them is heard from then on/)).toBeTruthy();
  await person.click(screen.getByRole("button", { name: "Turn the mesh off" }));
  await waitFor(() => expect(asked(host, "mesh.set").at(-1)).toEqual({ on: false }));
});

test("strangers see this machine only where its person said so, and what they see is said before", async () => {
  const host = scene({ "mesh.show": MESH, "mesh.set": { ...MESH, public: true }, "mesh.nodes": { nodes: [node({ is_public: true }), NOT_HEARD] } });
  const { user: person } = show(host, "/machines");
  const form = within(await screen.findByRole("form", { name: "This machine" }));
  const box = form.getByRole("checkbox", { name: /Everybody who reads these relays may see/ }) as HTMLInputElement;
  expect(box.checked).toBe(false);
  expect(form.getByText(/no name, no folder and no address/)).toBeTruthy();
  await person.click(box);
  await person.click(form.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(asked(host, "mesh.set")).toEqual([{ public: true }]));
  expect((await machine("desk")).getByText(/It tells everybody who reads its relays/)).toBeTruthy();
  expect((await machine("laptop")).queryByText(/It tells everybody/)).toBeNull();
});

test("who is here is told apart from who is not heard, with what waits and how far it came", async () => {
  const host = scene({ "mesh.nodes": { nodes: [node({ name: "desk \u202e" }), NOT_HEARD, node({ node: "aa".repeat(32), name: "old", is_withdrawn: true })] } });
  show(host, "/machines");
  const here = await machine("desk \u202e");
  expect(here.getByText("Here")).toBeTruthy();
  expect(here.getByText("12 % busy")).toBeTruthy();
  expect(here.getByText("U+202E"), "what would turn the line is shown").toBeTruthy();
  expect(here.getByText("Nothing waits for it.")).toBeTruthy();
  expect(here.getByText("atlas, photos")).toBeTruthy();
  const away = await machine("laptop");
  expect(away.getByText("Not heard")).toBeTruthy();
  expect(away.getByText(/3 messages for it were not opened yet: relays have 2, and 1 waits on this machine\./)).toBeTruthy();
  expect(away.getByText(/nothing was heard since/)).toBeTruthy();
  expect(screen.getByText("1 machine withdrawn")).toBeTruthy();
  expect(screen.queryByRole("article", { name: "old" }), "a withdrawn machine gets no goal").toBeNull();
  expect(await seriousFindings()).toEqual([]);
});

test("ways say whether they are open and what they said, and a direct one stands at its machine", async () => {
  const closed: Mesh = { ...MESH, ways: MESH.ways.map((way) => (way.is_direct ? { ...way, is_open: false, says: "it closed" } : way)) };
  const { client } = show(scene({ "mesh.show": closed }), "/machines");
  const desk = await machine("desk");
  expect(desk.getByText(/It is not connected directly\./)).toBeTruthy();
  expect(desk.getByText("Heard, not connected"), "what it told last still counts, and it may be gone").toBeTruthy();
  expect(desk.queryByText("Here")).toBeNull();
  const ways = within(screen.getByRole("list", { name: "Ways" }));
  expect(ways.getAllByText("Not open")).toHaveLength(2);
  expect(ways.getByText("It refuses events that are older than a day")).toBeTruthy();
  client.clear();
});

test("a goal goes to a machine and its folder once, with its own key, and the page claims no more than that", async () => {
  const host = scene({ "mesh.send": { message: "ab".repeat(32), conversation: "cnv_1", state: "queued" } });
  const { user: person } = show(host, "/machines");
  const desk = await machine("desk");
  await person.click(desk.getByRole("button", { name: "Send a goal" }));
  const form = within(desk.getByRole("form", { name: "Goal for desk" }));
  const send = form.getByRole("button", { name: "Send the goal" });
  expect(send.getAttribute("title")).toBe("Write a goal");
  await person.selectOptions(form.getByLabelText("Folder there"), "photos");
  await person.type(form.getByLabelText("Goal"), " Sort them ");
  expect(await seriousFindings()).toEqual([]);
  await person.click(send);
  expect(await form.findByText(/It is on record here\. How far it has come/)).toBeTruthy();
  await person.type(form.getByLabelText("Goal"), "And again");
  await person.click(send);
  await waitFor(() => expect(asked(host, "mesh.send")).toHaveLength(2));
  const [first, second] = asked(host, "mesh.send") as { idempotency_key: string }[];
  expect(first).toMatchObject({ to: DESK, folder: "photos", conversation: null, text: "Sort them" });
  expect(second?.idempotency_key).not.toBe(first?.idempotency_key);
  expect(document.body.textContent).not.toMatch(/delivered/i);
});

test("of a machine that is not heard a folder may be named by its alias; of one that is heard and tells none, no goal is sent", async () => {
  const host = scene({ "mesh.nodes": { nodes: [node({ folders: [] }), { ...NOT_HEARD, here_until: null }] }, "mesh.send": { message: "ab".repeat(32), conversation: "cnv_1", state: "queued" } });
  const { user: person } = show(host, "/machines");
  const desk = await machine("desk");
  await person.click(desk.getByRole("button", { name: "Send a goal" }));
  await person.type(desk.getByLabelText("Goal"), "Sort them");
  expect(desk.getByRole("button", { name: "Send the goal" }).getAttribute("title")).toMatch(/^It takes no goals/);
  const laptop = await machine("laptop");
  expect(laptop.getByText(/Nothing was heard of it since Hermit was started here\./)).toBeTruthy();
  await person.click(laptop.getByRole("button", { name: "Send a goal" }));
  await person.type(laptop.getByLabelText("Folder there (optional)"), "notes");
  await person.type(laptop.getByLabelText("Goal"), "Sort them");
  await person.click(laptop.getByRole("button", { name: "Send the goal" }));
  await waitFor(() => expect(asked(host, "mesh.send")[0]).toMatchObject({ to: LAPTOP, folder: "notes" }));
  expect(asked(host, "mesh.send")).toHaveLength(1);
});

test("a conversation is taken from a machine that does not answer, and passes from here to another, each after its meaning was read", async () => {
  const messages = [meshMessage(2, { state: "accepted", answer: null, answered_at: null }), meshMessage(1, { is_outgoing: false })];
  const owned = { conversation: messages[0]?.conversation ?? "", node: DESK, name: "server", epoch: 2 };
  const host = scene({ "mesh.messages": { messages, before: null }, "mesh.take": owned, "mesh.hand_over": { ...owned, name: "laptop" } });
  const { user: person } = show(host, "/machines");
  const list = within(await screen.findByRole("list", { name: "Messages" }));
  await person.click(list.getByRole("button", { name: "Take the conversation" }));
  const take = within(list.getByRole("group", { name: "Take the conversation from desk" }));
  expect(take.getByText(/is kept aside there, and is not used/)).toBeTruthy();
  expect(asked(host, "mesh.take")).toEqual([]);
  await person.click(take.getByRole("button", { name: "Take the conversation" }));
  await waitFor(() => expect(asked(host, "mesh.take")).toEqual([{ conversation: owned.conversation }]));
  await person.click(list.getByRole("button", { name: "Pass the conversation on" }));
  const pass = within(list.getByRole("group", { name: "Pass the conversation to another machine" }));
  await person.selectOptions(pass.getByLabelText("Machine"), LAPTOP);
  expect(await seriousFindings()).toEqual([]);
  await person.click(pass.getByRole("button", { name: "Pass the conversation" }));
  await waitFor(() => expect(asked(host, "mesh.hand_over")).toEqual([{ conversation: owned.conversation, to: LAPTOP }]));
  expect(await pass.findByText(/It is on its way to/)).toBeTruthy();
});

test("messages tell how far they came, who has them, why they never come, and what was answered", async () => {
  const messages = [
    meshMessage(5, { state: "queued", answer: null, answered_at: null, accepted_by: null }),
    meshMessage(4, { state: "accepted", answer: null, answered_at: null }),
    meshMessage(3, { state: "never", never: "withdrawn", node: LAPTOP, name: "laptop", answer: null, answered_at: null }),
    meshMessage(2, { is_outgoing: false, text: "From \u202eafar", task_id: DONE, answer: "It is done." }),
    meshMessage(1),
  ];
  const host = scene({ "mesh.messages": { messages, before: null }, "mesh.send": { message: "ab".repeat(32), conversation: "cnv_1", state: "queued" } });
  const { user: person } = show(host, "/machines");
  const list = within(await screen.findByRole("list", { name: "Messages" }));
  expect(await list.findByText("Waits here")).toBeTruthy();
  expect(list.getByText("With a relay")).toBeTruthy();
  expect(list.getByText(/The relay .*said that it has it\. The other machine has not opened it yet\./)).toBeTruthy();
  expect(list.getByText("It will never come: the other machine was withdrawn.")).toBeTruthy();
  expect(list.getByText("Opened")).toBeTruthy();
  expect(within(list.getByRole("group", { name: "Answer of desk" })).getByText("Seven photos were sorted.")).toBeTruthy();
  const incoming = within(list.getByRole("article", { name: "From desk" }));
  expect(incoming.getByText("Came in")).toBeTruthy();
  expect(incoming.getByText("U+202E")).toBeTruthy();
  expect(incoming.getByRole("link", { name: "Task" }).getAttribute("href")).toContain(DONE);
  expect(await seriousFindings()).toEqual([]);
  await person.click(list.getAllByRole("button", { name: "Write more to this conversation" })[0] as HTMLElement);
  const form = within(list.getByRole("form", { name: "More for desk" }));
  await person.type(form.getByLabelText("What you add"), "And the rest");
  await person.click(form.getByRole("button", { name: "Send it" }));
  await waitFor(() => expect(asked(host, "mesh.send")[0]).toMatchObject({ to: DESK, folder: null, conversation: messages[0]?.conversation, text: "And the rest" }));
});

test("200 messages and 200 receipts come in parts, and none falls between them", async () => {
  const part = <T,>(make: (place: number) => T, before: number | null | undefined, limit: number | null | undefined) => {
    const from = before ?? 201;
    const rows = Array.from({ length: Math.min(limit ?? 0, from - 1) }, (_, at) => make(from - 1 - at));
    return { rows, before: from - 1 - rows.length > 0 ? from - rows.length : null };
  };
  const host = scene({
    "mesh.messages": ({ before, limit }) => { const { rows, ...rest } = part((place) => meshMessage(place), before, limit); return { messages: rows, ...rest }; },
    "mesh.receipts": ({ before, limit }) => { const { rows, ...rest } = part((place) => meshReceipt(place, place === 200 ? { receipt_id: RECEIPT } : {}), before, limit); return { receipts: rows, ...rest }; },
  });
  const { user: person } = show(host, "/machines");
  await person.click(await screen.findByRole("button", { name: "Older receipts" }));
  await waitFor(() => expect(screen.getAllByText(/^entry \d+ of its log$/)).toHaveLength(60));
  const numbers = screen.getAllByText(/^entry \d+ of its log$/).map((one) => one.textContent);
  expect(new Set(numbers).size).toBe(60);
  expect(numbers.at(-1)).toBe("entry 181 of its log");
  expect(screen.getByRole("link", { name: "Receipt" }).getAttribute("href")).toContain(RECEIPT);
  await person.click(screen.getByRole("button", { name: "Older messages" }));
  await waitFor(() => expect(screen.getAllByText("Sort the photos")).toHaveLength(60));
});

test("500 machines are drawn in parts", async () => {
  const nodes = Array.from({ length: 500 }, (_, at) => node({ node: at.toString(16).padStart(64, "0"), name: `machine ${at}` }));
  const { user: person } = show(scene({ "mesh.nodes": { nodes } }), "/machines");
  await machine("machine 0");
  expect(screen.getAllByRole("article", { name: /^machine / })).toHaveLength(50);
  await person.click(screen.getByRole("button", { name: "Show more" }));
  expect(screen.getAllByRole("article", { name: /^machine / })).toHaveLength(100);
});

test("a code is shown in large groups with what to type, counts down, and its end is told in words", async () => {
  let now: PairingState = NO_PAIRING;
  const until = Date.now() + 600_000;
  const host = scene({ "mesh.pairing": () => now, "mesh.invite": () => { now = { ...NO_PAIRING, state: "waiting", until }; return { code: "K7QM-2XPDHJ", until, at: ["wss://relay.example"] }; } });
  const { user: person, client } = show(host, "/machines");
  await person.click(await screen.findByRole("button", { name: "Show a code" }));
  const code = within(await screen.findByRole("group", { name: "Code for another machine" }));
  expect(code.getByLabelText("Code").textContent).toBe("K7QM-2XPDHJ");
  expect(code.getByText("hermit mesh pair K7QM-2XPDHJ --at wss://relay.example")).toBeTruthy();
  expect(code.getByRole("timer").textContent).toMatch(/^(10:00|9:5\d)$/);
  expect(await seriousFindings()).toEqual([]);
  now = { ...NO_PAIRING, state: "waiting", until, tries_left: 2 };
  await client.invalidateQueries({ queryKey: ["mesh.pairing"] });
  expect(await screen.findByText(/typed wrong at the other machine. It may be typed 2 times more/)).toBeTruthy();
  expect(code.getByLabelText("Code").textContent, "the code still counts").toBe("K7QM-2XPDHJ");
  const refused = "This machine refused laptop: it has as many machines as it may have.";
  for (const [state, tries_left, told, says] of [["wrong_code", 1, null, /Read it again.*may be typed once more/], ["wrong_code", 0, null, /typed wrong three times/], ["refused", null, refused, /This machine refused laptop/], ["expired", null, null, /the code has expired/]] as const) {
    now = { ...NO_PAIRING, state, tries_left, says: told };
    await client.invalidateQueries({ queryKey: ["mesh.pairing"] });
    expect(await screen.findByText(says)).toBeTruthy();
    expect(screen.queryByText(/K7QM/)).toBeNull();
  }
  now = { ...NO_PAIRING, state: "paired", node: LAPTOP, name: "laptop \u202e" };
  await client.invalidateQueries({ queryKey: ["mesh.pairing"] });
  expect((await screen.findByText(/^Paired with/)).textContent).toContain("laptop U+202E");
  expect(await seriousFindings()).toEqual([]);
});

test("while a code that was typed finds nobody, it is said what may be wrong", async () => {
  const says = "Nobody who shows this code has answered yet. Check its first four letters.";
  show(scene({ "mesh.pairing": { ...NO_PAIRING, state: "waiting", until: Date.now() + 500_000, says } }), "/machines");
  expect(await screen.findByText(says)).toBeTruthy();
  expect(screen.getByText(/The code was taken/)).toBeTruthy();
});

test("a code is typed with or without what separates it, and the other machine is waited for", async () => {
  let now: PairingState = NO_PAIRING;
  const host = scene({ "mesh.pairing": () => now, "mesh.join": () => { now = { ...NO_PAIRING, state: "waiting", until: Date.now() + 60_000 }; return now; } });
  const { user: person } = show(host, "/machines");
  await person.click(await screen.findByRole("button", { name: "Type a code" }));
  const form = within(screen.getByRole("form", { name: "Code of another machine" }));
  await person.type(form.getByLabelText("Code that the other machine shows"), "k7qm 2xp");
  expect(form.getByText("A code has 10 letters and digits.")).toBeTruthy();
  await person.type(form.getByLabelText("Code that the other machine shows"), "dhj");
  await person.type(form.getByLabelText("Where both meet (optional)"), "192.168.1.9:7447");
  expect(await seriousFindings()).toEqual([]);
  await person.click(form.getByRole("button", { name: "Pair" }));
  await waitFor(() => expect(asked(host, "mesh.join")).toEqual([{ code: "K7QM-2XPDHJ", at: ["192.168.1.9:7447"] }]));
  expect(await screen.findByText(/The other machine is waited for/)).toBeTruthy();
});

test("a page that no terminal opened brings the passphrase for what only a person says, and for nothing else", async () => {
  const host = scene({ "mesh.send": { message: "ab".repeat(32), conversation: "cnv_1", state: "queued" } }, "passphrase");
  host.holding({ at_terminal: false, made: true, approval: true, open: true, vault: "file", no_keychain: null, chars_min: 12 });
  const said = saying(host);
  const { user: person } = show(host, "/machines");
  const form = within(await screen.findByRole("form", { name: "This machine" }));
  await person.type(await form.findByLabelText("Approval passphrase"), "wrong");
  await person.type(form.getByLabelText("Name"), " 2");
  await person.click(form.getByRole("button", { name: "Save" }));
  expect(await form.findByText(/The passphrase is wrong\./)).toBeTruthy();
  expect((form.getByLabelText("Approval passphrase") as HTMLInputElement).value, "it is kept nowhere").toBe("");
  expect(form.getByRole("button", { name: "Save" }).getAttribute("title")).toBe("Type the passphrase first");
  await person.type(form.getByLabelText("Approval passphrase"), "right");
  await person.click(form.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(said).toEqual([["mesh.set", { name: "server 2" }, "right"]]));
  const pair = within(screen.getByRole("region", { name: "Pair a machine" }));
  await person.type(pair.getByLabelText("Approval passphrase"), "right");
  await person.click(pair.getByRole("button", { name: "Show a code" }));
  await waitFor(() => expect(said.at(-1)).toEqual(["mesh.invite", {}, "right"]));
  expect(asked(host, "mesh.set")).toEqual([]);
  const desk = await machine("desk");
  await person.click(desk.getByRole("button", { name: "Send a goal" }));
  await person.type(desk.getByLabelText("Goal"), "Sort them");
  await person.click(desk.getByRole("button", { name: "Send the goal" }));
  await waitFor(() => expect(asked(host, "mesh.send")).toHaveLength(1));
  await person.click(desk.getByRole("button", { name: "Withdraw" }));
  const sure = within(desk.getByRole("group", { name: "Withdraw desk" }));
  expect(sure.getByRole("button", { name: "Withdraw desk" }).getAttribute("title")).toBe("Type the passphrase first");
  await person.type(sure.getByLabelText("Approval passphrase"), "right");
  expect(await seriousFindings()).toEqual([]);
  await person.click(sure.getByRole("button", { name: "Withdraw desk" }));
  await waitFor(() => expect(said.at(-1)).toEqual(["mesh.withdraw", { node: DESK, reason: null }, "right"]));
  expect(asked(host, "mesh.withdraw")).toEqual([]);
});

test("a page that a terminal opened needs no passphrase for settings", async () => {
  const host = scene({ "mesh.set": MESH }, "passphrase");
  host.holding({ at_terminal: true, made: true, approval: true, open: true, vault: "file", no_keychain: null, chars_min: 12 });
  const said = saying(host);
  const { user: person } = show(host, "/machines");
  const form = within(await screen.findByRole("form", { name: "This machine" }));
  expect(form.queryByLabelText("Approval passphrase")).toBeNull();
  await person.type(form.getByLabelText("Name"), " 2");
  await person.click(form.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(asked(host, "mesh.set")).toEqual([{ name: "server 2" }]));
  expect(said).toEqual([]);
});

test("what another machine asks is shown line by line and answered with this machine's passphrase, twice pressed for a yes", async () => {
  const host = scene({ "mesh.questions": { questions: [meshQuestion()] } }, "passphrase");
  const said = saying(host);
  const { user: person } = show(host, "/machines");
  const card = await machine("desk asks");
  expect(card.getByRole("heading", { name: "Delete 1 file" })).toBeTruthy();
  expect(card.getByText("high risk")).toBeTruthy();
  expect(card.getByText("U+202E"), "what would turn the line is shown").toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  await person.click(card.getByRole("button", { name: "Deny" }));
  expect(said, "nothing is answered without the passphrase").toEqual([]);
  await person.type(card.getByLabelText("Approval passphrase"), "right");
  await person.click(card.getByRole("button", { name: "Approve" }));
  expect(said, "one press is no yes").toEqual([]);
  await person.click(card.getByRole("button", { name: "Approve on desk" }));
  expect(said, "nor is one without the word of its risk").toEqual([]);
  expect(card.getByText("Type high first.")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  await person.type(card.getByLabelText("High risk. Type high to confirm"), "high");
  await person.click(card.getByRole("button", { name: "Approve on desk" }));
  const { approval, packet_sha256 } = meshQuestion();
  await waitFor(() => expect(said).toEqual([["mesh.answer", { approval, allow: true, packet_sha256, word: "high" }, "right"]]));
  expect((card.getByLabelText("Approval passphrase") as HTMLInputElement).value).toBe("");
  expect(asked(host, "mesh.answer"), "no passphrase goes along with an ordinary command").toEqual([]);
});

test("what is critical on another machine is held, and what is of less risk needs no word", async () => {
  const questions = [meshQuestion({ word: "critical" }), meshQuestion({ approval: "apr_2", node: LAPTOP, name: "laptop", word: null })];
  const host = scene({ "mesh.questions": { questions } }, "passphrase");
  const said = saying(host);
  const { user: person } = show(host, "/machines");
  const [grave, small] = [await machine("desk asks"), await machine("laptop asks")];
  for (const card of [grave, small]) {
    await person.type(card.getByLabelText("Approval passphrase"), "right");
    await person.click(card.getByRole("button", { name: "Approve" }));
  }
  expect(small.queryByLabelText(/risk/)).toBeNull();
  await person.click(small.getByRole("button", { name: "Approve on laptop" }));
  await waitFor(() => expect(said).toHaveLength(1));
  expect(said[0]?.[1]).toEqual({ approval: "apr_2", allow: true, packet_sha256: meshQuestion().packet_sha256 });
  await person.type(grave.getByLabelText("Critical risk. Type critical to confirm"), "critical");
  await person.click(grave.getByRole("button", { name: "Hold to approve on desk" }));
  expect(said, "a click is no hand that stays").toHaveLength(1);
});

test("the inbox says that another machine asks, and leads to where it is answered", async () => {
  const host = scene({ "mesh.questions": { questions: [meshQuestion()] } });
  const { user: person, router, unmount } = show(host, "/");
  const says = within((await screen.findByText(/1 question of your other machines waits for you\./)).closest("p") as HTMLElement);
  await person.click(says.getByRole("link", { name: "Answer" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/machines"));
  unmount();
  show(scene(), "/");
  await screen.findAllByText(/Waiting for you/);
  expect(screen.queryByText(/of your other machines/)).toBeNull();
});

test("where no passphrase is typed on the page, a question names the command; one that expired takes no answer", async () => {
  const questions = [meshQuestion(), meshQuestion({ approval: "apr_old", name: "laptop", node: LAPTOP, expires_at: Date.now() - 1_000 })];
  show(scene({ "mesh.questions": { questions } }, "window"), "/machines");
  const card = await machine("desk asks");
  expect(card.getByText(`hermit mesh answer ${meshQuestion().approval} allow`)).toBeTruthy();
  expect(card.queryByLabelText(/passphrase/)).toBeNull();
  expect((await machine("laptop asks")).getByText("It has expired, and nothing was done.")).toBeTruthy();
});

test("another machine's key may approve only after its fingerprint was compared, and the approval key here signs that", async () => {
  let nodes = [node(), NOT_HEARD];
  const host = scene({ "mesh.nodes": () => ({ nodes }), "mesh.approver": { nodes: [] } }, "passphrase");
  const said = saying(host);
  const { user: person, unmount } = show(host, "/machines");
  const desk = await machine("desk");
  await person.click(desk.getByRole("button", { name: "Let it approve" }));
  expect(desk.getByText("SHA256:deskkey")).toBeTruthy();
  const yes = desk.getByRole("button", { name: "It is the same: let it approve" });
  expect(yes.getAttribute("title")).toBe("Type the passphrase first");
  await person.type(desk.getByLabelText("Approval passphrase"), "right");
  expect(await seriousFindings()).toEqual([]);
  nodes = [node({ is_approver: true }), NOT_HEARD];
  await person.click(yes);
  await waitFor(() => expect(said).toEqual([["mesh.approver", { node: DESK, allow: true }, "right"]]));
  await person.click(await desk.findByRole("button", { name: "Let it answer no more" }));
  await waitFor(() => expect(asked(host, "mesh.approver"), "what lets nobody do more needs no passphrase").toEqual([{ node: DESK, allow: false }]));
  expect((await machine("laptop")).getByText(/It showed no approval key/)).toBeTruthy();
  unmount();
  const app = show(scene({}, "window"), "/machines");
  const there = await machine("desk");
  await app.user.click(there.getByRole("button", { name: "Let it approve" }));
  expect(there.getByText(`hermit mesh approver ${DESK}`)).toBeTruthy();
  expect(there.queryByLabelText("Approval passphrase")).toBeNull();
});

test("a machine is withdrawn once its meaning was read", async () => {
  const host = scene({ "mesh.withdraw": { nodes: [] } });
  const { user: person } = show(host, "/machines");
  const desk = await machine("desk");
  await person.click(desk.getByRole("button", { name: "Withdraw" }));
  const sure = within(desk.getByRole("group", { name: "Withdraw desk" }));
  expect(sure.getByText(/none of your machines believes/)).toBeTruthy();
  expect(asked(host, "mesh.withdraw")).toEqual([]);
  await person.type(sure.getByLabelText("Reason (optional)"), "stolen");
  await person.click(sure.getByRole("button", { name: "Withdraw desk" }));
  await waitFor(() => expect(asked(host, "mesh.withdraw")).toEqual([{ node: DESK, reason: "stolen" }]));
});

test("each alert has its words and what to do, above everything else", async () => {
  const alerts = MESH_ALERT.map((kind, at) => meshAlert({ kind, at: Date.now() - at * 1000 }));
  show(scene({ "mesh.show": { ...MESH, alerts } }), "/machines");
  const list = within(await screen.findByRole("region", { name: "What you should look at" }));
  expect(list.getAllByRole("article")).toHaveLength(MESH_ALERT.length);
  expect(list.getByText(/The log of desk went back/)).toBeTruthy();
  expect(list.getAllByText(/^What was found: its head has 40 notes, and 52 were cosigned\./).length).toBe(MESH_ALERT.length);
  expect(screen.getAllByRole("heading", { level: 2 })[0]?.textContent).toBe("What you should look at");
  for (const alert of alerts) expect(alertWords(alert).todo, alert.kind).not.toBe("");
  expect(await seriousFindings()).toEqual([]);
});

test("a file is downloaded and given back on a page in a browser, and named by its path in the app", async () => {
  const browser = scene({ "mesh.import": { path: "x", messages: 2, left_out: 1 } });
  const sent: unknown[] = [];
  Object.defineProperty(browser, "files", { value: {
    upload: (file: File) => { sent.push(file.name); return Promise.resolve("upload:abc"); }, save: () => undefined,
    download: (command: string, params: unknown, name: string) => { sent.push([command, params, name]); return Promise.resolve({ path: "", messages: 3, left_out: 0 }); },
  } });
  const { user: person, unmount } = show(browser, "/machines");
  await person.click(await screen.findByRole("button", { name: "Download what waits" }));
  expect(await screen.findByText(/3 messages are in the file\. What is in it still waits here/)).toBeTruthy();
  await person.upload(screen.getByLabelText("File from another machine"), new File(["{}"], "carried.jsonl"));
  expect(await screen.findByText("2 new messages are taken in; 1 line of the file cannot be read.")).toBeTruthy();
  expect(sent).toEqual([["mesh.export", { node: null }, "hermit-messages.jsonl"], "carried.jsonl"]);
  expect(asked(browser, "mesh.import")).toEqual([{ path: "upload:abc" }]);
  unmount();
  const app = scene({ "mesh.export": { path: "/media/stick/a", messages: 1, left_out: 0 } });
  const shown = show(app, "/machines");
  await shown.user.type(await screen.findByLabelText("Write what waits to"), "/media/stick/a");
  await shown.user.click(screen.getByRole("button", { name: "Write it" }));
  await waitFor(() => expect(asked(app, "mesh.export")).toEqual([{ path: "/media/stick/a", node: null }]));
});

test("without any machine the page says what to do, and an error is told with its words", async () => {
  const { unmount } = show(scene({ "mesh.nodes": { nodes: [] }, "mesh.messages": { messages: [], before: null }, "mesh.receipts": { receipts: [], before: null }, "mesh.show": { ...MESH, ways: [], waiting: 0 } }), "/machines");
  expect(await screen.findByText("No other machine yet")).toBeTruthy();
  expect(screen.getByText(/None is tried\./)).toBeTruthy();
  expect(await screen.findByText("Nothing was sent to another machine and nothing came from one.")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  unmount();
  show(scene({ "mesh.nodes": () => { throw new Refused({ code: "no_host", message: "nothing serves this store", hint: "start `hermit serve`" }); } }), "/machines");
  expect(await screen.findByText(/Nothing serves this store\./)).toBeTruthy();
});

test("words: how far, what waits, codes, relays and names of folders", () => {
  expect(howFar({ state: "accepted", accepted_by: null, never: null, waits_since: null })).toMatch(/^A relay said that it has it\./);
  expect(howFar({ state: "never", accepted_by: null, never: "expired", waits_since: null })).toBe("It will never come: it waited too long.");
  expect([waitsFor({ queued: 0, accepted: 0 }), waitsFor({ queued: 1, accepted: 0 }), waitsFor({ queued: 1, accepted: 1 }), waitsFor({ queued: 5, accepted: 5 })]).toEqual([
    null, "1 message for it was not opened yet: it waits on this machine.", "1 message for it was not opened yet: a relay has it.", "5 messages for it were not opened yet: relays have all of them.",
  ]);
  expect([typedCode("k7qm-2xpdhj"), typedCode("K7QM2XPDHJ"), typedCode(" K7QM 2XPD HJ "), typedCode("K7QM")]).toEqual(["K7QM-2XPDHJ", "K7QM-2XPDHJ", "K7QM-2XPDHJ", null]);
  expect([wrongRelay(["wss://a.example", "ws://127.0.0.1:1"]), wrongRelay(["hermit://a:1"])?.includes("hermit://a:1")]).toEqual([null, true]);
  expect([wrongAlias("", {}), wrongAlias("a/b", {}), wrongAlias("notes", { notes: "/n" }), wrongAlias("photos", { notes: "/n" })].map((why) => why === null)).toEqual([false, false, false, true]);
});
