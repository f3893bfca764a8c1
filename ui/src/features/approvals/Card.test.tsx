// What a card shows, and what it never does.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { APPROVAL, approval, approvalRow, changes, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const card = async () => within(await screen.findByRole("article", { name: "Approval" }));

test("deletions come first, and nothing that waits reads as if it had happened", async () => {
  show(scene(), "/");
  const here = await card();
  const files = await here.findAllByRole("region", { name: /^(Delete|Replace|Create|Move)d? / });
  expect(files.map((file) => file.getAttribute("aria-label"))).toEqual(["Delete data/tax-rates.csv", "Replace src/tax/reverse.ts"]);
  expect(here.getByText("1 to delete")).toBeTruthy();
  expect(here.queryByText(/^(Deleted|Replaced|Created|Moved)$/)).toBeNull();
});

test("characters that would not show or would reorder text are shown as code points, in file order", async () => {
  show(scene(), "/");
  const here = await card();
  const points = await here.findAllByTitle("a character that would not show");
  expect(points.map((point) => point.textContent)).toEqual(["U+202E", "U+2066", "U+2069", "U+2066"]);
  expect(here.getByText(/holds 4 characters that do not show or reorder text/)).toBeTruthy();
  expect(document.body.textContent).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});

test("nothing on the card can allow: there is a way to the terminal, a no, and no key that decides", async () => {
  const host = scene();
  const { user } = show(host, "/");
  const here = await card();
  expect(await here.findByText(`hermit approvals approve ${APPROVAL}`)).toBeTruthy();
  expect(here.queryByRole("button", { name: /approve|allow/i })?.getAttribute("aria-label") ?? "").toMatch(/^Copy|^$/);
  await user.keyboard("{Enter}ya jk{Enter}");
  expect(host.asked.filter((one) => one.name.startsWith("approvals.") && !/list|show/.test(one.name))).toEqual([]);
});

test("in the app the card leads to the approval window and decides nothing itself", async () => {
  const host = scene({}, "window");
  const opened: string[] = [];
  host.openCard = (id) => { opened.push(id); return Promise.resolve(); };
  const { user } = show(host, "/");
  const here = await card();
  await user.click(await here.findByRole("button", { name: "Review and decide" }));
  expect(opened).toEqual([APPROVAL]);
});

test("a no goes out with its words", async () => {
  const host = scene();
  const { user } = show(host, "/");
  const here = await card();
  await user.type(await here.findByLabelText("Tell the proposer why not"), "not the csv");
  await user.click(here.getByRole("button", { name: "Deny with feedback" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "approvals.deny")?.params).toEqual({ approval: APPROVAL, surface: "browser", feedback: "not the csv" }));
});

test("a folder that changed since it was asked is told on the card", async () => {
  const drifted = { ...changes, files: changes.files.map((file) => ({ ...file, before: file.before === null ? null : { ...file.before, text: null, missing: "drifted" } })) };
  show(scene({ "changes.show": drifted }), "/");
  expect((await screen.findAllByText(/holds other bytes now/)).length).toBe(2);
});

test("a card that was answered elsewhere keeps its evidence and loses its decision", async () => {
  const answered = { ...approval, row: { ...approvalRow, status: "granted", resolved_at: Date.now(), surface: "terminal" } };
  show(scene({ "approvals.show": answered }), "/");
  const here = await card();
  expect(await here.findByText(/Granted/)).toBeTruthy();
  expect(here.queryByRole("button", { name: /Deny/ })).toBeNull();
  expect(await seriousFindings()).toEqual([]);
});

test("an act without files is told in words, what destroys first", async () => {
  show(scene({ "changes.show": { ...changes, files: [] } }), "/");
  const here = await card();
  expect(await here.findByText(/DELETE "data\/tax-rates.csv"/)).toBeTruthy();
});

