// What is refused is said without losing the rest.
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { Desk } from "~/host/desk";
import { Refused } from "~/host/host";
import { KeepKey, MakeKeys, OpenKeys } from "./Keys";

function desk(more: Partial<Desk>): { desk: Desk; left: () => number } {
  let left = 0;
  const leave = () => { left += 1; return Promise.resolve(); };
  return { desk: { ...({} as Desk), ...more, leave }, left: () => left };
}

test("keys are made once the passphrases are long enough and the same twice, each its own", async () => {
  const made: unknown[] = [];
  const { desk: here, left } = desk({ makeKeys: (...words) => { made.push(words); return Promise.resolve(); } });
  const user = userEvent.setup();
  render(<MakeKeys desk={here} />);
  const make = screen.getByRole("button", { name: "Make keys" });
  expect(document.activeElement).toBe(screen.getByLabelText("Approval passphrase"));
  expect(screen.getByText("The approval passphrase needs at least 8 characters")).toBeTruthy();
  await user.type(screen.getByLabelText("Approval passphrase"), "a yes of words");
  await user.type(screen.getByLabelText("Approval passphrase again"), "a yes of wards");
  expect(screen.getByText("They differ")).toBeTruthy();
  await user.click(make);
  expect(made).toEqual([]);
  await user.clear(screen.getByLabelText("Approval passphrase again"));
  await user.type(screen.getByLabelText("Approval passphrase again"), "a yes of words");
  await user.click(screen.getByRole("radio", { name: /A file with a passphrase/ }));
  await user.type(screen.getByLabelText("Vault passphrase"), "a yes of words");
  await user.type(screen.getByLabelText("Vault passphrase again"), "a yes of words");
  expect(make.getAttribute("title")).toBe("The two passphrases have to be different");
  await user.clear(screen.getByLabelText("Vault passphrase"));
  await user.type(screen.getByLabelText("Vault passphrase"), "a vault of words");
  await user.clear(screen.getByLabelText("Vault passphrase again"));
  await user.type(screen.getByLabelText("Vault passphrase again"), "a vault of words");
  await user.click(make);
  await waitFor(() => expect(left()).toBe(1));
  expect(made).toEqual([[false, "a vault of words", "a yes of words"]]);
});

test("a wrong passphrase is said, forgotten, and may be typed again", async () => {
  const tried: string[] = [];
  const { desk: here, left } = desk({
    unlock: (words) => { tried.push(words); return words === "right" ? Promise.resolve(true) : Promise.reject(new Refused({ code: "key_locked", message: "the passphrase is wrong" })); },
  });
  const user = userEvent.setup();
  render(<OpenKeys desk={here} />);
  await user.type(screen.getByLabelText("Vault passphrase"), "wrong{Enter}");
  expect(await screen.findByText("The passphrase is wrong.")).toBeTruthy();
  expect((screen.getByLabelText("Vault passphrase") as HTMLInputElement).value).toBe("");
  await user.type(screen.getByLabelText("Vault passphrase"), "right");
  await user.click(screen.getByRole("button", { name: "Unlock" }));
  await waitFor(() => expect(left()).toBe(1));
  expect(tried).toEqual(["wrong", "right"]);
});

test("a key is named after its server, and goes with the address it is for", async () => {
  const kept: unknown[] = [];
  const { desk: here, left } = desk({ keepKey: (...words) => { kept.push(words); return Promise.resolve(); } });
  const user = userEvent.setup();
  render(<KeepKey desk={here} />);
  await user.type(screen.getByLabelText("Address of the server"), "https://api.example.org/v1");
  expect((screen.getByLabelText("Name of the key") as HTMLInputElement).value).toBe("example");
  await user.type(screen.getByLabelText("Key"), "sk-1");
  await user.click(screen.getByRole("button", { name: "Save the key" }));
  await waitFor(() => expect(left()).toBe(1));
  expect(kept).toEqual([["https://api.example.org/v1", "example", "sk-1"]]);
});
