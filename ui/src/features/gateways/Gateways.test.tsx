// Gateways on their page: a code is told once and only while it can be used, what strangers wrote is shown as what it is, and each
// act is one question to the host.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { PairingCode } from "~/ipc/generated/gateways";
import type { Task } from "~/ipc/generated/task";
import { chatMessage, DONE, GATEWAY, SENDER, scene, task, WAITS } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { hostsOf, spelledOut } from "./words";

const TASK = { task_id: DONE, ingress_id: "ing_1", duplicate: false };
const CODE: PairingCode = { task_id: WAITS, name: "family", code: "K7QM2XPD", profile: "ask", minutes: 10 };
const card = () => screen.findByRole("article", { name: "family" });
const stood = (run_status: Task["row"]["run_status"], ended_at: number | null): Task => ({ ...task, row: { ...task.row, run_status, ended_at } });

test("without gateways the page says what they are for, and that nobody gives a yes through a chat", async () => {
  show(scene({ "gateways.list": { gateways: [] } }), "/gateways");
  expect(await screen.findByText(/Nobody can give a yes through a chat/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("pausing and removing are one question each, removing is asked twice, and what paused itself says why", async () => {
  const host = scene({ "gateways.pause": GATEWAY, "gateways.remove": GATEWAY });
  const { user: person } = show(host, "/gateways");
  const one = within(await card());
  await person.click(one.getByRole("button", { name: "Pause" }));
  await person.click(one.getByRole("button", { name: "Remove" }));
  const asked = (name: string) => host.asked.filter((call) => call.name === name).map((call) => call.params);
  expect(asked("gateways.remove")).toEqual([]);
  await person.click(one.getByRole("button", { name: /^Remove family and everybody/ }));
  await waitFor(() => expect(asked("gateways.remove")).toEqual([{ name: "family", reason: "Removed on the page" }]));
  expect(asked("gateways.pause")).toEqual([{ name: "family", reason: "Paused on the page" }]);
});

test("a gateway that paused itself and one whose service does not answer say so, with the reason", async () => {
  const host = scene({ "gateways.list": { gateways: [
    { ...GATEWAY, state: "paused", by_itself: true, why: "Telegram does not accept the token" },
    { ...GATEWAY, name: "work", away: "it cannot be reached", queued: 2 },
  ] } });
  show(host, "/gateways");
  const family = within(await card());
  expect(family.getByText("Paused itself")).toBeTruthy();
  expect(family.getByText(/does not accept the token/)).toBeTruthy();
  expect(family.queryByRole("button", { name: "Pair a sender" })).toBeNull();
  const work = within(screen.getByRole("article", { name: "work" }));
  expect(work.getByText("Service does not answer")).toBeTruthy();
  expect(work.getByText(/2 messages wait to be sent/)).toBeTruthy();
});

test("a code is shown once its pairing was asked for, counts down from the yes, and stays when its card is looked at", async () => {
  let now = stood("awaiting_approval", null);
  const host = scene({ "gateways.pair": CODE, "gateways.senders": { name: "family", senders: [] }, "task.show": () => now });
  const { user: person, router, client } = show(host, "/gateways");
  await person.click(within(await card()).getByRole("button", { name: "Pair a sender" }));
  expect(await seriousFindings()).toEqual([]);
  await person.click(within(await card()).getByRole("button", { name: "Ask me to allow it" }));
  const code = within(await screen.findByRole("region", { name: "Code for family" }));
  expect(code.getByLabelText("Code").textContent).toBe("K7QM-2XPD");
  expect(code.getByText(/It counts once you have allowed it/)).toBeTruthy();
  expect(code.queryByRole("timer")).toBeNull();
  expect(host.asked.find((call) => call.name === "gateways.pair")?.params).toEqual({ name: "family", profile: "ask", channel: "app", idempotency_key: null });
  expect(await seriousFindings()).toEqual([]);
  await person.click(code.getByRole("link", { name: "Review it" }));
  await waitFor(() => expect(router.state.location.pathname).toBe(`/task/${WAITS}`));
  now = stood("completed", Date.now() - 60_000);
  await router.navigate({ to: "/gateways" });
  await client.invalidateQueries();
  const again = within(await screen.findByRole("region", { name: "Code for family" }));
  expect((await again.findByRole("timer")).textContent).toMatch(/^(9:00|8:5\d)$/);
  expect(host.times("gateways.pair")).toBe(1);
});

test("a code that was used, that was not allowed or whose time is up is shown no more", async () => {
  for (const [now, senders, says] of [
    [stood("completed", Date.now() - 60_000), [{ ...SENDER, since: Date.now() }], /is paired\./],
    [stood("failed", Date.now()), [], /was not allowed, so the code pairs nobody/],
    [stood("completed", Date.now() - 700_000), [SENDER], /The code has expired/],
  ] as const) {
    const host = scene({ "gateways.pair": CODE, "gateways.senders": { name: "family", senders: [...senders] }, "task.show": now });
    const { user: person, unmount } = show(host, "/gateways");
    await person.click(within(await card()).getByRole("button", { name: "Pair a sender" }));
    await person.click(within(await card()).getByRole("button", { name: "Ask me to allow it" }));
    expect(await screen.findByText(says)).toBeTruthy();
    expect(screen.queryByText(/K7QM/)).toBeNull();
    await person.click(screen.getByRole("button", { name: "Close" }));
    expect(within(await card()).getByRole("button", { name: "Pair a sender" })).toBeTruthy();
    unmount();
  }
});

test("who is paired is listed with what they may do, and is unpaired only when that was asked", async () => {
  const host = scene({ "gateways.senders": { name: "family", senders: [SENDER, { ...SENDER, sender: "1002", sender_name: { erased: "c0ffee00" }, profile: "ask", unpaired: "lost the phone" }] }, "gateways.unpair": { name: "family", senders: [] } });
  const { user: person } = show(host, "/gateways");
  await person.click(within(await card()).getByRole("button", { name: "Senders" }));
  const list = within(await screen.findByRole("region", { name: "Senders of family" }));
  expect(await list.findByText("May give goals")).toBeTruthy();
  expect(list.getByText("U+202E"), "what would turn the line is shown").toBeTruthy();
  expect(list.getByText("lost the phone")).toBeTruthy();
  await person.click(list.getByRole("button", { name: "Unpair" }));
  expect(host.times("gateways.unpair")).toBe(0);
  expect(await seriousFindings()).toEqual([]);
  await person.click(within(list.getByRole("group", { name: /Unpair Ana/ })).getByRole("button", { name: /^Unpair/ }));
  await waitFor(() => expect(host.asked.find((call) => call.name === "gateways.unpair")?.params).toEqual({ name: "family", sender: "1001", reason: "Unpaired on the page" }));
});

test("messages tell how they stand, why they were refused, and lead to their task and to the receipt", async () => {
  const parts = {
    newest: { name: "family", before: 3, messages: [
      chatMessage({ place: 6, is_outgoing: true, sender: null, about: "outcome", state: "sent", used_as: null, text: "Two files changed.", sent_by: WAITS }),
      chatMessage({ place: 5, refused: "not_paired", used_as: null, sender: "666", chat: null, times: 4, text: null, task_id: null, task_status: null }),
      chatMessage({ place: 4, text: "evil \u202etxt" }),
    ] },
    older: { name: "family", before: null, messages: [chatMessage({ place: 2, text: "the first" })] },
  };
  const host = scene({ "gateways.messages": ({ before }) => (before == null ? parts.newest : parts.older) });
  const { user: person } = show(host, "/gateways?of=family");
  const list = within(await screen.findByRole("region", { name: "Messages of family" }));
  expect(await list.findByText("Sent")).toBeTruthy();
  expect(list.getByText(/Refused because its sender is not paired\. At least 4 such messages\./)).toBeTruthy();
  expect(list.getByText((_, at) => at?.tagName === "P" && at.textContent === "evil U+202Etxt"), "what would turn the line is shown").toBeTruthy();
  expect(list.getByRole("link", { name: "Receipt of sending it" }).getAttribute("href")).toContain(WAITS);
  expect(await seriousFindings()).toEqual([]);
  await person.click(list.getByRole("button", { name: "Older messages" }));
  expect(await list.findByText("the first")).toBeTruthy();
  expect(list.getByText("Two files changed.")).toBeTruthy();
  expect(host.asked.filter((call) => call.name === "gateways.messages").map((call) => call.params)).toContainEqual({ name: "family", before: 3, limit: 30 });
});

test("a chat is connected by a token that is kept already: none is ever typed on the page", async () => {
  const MAIL_TOKEN = "gateway-mail";
  const secrets = [{ handle: MAIL_TOKEN, hosts: [], kept_in: "file" as const, also_in: [], since: 0 }];
  const host = scene({ "gateways.list": { gateways: [] }, "gateways.add": TASK, "secrets.list": { secrets } });
  const { user: person } = show(host, "/gateways");
  await person.click(await screen.findByRole("button", { name: "Connect a chat" }));
  const form = within(screen.getByRole("form", { name: "New gateway" }));
  expect(await form.findByText(/@BotFather/)).toBeTruthy();
  expect(form.getByText("hermit secret set gateway-telegram --host api.telegram.org:443")).toBeTruthy();
  expect(document.querySelector("input[type=password]")).toBeNull();
  expect(await seriousFindings()).toEqual([]);
  await person.selectOptions(form.getByLabelText("Chat service"), "mail");
  expect(form.getByText(/Write this: Mail address/)).toBeTruthy();
  await person.type(form.getByLabelText("Mail address"), "hermit@example.org");
  await person.type(form.getByLabelText(/\(IMAP\)/), "imap.example.org");
  await person.type(form.getByLabelText(/\(SMTP\)/), "smtp.example.org");
  await person.type(form.getByLabelText(/confirms senders/), "mx.example.org");
  await person.type(form.getByLabelText("Folder that tasks of its senders work in"), "/home/you/notes");
  await person.selectOptions(form.getByLabelText("Model or playbook"), form.getByRole("option", { name: /^Tidy/ }));
  await person.click(form.getByRole("button", { name: "Ask me to connect it" }));
  await waitFor(() => expect(host.asked.find((call) => call.name === "gateways.add")?.params).toMatchObject({
    name: "mail", service: "mail", address: "imaps://imap.example.org", user: "hermit@example.org", settings: { smtp: "smtps://smtp.example.org", authserv_id: "mx.example.org" }, secret: MAIL_TOKEN, workspace: "/home/you/notes", reasoner: { kind: "playbook", name: "tidy" }, channel: "app",
  }));
});

test("what a service needs is what the host tells: a new one needs no page", async () => {
  const host = scene({ "gateways.list": { gateways: [] }, "gateways.add": TASK, "secrets.list": { secrets: [] } });
  const { user: person } = show(host, "/gateways");
  expect(await screen.findByText(/from Telegram, Matrix, mail, Slack or Nostr\./)).toBeTruthy();
  await person.click(await screen.findByRole("button", { name: "Connect a chat" }));
  const form = within(screen.getByRole("form", { name: "New gateway" }));
  await person.selectOptions(form.getByLabelText("Chat service"), "nostr");
  await person.type(form.getByLabelText("Relays where it reads and sends"), "a.example wss://b.example");
  expect(form.getByText("hermit secret set gateway-nostr --host a.example:443 --host b.example:443")).toBeTruthy();
  await person.selectOptions(form.getByLabelText("Chat service"), "slack");
  expect(form.getByText(/\(xapp-\) and then The bot token \(xoxb-\), with a blank between, are typed at a terminal/)).toBeTruthy();
});

test("a page in a browser names no server: that is said at a terminal", async () => {
  const host = scene({ "gateways.list": { gateways: [] } });
  Object.defineProperty(host, "kind", { value: "http" });
  const { user: person } = show(host, "/gateways");
  await person.click(await screen.findByRole("button", { name: "Connect a chat" }));
  const form = within(screen.getByRole("form", { name: "New gateway" }));
  expect(await form.findByText(/@BotFather/)).toBeTruthy();
  expect(form.queryByText("Another server")).toBeNull();
  await person.selectOptions(form.getByLabelText("Chat service"), "matrix");
  expect(form.getByText("hermit gateway add matrix")).toBeTruthy();
  expect(form.queryByLabelText("Homeserver")).toBeNull();
  await person.click(form.getByRole("button", { name: "Ask me to connect it" }));
  expect(host.times("gateways.add")).toBe(0);
});

test("a token goes to the hosts that were written, with the ports of their protocols, or to the service's own", () => {
  expect(hostsOf(["api.telegram.org:443"], [])).toEqual(["api.telegram.org:443"]);
  expect(hostsOf([], [spelledOut("Chat.example.org/base", "https")])).toEqual(["chat.example.org:443"]);
  expect(hostsOf([], ["imaps://imap.example.org", "smtp://mail.example.org:2525"])).toEqual(["imap.example.org:993", "mail.example.org:2525"]);
  expect(hostsOf([], [spelledOut(" a.example  ws://127.0.0.1:9 ", "wss")])).toEqual(["a.example:443", "127.0.0.1:9"]);
});

test("a task that came from a chat says from whom, through which gateway", async () => {
  show(scene({ "task.show": { ...task, channel: "chat", conversation_id: SENDER.conversation_id, row: { ...task.row, origin: "program" } } }), `/task/${WAITS}`);
  const link = await screen.findByRole("link", { name: "family" });
  expect(link.closest("p")?.textContent).toContain("Started from a chat, by Ana U+202EB on Telegram (gateway family)");
});