test("in a browser a yes needs the passphrase and the word, and no key decides", async () => {
  const host = scene({}, "passphrase");
  const { user } = show(host, "/");
  const here = await card();
  await user.keyboard("{Enter}ya{Enter}");
  expect(host.signed).toEqual([]);
  const open = await here.findByRole("button", { name: "Allow with passphrase" });
  open.focus();
  await user.keyboard("{Enter}");
  expect(here.queryByLabelText("Approval passphrase")).toBeNull();
  await user.click(open);
  const words = await here.findByLabelText("Approval passphrase");
  const allow = here.getByRole("button", { name: "Allow this once" });
  await user.type(words, "wrong{Enter}");
  await user.click(allow);
  expect(host.signed).toEqual([]);
  await user.type(await here.findByLabelText(/^This is of high risk/), "high");
  await waitFor(() => expect(allow.getAttribute("aria-disabled")).toBeNull());
  allow.focus();
  await user.keyboard("{Enter}");
  expect(host.signed).toEqual([]);
  await user.click(allow);
  expect(await here.findByText(/passphrase is wrong/)).toBeTruthy();
  expect((words as HTMLInputElement).value).toBe("");
  await user.type(words, "right");
  await user.click(allow);
  await waitFor(() => expect(host.signed.map((one) => [one.passphrase, one.word])).toEqual([["wrong", "high"], ["right", "high"]]));
  expect(await seriousFindings()).toEqual([]);
});

test("a critical act is allowed by holding, and letting go early does nothing", async () => {
  const critical = { ...approval, row: { ...approvalRow, risk: "critical" } };
  const host = scene({ "approvals.show": critical }, "passphrase");
  const { user } = show(host, "/");
  const here = await card();
  await user.click(await here.findByRole("button", { name: "Allow with passphrase" }));
  await user.type(await here.findByLabelText(/^This is of high risk/), "high");
  await user.type(await here.findByLabelText("Approval passphrase"), "right");
  const hold = here.getByRole("button", { name: "Hold to allow this once" });
  await waitFor(() => expect(hold.getAttribute("aria-disabled")).toBeNull());
  await user.click(hold);
  expect(host.signed).toEqual([]);
  await user.pointer({ keys: "[MouseLeft>]", target: hold });
  await waitFor(() => expect(host.signed.length).toBe(1), { timeout: 4000 });
});

test("a card whose bytes have changed cannot be allowed", async () => {
  const host = scene({}, "passphrase");
  if (host.pen !== undefined) host.pen.sit = (of) => Promise.resolve({ ticket: "t", approval: of, packet_sha256: "0".repeat(64), arms_in: 0, word: null });
  const { user } = show(host, "/");
  const here = await card();
  await user.click(await here.findByRole("button", { name: "Allow with passphrase" }));
  await user.type(await here.findByLabelText("Approval passphrase"), "right");
  await user.click(here.getByRole("button", { name: "Allow this once" }));
  expect(await here.findByText(/has changed since this card was read/)).toBeTruthy();
  expect(host.signed).toEqual([]);
});

test("in a browser the like of it is allowed from now on as it is in the window: chosen, read, held, with the passphrase", async () => {
  const host = scene({}, "passphrase");
  const { user } = show(host, "/");
  const here = await card();
  await user.click(await here.findByRole("radio", { name: "The like of it, from now on" }));
  const offers = within(await here.findByRole("radiogroup", { name: /narrowest first/ }));
  await user.click(await here.findByRole("button", { name: "Allow from now on" }));
  await user.type(await here.findByLabelText(/^This is of high risk/), "high");
  await user.type(here.getByLabelText("Approval passphrase"), "right");
  const hold = here.getByRole("button", { name: "Hold to allow from now on" });
  expect(hold.getAttribute("title")).toBe("Choose what you allow from now on");
  const uses = here.getByLabelText("Uses");
  await user.clear(uses);
  await user.type(uses, "2");
  await user.click(await offers.findByRole("radio", { name: "Delete `a.csv` in this project, 7 days, 2 times" }));
  await waitFor(() => expect(hold.getAttribute("aria-disabled")).toBeNull());
  expect(await seriousFindings()).toEqual([]);
  await user.click(hold);
  hold.focus();
  await user.keyboard("{Enter}");
  expect(host.signed).toEqual([]);
  await user.keyboard("[Space>]");
  await waitFor(() => expect(host.signed.length).toBe(1), { timeout: 4000 });
  expect(host.signed[0]?.lasting).toEqual({ scope: "project", number: 0, days: 7, uses: 2, words: "delete `a.csv` in this project, 7 days, 2 times" });
});

test("what is critical is allowed once in a browser too, whatever anybody says", async () => {
  const critical = { ...approval, row: { ...approvalRow, risk: "critical" } };
  const { user } = show(scene({ "approvals.show": critical }, "passphrase"), "/");
  const here = await card();
  const lasting = await here.findByRole("radio", { name: "The like of it, from now on" });
  expect(lasting.getAttribute("aria-disabled")).toBe("true");
  await user.click(lasting);
  expect(here.queryByRole("radiogroup", { name: /narrowest first/ })).toBeNull();
});
