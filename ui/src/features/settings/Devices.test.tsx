// Other devices: how one is reached, the link for it, and ending its page.
import { QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { OpenPage } from "~/host/host";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import { AT, scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Devices } from "./Devices";

const page = (number: number, more: Partial<OpenPage> = {}): OpenPage => ({ number, own: false, elsewhere: false, at_terminal: true, by_passkey: false, opened_at: AT, used_at: AT, ...more });

function shown({ origin = "https://desk.example" as string | null, at_terminal = true, by_passkey = false, sessions = [page(1, { own: true }), page(2, { elsewhere: true })] } = {}) {
  const host = scene({}, "passphrase");
  host.holding({ at_terminal, by_passkey, made: true, approval: true, open: true, vault: "file", no_keychain: null, chars_min: 8 });
  let open = sessions;
  host.devices = {
    list: () => Promise.resolve({ origin, sessions: open }),
    link: () => Promise.resolve({ url: "https://desk.example/#token=0a", expires_at: AT, code: ["101", "010", "101"] }),
    end: (number) => { open = open.filter((one) => one.number !== number); return Promise.resolve({ origin, sessions: open }); },
  };
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><Devices /></QueryClientProvider></HostProvider>);
  return userEvent.setup();
}

test("a link for a phone is made when it is asked for, as text and for a camera", async () => {
  const user = shown();
  await user.click(await screen.findByRole("button", { name: "Make a link" }));
  await screen.findByText("https://desk.example/#token=0a");
  const code = screen.getByRole("img", { name: "The link as a code for a camera" });
  expect(code.querySelector("path")?.getAttribute("d")).toBe(["0 0", "2 0", "1 1", "0 2", "2 2"].map((at) => `M${at}h1v1h-1z`).join(""));
  expect(await seriousFindings()).toEqual([]);
});

test("a page elsewhere is ended when that was confirmed, and this page is not", async () => {
  const user = shown();
  await user.click(await screen.findByRole("button", { name: "End the page elsewhere" }));
  await screen.findByText(/At https:\/\/desk\.example/);
  await user.click(screen.getByRole("button", { name: "End it" }));
  await screen.findByText(", this page");
  await expect.poll(() => screen.queryByText(/At https:\/\/desk\.example/)).toBeNull();
  expect(screen.queryByRole("button", { name: /^End/ })).toBeNull();
});

test("without an address for other devices there is no link, and the page says what to do", async () => {
  shown({ origin: null });
  await screen.findByText("hermit serve --origin https://NAME");
  expect(screen.queryByRole("button", { name: "Make a link" })).toBeNull();
});

test("a page that came from elsewhere makes no links", async () => {
  shown({ sessions: [page(1, { own: true, elsewhere: true })] });
  await screen.findByText(/You are here from another device/);
  expect(screen.queryByRole("button", { name: "Make a link" })).toBeNull();
});

test("a page that a passkey signed in sees the others, and makes no links", async () => {
  shown({ at_terminal: false, by_passkey: true, sessions: [page(1, { own: true, by_passkey: true }), page(2)] });
  await screen.findByText(/A passkey signed this page in/);
  await screen.findByRole("button", { name: "End the page on this machine" });
  expect(screen.queryByRole("button", { name: "Make a link" })).toBeNull();
});

test("a page that a program opened is told where to go", async () => {
  shown({ at_terminal: false });
  await screen.findByText("hermit open");
  expect(screen.queryByRole("list")).toBeNull();
});
