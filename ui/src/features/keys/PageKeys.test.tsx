// Keys on a page of the host: made once the rules are met, unlocked and locked, and only where a person is known to be.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { KeyState } from "~/host/host";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import { scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { KeysHere } from "./PageKeys";

const NONE: KeyState = { at_terminal: true, made: false, approval: false, open: false, vault: null, no_keychain: null, chars_min: 8 };

function shown(state: Partial<KeyState>) {
  const host = scene({}, "passphrase");
  const made = host.holding({ ...NONE, ...state });
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><KeysHere /></QueryClientProvider></HostProvider>);
  return { host, made, user: userEvent.setup() };
}

test("the store that works here is chosen: the keychain takes one passphrase, a file takes two that differ", async () => {
  const { made, user } = shown({ no_keychain: "no D-Bus is here" });
  const vault = await screen.findByLabelText("Vault passphrase");
  screen.getByText(/two different passphrases of 8 characters or more/);
  screen.getByTitle("no D-Bus is here");
  const make = screen.getByRole("button", { name: "Make keys" });
  for (const label of ["Approval passphrase", "Approval passphrase again", "Vault passphrase", "Vault passphrase again"]) await user.type(screen.getByLabelText(label), "the same words");
  screen.getByText("The two passphrases have to be different.");
  await user.click(make);
  expect(made).toEqual([]);
  for (const field of [vault, screen.getByLabelText("Vault passphrase again")]) {
    await user.clear(field);
    await user.type(field, "other words");
  }
  await user.click(make);
  await screen.findByText(/are unlocked/);
  expect(made).toEqual([{ keychain: false, vault: "other words", approval: "the same words" }]);
  expect(document.querySelector("input")).toBeNull();
});

test("with a keychain there is one passphrase, and the choice of a file", async () => {
  const { made, user } = shown({});
  await user.type(await screen.findByLabelText("Approval passphrase"), "short");
  screen.getByText("The approval passphrase needs at least 8 characters.");
  await user.type(screen.getByLabelText("Approval passphrase"), " no more");
  await user.type(screen.getByLabelText("Approval passphrase again"), "short no more");
  await user.click(screen.getByRole("button", { name: "Make keys" }));
  await screen.findByText(/kept in the system keychain/);
  expect(made).toEqual([{ keychain: true, vault: null, approval: "short no more" }]);
});

test("locked keys are unlocked with the vault's passphrase, a wrong one is forgotten, and they are locked again", async () => {
  const { user } = shown({ made: true, approval: true, vault: "file" });
  const words = await screen.findByLabelText("Vault passphrase");
  await user.type(words, "wrong{Enter}");
  await screen.findByText("This passphrase does not open it.");
  expect((words as HTMLInputElement).value).toBe("");
  await user.type(words, "right{Enter}");
  await user.click(await screen.findByRole("button", { name: "Lock the keys" }));
  await screen.findByText(/The keys are locked/);
  expect(await seriousFindings()).toEqual([]);
});

test("a passphrase is changed with the old one and the new one twice, and a wrong old one changes nothing", async () => {
  const { host, user } = shown({ made: true, approval: true, open: true, vault: "file" });
  await user.click(await screen.findByRole("button", { name: "Change the vault passphrase" }));
  const old = screen.getByLabelText("Vault passphrase as it is");
  await user.type(old, "wrong");
  await user.type(screen.getByLabelText("New vault passphrase"), "short");
  screen.getByText("The new vault passphrase needs at least 8 characters.");
  await user.type(screen.getByLabelText("New vault passphrase"), " no more");
  await user.type(screen.getByLabelText("New vault passphrase again"), "short no more");
  await user.click(screen.getByRole("button", { name: "Change it" }));
  await screen.findByText("That passphrase does not open it.");
  expect([host.changed, (old as HTMLInputElement).value]).toEqual([[], ""]);
  await user.type(old, "right");
  expect(await seriousFindings()).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Change it" }));
  await screen.findByText(/The new vault passphrase is in force/);
  expect(host.changed).toEqual([{ of: "vault", old: "right", next: "short no more" }]);
  expect(document.querySelector("input")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Change the approval passphrase" }));
  screen.getByLabelText("Approval passphrase as it is");
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  expect(document.querySelector("input")).toBeNull();
});

test("where the keychain keeps the keys there is one passphrase to change, and none on a page that no terminal opened", async () => {
  shown({ made: true, approval: true, open: true, vault: "keychain" });
  await screen.findByRole("button", { name: "Change the approval passphrase" });
  expect(screen.queryByRole("button", { name: "Change the vault passphrase" })).toBeNull();
});

test("a page that no terminal opened makes and unlocks nothing, and says what to do", async () => {
  shown({ at_terminal: false });
  await screen.findByText("hermit open");
  screen.getByText("hermit keys init");
  expect(document.querySelector("input")).toBeNull();
});
