// The window a yes is given in: what it takes, and what decides nothing.
import { QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { Desk } from "~/host/desk";
import { Refused } from "~/host/host";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import { APPROVAL, approval, ofPart, scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Answering } from "./Answering";

const HOLD_MS = 40;

function shown(more: Partial<Desk> = {}, needs = true, answers: Parameters<typeof scene>[0] = {}) {
  const done: string[] = [];
  const desk: Desk = {
    subject: async () => ({ kind: "approval", id: APPROVAL }),
    shown: async (_id, _sha, lasting) => {
      if (lasting) done.push("shown to last");
      return { arm_ms: 5, hold_ms: HOLD_MS, needs_passphrase: needs || lasting, has_key: true };
    },
    press: async (down) => { done.push(down ? "down" : "up"); },
    grant: async (id, sha, words, standing) => {
      done.push(standing === null ? `grant ${words}` : `grant ${words}: ${standing.words}`);
      expect([id, sha]).toEqual([APPROVAL, approval.packet_sha256]);
      return { approval_id: id, task_id: "task_1", accepted: true, status: "granted" };
    },
    offers: async (_id, scope, days, uses) => [{
      words: `delete data/*.csv in ${scope}, ${days} days, ${uses} times`, days: days ?? 7, uses: uses ?? 50,
      rehearsed: { answered: 3, refused: 1, questions: 12, rows: [{ action_request_id: "act_1", task_id: "task_1", at: Date.UTC(2026, 10, 20), summary: "delete old.csv", answered: "denied" }] },
    }],
    prepareOverride: async () => { throw new Refused({ code: "conflict", message: "no denial is open here" }); },
    allowOverride: async () => ({ grant_id: "grt_1", task_id: "task_1" }), keepKey: async () => undefined,
    securityKeys: async () => ({ is_enrolled: false, plugged_in: [] }), keyWantsTouch: async () => false,
    grantByKey: async (id, sha, pin, place) => {
      done.push(`grant by key ${pin} at ${place}`);
      expect([id, sha]).toEqual([APPROVAL, approval.packet_sha256]);
      return { approval_id: id, task_id: "task_1", accepted: true, status: "granted" };
    },
    leaveKey: async () => { done.push("leave key"); },
    makeKeys: async () => undefined, unlock: async () => true, leave: async () => { done.push("leave"); },
    ...more,
  };
  const host = scene(answers, "window");
  const client = makeQueryClient();
  render(<HostProvider value={host}><QueryClientProvider client={client}><Answering id={APPROVAL} desk={desk} /></QueryClientProvider></HostProvider>);
  return { done, host, user: userEvent.setup() };
}

const button = () => screen.findByRole("button", { name: "Hold to approve" });
async function ready() {
  const hold = await button();
  await waitFor(() => expect(hold.getAttribute("aria-disabled")).toBeNull());
  return hold;
}

test("a yes is typed and held, and is for the bytes that were shown", async () => {
  const { done, user } = shown();
  await user.type(await screen.findByLabelText("Approval passphrase"), "words");
  const hold = await ready();
  fireEvent.pointerDown(hold, { button: 0 });
  await screen.findByText(/Approved and signed with your key/);
  expect(done).toEqual(["down", "grant words"]);
});

test("the window says which task it is a part of and which agent asks, and leads nowhere", async () => {
  shown({}, true, { "approvals.show": { ...approval, row: { ...approval.row, ...ofPart } } });
  const who = await screen.findByRole("list", { name: "Who asks" });
  expect(within(who).getAllByRole("listitem").map((one) => one.textContent)).toEqual(["Part of: Tidy U+202Eall of it", "Asked by: qwen2.5-1.5b"]);
  expect(within(who).queryByRole("link")).toBeNull();
});

test("the space bar holds as the pointer does; Enter, a tap and other keys decide nothing", async () => {
  const { done, user } = shown({}, false);
  const hold = await ready();
  hold.focus();
  await user.keyboard("{Enter}ya{Enter}");
  fireEvent.keyDown(hold, { key: " " });
  fireEvent.keyUp(hold, { key: " " });
  fireEvent.click(hold);
  expect(done.filter((one) => one.startsWith("grant"))).toEqual([]);
  fireEvent.keyDown(hold, { key: " " });
  await waitFor(() => expect(done).toContain("grant null"));
});

test("without the passphrase, and before the card is armed, nothing can be held", async () => {
  const { done } = shown({ shown: () => new Promise(() => undefined) });
  const hold = await button();
  fireEvent.pointerDown(hold, { button: 0 });
  expect(hold.getAttribute("title")).toBe("The card was only just shown");
  expect(done).toEqual([]);
});

test("a window that loses the focus while it is held decides nothing", async () => {
  const { done } = shown({}, false);
  const hold = await ready();
  fireEvent.pointerDown(hold, { button: 0 });
  fireEvent.blur(globalThis.window);
  await new Promise((over) => setTimeout(over, HOLD_MS * 4));
  expect(done).toEqual(["down", "up"]);
});

test("locked keys are unlocked on the card before anything is decided", async () => {
  let isOpen = false;
  const receipt = { purpose: "receipt" as const, keyid: "00".repeat(32), pem: "", ssh_fingerprint: "", status: "in_force" as const, since: 0, until: null, revoked_at: null, revoked_because: null, vkey: null };
  const { done, user } = shown({
    unlock: async (words) => {
      if (words !== "right") throw new Refused({ code: "key_locked", message: "this passphrase does not open it" });
      isOpen = true;
      return true;
    },
  }, true, { "keys.list": () => ({ keys: [{ ...receipt, open: isOpen }] }) });
  const field = await screen.findByLabelText<HTMLInputElement>("Vault passphrase");
  expect(screen.queryByRole("button", { name: /Deny|Hold/ })).toBeNull();
  await user.type(field, "wrong{Enter}");
  await screen.findByText("This passphrase does not open it.");
  expect(field.value).toBe("");
  await user.type(field, "right{Enter}");
  await screen.findByRole("button", { name: "Deny" });
  expect(screen.queryByLabelText("Vault passphrase")).toBeNull();
  expect(done).toEqual([]);
});

test("a wrong passphrase is told, forgotten, and asked for again", async () => {
  const { user } = shown({ grant: async () => { throw new Refused({ code: "key_locked", message: "the passphrase is wrong" }); } });
  const field = await screen.findByLabelText<HTMLInputElement>("Approval passphrase");
  await user.type(field, "words");
  fireEvent.pointerDown(await ready(), { button: 0 });
  await screen.findByText("The passphrase is wrong.");
  expect(field.value).toBe("");
  await user.type(field, "a");
  expect(screen.queryByText("The passphrase is wrong."), "what is typed anew is not refused yet").toBeNull();
});

test("what lasts is chosen within bounds, read as a sentence, and signed as it was read", async () => {
  const { done, user } = shown({}, false);
  await ready();
  await user.click(screen.getByRole("radio", { name: "Also similar actions, from now on" }));
  const hold = await screen.findByRole("button", { name: "Hold to approve from now on" });
  await waitFor(() => expect(hold.getAttribute("title")).toBe("Choose what to allow from now on"));
  expect(done).toContain("shown to last");
  await user.click(screen.getByRole("button", { name: "This task" }));
  await user.clear(screen.getByLabelText("Uses"));
  await user.type(screen.getByLabelText("Uses"), "4");
  await user.click(await screen.findByRole("radio", { name: "Delete data/*.csv in task, 7 days, 4 times" }));
  await screen.findByText("1 of them you had denied.");
  await screen.findByText(/It would have answered 3 of 12 questions so far/);
  await user.type(screen.getByLabelText("Approval passphrase"), "words");
  await waitFor(() => expect(hold.getAttribute("aria-disabled")).toBeNull());
  fireEvent.pointerDown(hold, { button: 0 });
  await waitFor(() => expect(done).toContain("grant words: delete data/*.csv in task, 7 days, 4 times"));
});

test("bounds that are none, and another choice after reading, cannot be signed", async () => {
  const { user } = shown({}, false);
  await ready();
  await user.click(screen.getByRole("radio", { name: "Also similar actions, from now on" }));
  await user.click(await screen.findByRole("radio", { name: /^Delete data/ }));
  await screen.findByText(/You approve this, and from now on/);
  await user.clear(screen.getByLabelText("Days"));
  await user.type(screen.getByLabelText("Days"), "93");
  await screen.findByText("1 to 92");
  expect(screen.queryByText(/You approve this, and from now on/)).toBeNull();
  expect(screen.getByRole("button", { name: "Hold to approve from now on" }).getAttribute("title")).toBe("Choose what to allow from now on");
  expect(await seriousFindings()).toEqual([]);
});

const KEY = { name: "Blue key", place: "/dev/hidraw3" };

test("a security key says yes in the place of the passphrase, with its PIN, and only once", async () => {
  const { done, user } = shown({ securityKeys: async () => ({ is_enrolled: true, plugged_in: [KEY] }) });
  await user.click(await screen.findByRole("button", { name: "Use security key" }));
  expect(screen.queryByLabelText("Approval passphrase")).toBeNull();
  const hold = await button();
  await waitFor(() => expect(hold.getAttribute("title")).toBe("Type the PIN of your security key first"));
  await user.type(screen.getByLabelText("PIN of your security key"), "4711");
  expect(await seriousFindings()).toEqual([]);
  fireEvent.pointerDown(await ready(), { button: 0 });
  await screen.findByText(/Approved and signed with your key/);
  expect(done).toEqual(["down", "grant by key 4711 at /dev/hidraw3"]);
});

test("what lasts takes the passphrase, and of several keys one is chosen", async () => {
  const other = { name: "Old key", place: "/dev/hidraw5" };
  const { user } = shown({ securityKeys: async () => ({ is_enrolled: true, plugged_in: [KEY, other] }) });
  await user.click(await screen.findByRole("button", { name: "Use security key" }));
  const hold = await button();
  await waitFor(() => expect(hold.getAttribute("title")).toBe("Choose your security key first"));
  await user.selectOptions(screen.getByLabelText("Security key"), "/dev/hidraw5");
  expect(hold.getAttribute("title")).toBe("Type the PIN of your security key first");
  await user.click(screen.getByRole("radio", { name: "Also similar actions, from now on" }));
  await screen.findByLabelText("Approval passphrase");
  expect(screen.queryByLabelText("PIN of your security key")).toBeNull();
});

test("a key that is asked says when to touch it, and can be left; a wrong PIN is told and forgotten", async () => {
  let give: (thrown: Refused) => void = () => undefined;
  const { done, user } = shown({
    securityKeys: async () => ({ is_enrolled: true, plugged_in: [KEY] }), keyWantsTouch: async () => true,
    grantByKey: () => new Promise((_, refuse) => { give = refuse; }),
  });
  await user.click(await screen.findByRole("button", { name: "Use security key" }));
  const field = screen.getByLabelText<HTMLInputElement>("PIN of your security key");
  await user.type(field, "4711");
  fireEvent.pointerDown(await ready(), { button: 0 });
  await screen.findByText("Touch your security key now");
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  expect(done).toContain("leave key");
  give(new Refused({ code: "key_locked", message: "the PIN is wrong; 7 tries are left before the key blocks it" }));
  await screen.findByText("The PIN is wrong; 7 tries are left before the key blocks it.");
  expect(field.value).toBe("");
});

test("where one is enrolled and none is plugged in, it says so and looks again; a PIN is not kept beside the passphrase", async () => {
  let plugged: { name: string; place: string }[] = [];
  const { user } = shown({ securityKeys: async () => ({ is_enrolled: true, plugged_in: plugged }) });
  await user.click(await screen.findByRole("button", { name: "Use security key" }));
  await screen.findByText(/No security key is plugged in/);
  plugged = [KEY];
  await user.click(screen.getByRole("button", { name: "Look again" }));
  await user.type(await screen.findByLabelText("PIN of your security key"), "4711");
  await user.click(screen.getByRole("button", { name: "Use the approval passphrase" }));
  await user.click(screen.getByRole("button", { name: "Use security key" }));
  expect(screen.getByLabelText<HTMLInputElement>("PIN of your security key").value).toBe("");
});

test("a reader of screens finds nothing serious", async () => {
  shown();
  await ready().catch(() => undefined);
  expect(await seriousFindings()).toEqual([]);
});
