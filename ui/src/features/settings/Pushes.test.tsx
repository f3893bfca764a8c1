// Notifications while the page is closed: turned on for this device under a name, and off for any when that was confirmed.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { type Notified, type PushHere, Refused } from "~/host/host";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import { AT, scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Pushes } from "./Pushes";

const device = (more: Partial<Notified> = {}): Notified => ({ subscription: "0a", name: "My phone", service: "push.example", origin: "https://desk.example", outcomes: false, since: AT, own: false, page: null, ...more });

function shown({ here = { is: "off" } as PushHere, devices = [] as Notified[], at_terminal = true, by_passkey = false, fails = false } = {}) {
  const host = scene({}, "passphrase");
  host.holding({ at_terminal, by_passkey, made: true, approval: true, open: true, vault: "file", no_keychain: null, chars_min: 8 });
  const asked: string[] = [];
  let now = { here, devices };
  host.pushes = {
    list: () => Promise.resolve(now),
    on: (name, outcomes) => {
      if (fails) return Promise.reject(new Refused({ code: "cancelled", message: "this browser does not allow notifications" }));
      asked.push(`on ${name} ${outcomes}`);
      now = { here: { is: "on", subscription: "0a" }, devices: [device({ name, outcomes, own: true })] };
      return Promise.resolve();
    },
    off: (subscription) => {
      asked.push(`off ${subscription}`);
      now = { here: { is: "off" }, devices: now.devices.filter((one) => one.subscription !== subscription) };
      return Promise.resolve();
    },
  };
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><Pushes /></QueryClientProvider></HostProvider>);
  return { asked, user: userEvent.setup() };
}

test("it is turned on under a name, says through whom, and is turned off when that was confirmed", async () => {
  const { asked, user } = shown();
  const on = await screen.findByRole("button", { name: "Notify this device" });
  await user.click(on);
  expect(asked).toEqual([]);
  await user.type(screen.getByLabelText("Name of this device"), "Pocket");
  await user.click(screen.getByRole("checkbox", { name: "Also when a task is done or has failed" }));
  await user.click(on);
  const status = await screen.findByRole("status");
  expect(status.textContent).toBe("This device is notified through push.example.");
  expect(await seriousFindings()).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Turn off Pocket" }));
  expect(asked).toEqual(["on Pocket true"]);
  await user.click(within(screen.getByRole("group", { name: "Turn off Pocket" })).getByRole("button", { name: "Turn it off" }));
  await screen.findByRole("button", { name: "Notify this device" });
  expect(asked).toEqual(["on Pocket true", "off 0a"]);
});

test("what the browser lacks, refuses or does not allow is said plainly", async () => {
  for (const [is, words] of [["absent", /Home Screen/], ["refused", /blocks notifications/], ["address", /address of numbers/]] as const) {
    shown({ here: { is } });
    await screen.findByText(words);
    document.body.replaceChildren();
  }
  const { user } = shown({ fails: true });
  await user.type(await screen.findByLabelText("Name of this device"), "Pocket");
  await user.click(screen.getByRole("button", { name: "Notify this device" }));
  await screen.findByText(/This browser does not allow notifications/);
});

test("a page that a passkey signed in turns it on as well", async () => {
  shown({ at_terminal: false, by_passkey: true });
  await screen.findByRole("button", { name: "Notify this device" });
});

test("a page that a program may have opened turns nothing on", async () => {
  shown({ at_terminal: false, devices: [device()] });
  await screen.findByText("hermit open --phone");
  expect(screen.queryByRole("button", { name: /Notify|Turn off/ })).toBeNull();
});
