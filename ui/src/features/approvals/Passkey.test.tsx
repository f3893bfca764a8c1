// A yes by a passkey: offered where one belongs to this page, for the card that was shown, with the word of its risk; on a phone
// it is held.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { explained } from "~/host/webauthn";
import type { Passkey } from "~/ipc/generated/passkeys";
import { AT, approval, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const passkey = (more: Partial<Passkey> = {}): Passkey => ({
  passkey_id: "psk_1", name: "My phone", rp_id: "desk.example", origin: "https://desk.example", algorithm: "ES256", created_at: AT, last_used_at: null,
  revoked_at: null, in_force: true, backed_up: false, transports: [], ...more,
});

function shown(all: Passkey[], fails = 0) {
  const host = scene({ "passkeys.list": { passkeys: all } }, "passphrase");
  const signed: (string | null)[] = [];
  let left = fails;
  host.passkeys = {
    place: { origin: "https://desk.example", why: null },
    make: () => Promise.reject(new Error("not here")), add: () => Promise.reject(new Error("not here")),
    ask: ({ packet_sha256 }) => Promise.resolve({ decision: `yes to ${packet_sha256}`, challenge: "AA", credentials: ["AA"], rp_id: "desk.example" }),
    allow: (_, asked, word) => {
      if (left-- > 0) return Promise.reject(explained(new DOMException("no", "NotAllowedError"), "allow"));
      signed.push(asked.decision, word);
      return Promise.resolve();
    },
  };
  const view = show(host, "/");
  return { host, signed, ...view };
}

const card = async () => within(await screen.findByRole("article", { name: "Approval" }));

const before = globalThis.matchMedia;
afterEach(() => { vi.stubGlobal("matchMedia", before); });

test("a passkey of this page signs what was shown, with the word, and no key decides", async () => {
  const { user, signed } = shown([passkey()], 1);
  const here = await card();
  await user.click(await here.findByRole("button", { name: "Approve with passkey" }));
  const approve = await here.findByRole("button", { name: "Approve with passkey" });
  await here.findByText("Type high first.");
  fireEvent.keyDown(approve, { key: "Enter" });
  await user.click(approve);
  expect(signed).toEqual([]);
  await user.type(here.getByLabelText(/Type high to confirm/), "high");
  await user.click(approve);
  await here.findByText(/nothing was decided/);
  expect(signed).toEqual([]);
  await user.click(approve);
  await waitFor(() => expect(signed).toEqual([`yes to ${approval.packet_sha256}`, "high"]));
  expect(here.queryByLabelText("Approval passphrase")).toBeNull();
});

test("it is not offered where it was revoked or belongs to another name", async () => {
  shown([passkey({ revoked_at: AT, in_force: false }), passkey({ passkey_id: "psk_2", origin: "https://other.example" })]);
  const here = await card();
  await here.findByRole("button", { name: "Approve with passphrase" });
  expect(here.queryByRole("button", { name: "Approve with passkey" })).toBeNull();
});

test("on a phone no and yes stay at the thumb, and a yes by a passkey is held", async () => {
  const observer = { matches: true, addEventListener() {}, removeEventListener() {} };
  vi.stubGlobal("matchMedia", (query: string) => (query.includes("480px") ? { ...observer, media: query } : before(query)));
  const { user, signed, router } = shown([passkey()]);
  await screen.findByRole("navigation", { name: "Places" });
  for (const place of ["Inbox", "Schedules", "More"]) expect(screen.getByRole("navigation").textContent).toContain(place);
  const thumb = within(await screen.findByRole("group", { name: "Your decision" }));
  await user.click(thumb.getByRole("button", { name: "Deny" }));
  expect(thumb.getByRole("button", { name: "Deny and stop" })).toBeTruthy();
  expect(thumb.queryByRole("button", { name: "Approve with passkey" })).toBeNull();
  await user.click(thumb.getByRole("button", { name: "Back" }));
  await user.click(await thumb.findByRole("button", { name: "Approve with passkey" }));
  expect(thumb.queryByRole("button", { name: "Deny" })).toBeNull();
  await user.type(await thumb.findByLabelText(/Type high to confirm/), "high");
  const hold = thumb.getByRole("button", { name: "Hold to approve with passkey" });
  await waitFor(() => expect(hold.getAttribute("aria-disabled")).toBeNull());
  fireEvent.pointerDown(hold, { button: 0 });
  fireEvent.pointerUp(hold);
  expect(signed).toEqual([]);
  fireEvent.pointerDown(hold, { button: 0 });
  await waitFor(() => expect(signed).toEqual([`yes to ${approval.packet_sha256}`, "high"]), { timeout: 5_000 });
  expect(await seriousFindings()).toEqual([]);
  await router.navigate({ to: "/more" });
  expect((await screen.findByRole("list", { name: "More places" })).textContent).toContain("Policy");
});
