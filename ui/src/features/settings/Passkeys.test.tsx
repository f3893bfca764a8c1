// Passkeys in the settings: added with the passphrase where one can belong to the page, and revoked when that was asked.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { type Passkeys as Holder, Refused } from "~/host/host";
import { explained } from "~/host/webauthn";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import type { Passkey } from "~/ipc/generated/passkeys";
import { AT, scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Passkeys } from "./Passkeys";

const PHONE: Passkey = {
  passkey_id: "psk_1", name: "My phone", rp_id: "desk.example", origin: "https://desk.example", algorithm: "ES256", created_at: AT, last_used_at: null,
  revoked_at: null, in_force: true, backed_up: true, transports: ["internal"],
};

function shown({ place = { origin: "https://desk.example", why: null }, at_terminal = true, passkeys = [] as Passkey[], make, add }: Partial<Holder> & { at_terminal?: boolean; passkeys?: Passkey[] } = {}) {
  const host = scene({
    "passkeys.list": () => ({ passkeys }),
    "passkeys.revoke": () => { passkeys = passkeys.map((one) => ({ ...one, revoked_at: AT, in_force: false })); return passkeys[0] as Passkey; },
  }, "passphrase");
  host.holding({ at_terminal, made: true, approval: true, open: true, vault: "file", no_keychain: null, chars_min: 8 });
  const asked: string[] = [];
  host.passkeys = {
    place,
    make: make ?? (() => { asked.push("made"); return Promise.resolve({ client_data_json: "AA", attestation_object: "AA", transports: [] }); }),
    add: add ?? ((name, _, passphrase) => {
      asked.push(`${name} ${passphrase}`);
      if (passphrase !== "right") return Promise.reject(new Refused({ code: "key_locked", message: "the passphrase is wrong" }));
      passkeys = [{ ...PHONE, name }];
      return Promise.resolve({ ...PHONE, name });
    }),
    ask: () => Promise.reject(new Error("not here")),
    allow: () => Promise.reject(new Error("not here")),
  };
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><Passkeys /></QueryClientProvider></HostProvider>);
  return { host, asked, user: userEvent.setup() };
}

test("one is added with a name and the passphrase; a wrong one is typed again, and the device is not asked again", async () => {
  const { asked, user } = shown();
  await user.click(await screen.findByRole("button", { name: "Add a passkey" }));
  const add = () => screen.getByRole("button", { name: "Add the passkey" });
  await user.click(add());
  expect(asked).toEqual([]);
  await user.type(screen.getByLabelText("Name of the passkey"), "Pocket");
  await user.type(screen.getByLabelText("Approval passphrase"), "wrong");
  await user.click(add());
  await screen.findByText("The passphrase is wrong.");
  expect((screen.getByLabelText("Approval passphrase") as HTMLInputElement).value).toBe("");
  await user.type(screen.getByLabelText("Approval passphrase"), "right");
  await user.click(add());
  await screen.findByText(/was added/);
  expect(asked).toEqual(["made", "Pocket wrong", "Pocket right"]);
  await screen.findByText("Copied to your other devices by whoever keeps your passkeys.");
  expect(await seriousFindings()).toEqual([]);
});

test("a device that does not make one is said in plain words, and it can be tried again", async () => {
  const { user } = shown({ make: () => Promise.reject(explained(new DOMException("no", "NotAllowedError"), "add")) });
  await user.click(await screen.findByRole("button", { name: "Add a passkey" }));
  await user.type(screen.getByLabelText("Name of the passkey"), "Pocket");
  await user.type(screen.getByLabelText("Approval passphrase"), "right");
  await user.click(screen.getByRole("button", { name: "Add the passkey" }));
  await screen.findByText(/nothing was added/);
  screen.getByRole("button", { name: "Add the passkey" });
});

test("where none can be added, the page says why", async () => {
  const { user, host } = shown({ place: { origin: null, why: "address" } });
  const links: string[] = [];
  host.devices = { list: () => Promise.reject(new Error("no")), link: (to) => { links.push(to); return Promise.reject(new Refused({ code: "conflict", message: "another program listens there" })); }, end: () => Promise.reject(new Error("no")) };
  await user.click(await screen.findByRole("button", { name: "Open this page at localhost" }));
  await screen.findByText("Another program listens there.");
  expect(links).toEqual(["localhost"]);
});

test("a page that a program opened adds none", async () => {
  shown({ at_terminal: false });
  await screen.findByText(/A program can open this page too/);
  expect(screen.queryByRole("button", { name: "Add a passkey" })).toBeNull();
});

test("one is revoked when that was asked, and stays in the list", async () => {
  const { user, host } = shown({ passkeys: [PHONE] });
  await user.click(await screen.findByRole("button", { name: "Revoke My phone" }));
  expect(host.asked.some((one) => one.name === "passkeys.revoke")).toBe(false);
  await user.click(screen.getByRole("button", { name: "Revoke this passkey" }));
  await screen.findByText(/revoked/);
  expect(host.asked.find((one) => one.name === "passkeys.revoke")?.params).toEqual({ passkey: "psk_1" });
  expect(screen.queryByRole("button", { name: "Revoke My phone" })).toBeNull();
});
