// Identity on its page: SOUL.md is asked about and never just saved, nothing that was typed is lost, and what is wrong with a chain
// stands at its link and on top.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { Refused } from "~/host/host";
import type { Identity } from "~/ipc/generated/identity";
import { IDENTITY, KEYS, SOUL, identityThen, trustLink } from "~/test/identity";
import { scene, task, WAITS } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const SENT = { task_id: WAITS, ingress_id: "ing_1", duplicate: false };
const NOBODY: Identity = { ...IDENTITY, version: 0, shown: 0, soul: null, soul_sha256: null, written_at: null, versions: [], instance_pubkey: null, npub: null, attested: false, graph: { instance_id: null, unbroken: false, key_in_force: null, log_key: null, links: [], findings: [] } };
const field = () => screen.findByLabelText("Who this instance is");
const save = () => screen.getByRole("button", { name: "Save" });

test("an instance that nobody described says what SOUL.md is for, and its first text is asked about", async () => {
  let now = NOBODY;
  const host = scene({ "identity.show": () => now, "identity.write": () => { now = { ...NOBODY, asked: WAITS }; return SENT; } });
  const { user: person } = show(host, "/identity");
  expect(await screen.findByText("Nobody has written SOUL.md yet")).toBeTruthy();
  expect(screen.getByText(/Nothing is signed yet/)).toBeTruthy();
  expect(screen.queryByText(/attested/i)).toBeNull();
  await person.click(screen.getByRole("button", { name: "Write SOUL.md" }));
  expect(save().getAttribute("title")).toBe("Write who this instance is");
  await person.type(await field(), "# Ada");
  expect(await seriousFindings()).toEqual([]);
  await person.click(save());
  await waitFor(() => expect(host.asked.find((call) => call.name === "identity.write")?.params).toEqual({ text: "# Ada", replaces: 0 }));
  expect(await screen.findByText("A change of SOUL.md waits for your answer.")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Review it" }).getAttribute("href")).toContain(WAITS);
  expect(save().getAttribute("aria-disabled")).toBe("true");
});

test("its text stands as it is kept, with its name, and what would turn a line is shown", async () => {
  show(scene({ "identity.show": { ...IDENTITY, soul: `${SOUL}Be kind \u202e.\n` } }), "/identity");
  expect(await screen.findByText("Ada", { selector: "p" })).toBeTruthy();
  const text = within(screen.getByRole("region", { name: "Text of version 2" }));
  expect(text.getByText("U+202E")).toBeTruthy();
  expect(screen.getByText(IDENTITY.npub ?? "")).toBeTruthy();
  expect(screen.getByText(/Unbroken/)).toBeTruthy();
});

test("versions tell what each changed", async () => {
  const { user: person } = show(scene(), "/identity");
  await person.click(await screen.findByRole("button", { name: "What version 2 changed" }));
  const changed = within(await screen.findByRole("region", { name: "What version 2 changed of version 1" }));
  expect(await changed.findByText("You look after letters.")).toBeTruthy();
  expect(changed.getByText(/of the harbour office/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("what was typed survives the page, another version that came meanwhile, and a no", async () => {
  let now = IDENTITY;
  let refuses = true;
  const host = scene({
    "identity.show": ({ version }) => (version == null ? now : identityThen(version)),
    "identity.write": () => {
      if (refuses) throw new Refused({ code: "conflict", message: "SOUL.md is at version 3 by now, and this was to replace version 2; look at it again" });
      return SENT;
    },
    "task.show": { ...task, row: { ...task.row, run_status: "failed", ended_at: 1 } },
  });
  const { user: person, router, client } = show(host, "/identity");
  await person.click(await screen.findByRole("button", { name: "Change SOUL.md" }));
  await person.type(await field(), "Be brief.");
  await person.click(save());
  expect(await screen.findByText(/SOUL\.md is at version 3 by now/)).toBeTruthy();
  await router.navigate({ to: "/settings" });
  now = { ...IDENTITY, version: 3 };
  await client.invalidateQueries();
  await router.navigate({ to: "/identity" });
  expect(((await field()) as HTMLTextAreaElement).value).toBe(`${SOUL}Be brief.`);
  expect(await screen.findByText(/became version 3 while you wrote; you began from version 2/)).toBeTruthy();
  expect(save().getAttribute("title")).toBe("Look at what was changed meanwhile");
  expect(await seriousFindings()).toEqual([]);
  await person.click(screen.getByRole("button", { name: "Replace version 3 with what I wrote" }));
  refuses = false;
  await person.click(save());
  await waitFor(() => expect(host.asked.filter((call) => call.name === "identity.write").map((call) => call.params)).toContainEqual({ text: `${SOUL}Be brief.`, replaces: 3 }));
  expect(await screen.findByText(/was not approved. What you wrote is still here/)).toBeTruthy();
  expect(((await field()) as HTMLTextAreaElement).value).toBe(`${SOUL}Be brief.`);
  // Once it is SOUL.md there is nothing left to keep.
  now = { ...IDENTITY, version: 4, soul: `${SOUL}Be brief.` };
  await client.invalidateQueries();
  await waitFor(() => expect(screen.queryByLabelText("Who this instance is")).toBeNull());
  expect(localStorage.getItem("hermit.draft.identity")).toBeNull();
});

test("a text that is too long says so before it is sent", async () => {
  const long = "wörd ".repeat(11_000);
  localStorage.setItem("hermit.draft.identity", long);
  show(scene(), "/identity");
  await field();
  expect(screen.getByText(/longer than 64 KB/)).toBeTruthy();
  expect(save().getAttribute("title")).toBe("Shorten it to 64 KB");
});

test("what is not attested is signed in the app, and a page in a browser says how", async () => {
  const not = { ...IDENTITY, attested: false };
  const host = scene({ "identity.show": not, "identity.attest": { number: 3, link_sha256: "00", version: 2 } });
  const { user: person, unmount } = show(host, "/identity");
  await person.click(await screen.findByRole("button", { name: "Attest it" }));
  expect(host.times("identity.attest")).toBe(1);
  unmount();
  const browser = scene({ "identity.show": not });
  Object.defineProperty(browser, "kind", { value: "http" });
  show(browser, "/identity");
  expect(await screen.findByText("hermit identity attest")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Attest it" })).toBeNull();
});

test("a chain is a list from the first link on, with what each is and which keys signed it", async () => {
  const links = [trustLink(1), trustLink(2, { kind: "handover", version: null, reason: "rotation", signed_by: [KEYS[0], KEYS[1]] }), trustLink(3, { kind: "revocation", version: null, revoked: KEYS[0], signed_by: [KEYS[1]] })];
  show(scene({ "identity.show": { ...IDENTITY, graph: { ...IDENTITY.graph, links } } }), "/identity");
  const items = within(await screen.findByRole("list", { name: /^Chain/ })).getAllByText(/^Link \d$/);
  expect(items.map((one) => one.textContent)).toEqual(["Link 1", "Link 2", "Link 3"]);
  const second = within(document.querySelector<HTMLElement>("[data-link='2']") as HTMLElement);
  expect(second.getByText("A new key took over")).toBeTruthy();
  expect(second.getByText(/key 1/).parentElement?.textContent).toMatch(/Signed by key 1 .* and key 2/);
  expect(screen.getByText("A key was revoked")).toBeTruthy();
  const third = within(document.querySelector<HTMLElement>("[data-link='3']") as HTMLElement);
  expect(third.getByText("Revoked").parentElement?.innerHTML).toContain(KEYS[0]);
  expect(await seriousFindings()).toEqual([]);
});

test("what is wrong is told on top and at its link, and leads there", async () => {
  const graph = { ...IDENTITY.graph, unbroken: false, findings: [
    { what: "bad_signature" as const, number: 2, says: "the signature of `a1a1` does not hold" }, { what: "no_log_key" as const, number: null, says: "the statement is of another log" },
  ] };
  const { user: person } = show(scene({ "identity.show": { ...IDENTITY, attested: false, graph } }), "/identity");
  expect(await screen.findByText("Not to be relied on")).toBeTruthy();
  const wrong = within(screen.getByRole("list", { name: "What is wrong" }));
  expect(wrong.getByText(/Link 2: A signature does not hold/)).toBeTruthy();
  expect(wrong.getByText(/have not signed each other/)).toBeTruthy();
  await person.click(wrong.getByRole("button", { name: "Go to link 2" }));
  expect(document.activeElement?.getAttribute("data-link")).toBe("2");
  expect(within(document.activeElement as HTMLElement).getByText(/A signature does not hold/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("of a long chain the first, the newest and the wrong links are in sight, and more are shown when that is asked", async () => {
  const links = Array.from({ length: 500 }, (_, at) => trustLink(at + 1));
  const graph = { ...IDENTITY.graph, links, unbroken: false, findings: [{ what: "gap" as const, number: 200, says: "its link before is not here" }] };
  const { user: person } = show(scene({ "identity.show": { ...IDENTITY, graph } }), "/identity");
  await screen.findByText("Link 500");
  const seen = () => document.querySelectorAll("[data-link]").length;
  expect(seen()).toBe(62);
  expect([1, 200, 441].map((number) => document.querySelector(`[data-link='${number}']`) !== null)).toEqual([true, true, true]);
  expect(screen.getByText("198 links not shown")).toBeTruthy();
  await person.click(screen.getByRole("button", { name: "Show 60 more" }));
  expect(seen()).toBe(122);
});

test("the chain is given to somebody as a file", async () => {
  const host = scene({ "identity.export": { path: "/tmp/chain.jsonl", links: 2 } });
  const { user: person } = show(host, "/identity");
  await person.type(await screen.findByLabelText("Save as"), "/tmp/chain.jsonl");
  await person.click(screen.getByRole("button", { name: "Export the chain" }));
  expect(await screen.findByText(/without this store and without a network/)).toBeTruthy();
  expect(host.asked.find((call) => call.name === "identity.export")?.params).toEqual({ path: "/tmp/chain.jsonl" });
});

test("settings name the instance and lead to its page", async () => {
  show(scene(), "/settings");
  const section = within(await screen.findByRole("region", { name: "Who this instance is" }));
  expect((await section.findByText("Ada")).closest("p")?.textContent).toContain("version 2 of SOUL.md");
  expect(section.getByRole("link", { name: "Identity" }).getAttribute("href")).toContain("/identity");
});

test("the chain is published at relays that are named, a card asks first, and where it is stands beside it", async () => {
  const links = [trustLink(1), trustLink(2, { published: ["wss://relay.example"] })];
  const host = scene({ "identity.show": { ...IDENTITY, graph: { ...IDENTITY.graph, links } }, "identity.publish": SENT });
  const { user: person } = show(host, "/identity");
  expect(await screen.findByText(/Published with its newest link at/)).toBeTruthy();
  expect(screen.getByText(/no word of SOUL.md, and nothing of what is in your log/)).toBeTruthy();
  const relays = screen.getByLabelText("Relays");
  const publish = screen.getByRole("button", { name: "Publish" });
  await person.type(relays, "https://relay.example");
  expect(publish.getAttribute("aria-disabled")).toBe("true");
  await person.click(publish);
  expect(host.times("identity.publish")).toBe(0);
  await person.clear(relays);
  await person.type(relays, "wss://relay.example{enter}wss://other.example");
  expect(await seriousFindings()).toEqual([]);
  await person.click(publish);
  await waitFor(() => expect(host.asked.find((call) => call.name === "identity.publish")?.params).toEqual({ relays: ["wss://relay.example", "wss://other.example"], channel: "app" }));
  expect((await screen.findByRole("link", { name: "The task that asks you" })).getAttribute("href")).toContain(WAITS);
});

test("a chain that is broken is published nowhere", async () => {
  const host = scene({ "identity.show": { ...IDENTITY, graph: { ...IDENTITY.graph, unbroken: false, findings: [{ what: "bad_signature", number: 2, says: "a signature does not hold" }] } } });
  show(host, "/identity");
  expect((await screen.findByRole("button", { name: "Publish" })).getAttribute("title")).toBe("The chain is broken");
});
