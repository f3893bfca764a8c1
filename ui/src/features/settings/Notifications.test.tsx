// The browser is asked for permission on a click only, and a notification is made of what newly waits, elsewhere.
import { render, renderHook, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useCalls } from "~/screen/notify";
import { HostProvider } from "~/ipc/client";
import { scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Notifications } from "./Notifications";

const asked = vi.fn();
const made: { title: string; body: string }[] = [];
let answer: NotificationPermission = "granted";

class Made {
  static permission: NotificationPermission = "default";
  static requestPermission(): Promise<NotificationPermission> {
    asked();
    Made.permission = answer;
    return Promise.resolve(answer);
  }
  onclick: (() => void) | null = null;
  constructor(title: string, { body }: { body: string }) { made.push({ title, body }); }
  close() { /* nothing is shown */ }
}

beforeEach(() => {
  vi.stubGlobal("Notification", Made);
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  Made.permission = "default";
  answer = "granted";
  made.length = 0;
  asked.mockClear();
  localStorage.clear();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const shown = () => render(<HostProvider value={scene({}, "passphrase")}><Notifications /></HostProvider>);

test("permission is asked for on a click, and what newly waits is told once while nobody looks", async () => {
  const user = userEvent.setup();
  shown();
  const hook = renderHook(({ n }) => useCalls(n, () => undefined), { initialProps: { n: 1 } });
  hook.rerender({ n: 2 });
  expect([asked.mock.calls.length, made.length, document.title]).toEqual([0, 0, "(2) Hermit"]);
  await user.click(screen.getByRole("checkbox", { name: "Notify me when something waits for me" }));
  expect(asked).toHaveBeenCalledTimes(1);
  hook.rerender({ n: 3 });
  hook.rerender({ n: 1 });
  expect(made).toEqual([{ title: "Hermit waits for you", body: "3 things to look at." }]);
  vi.mocked(document.hasFocus).mockReturnValue(true);
  hook.rerender({ n: 2 });
  hook.rerender({ n: 0 });
  expect([made.length, document.title]).toEqual([1, "Hermit"]);
  expect(await seriousFindings()).toEqual([]);
});

test("where the browser blocks them it is said how to allow them", async () => {
  answer = "denied";
  const user = userEvent.setup();
  shown();
  await user.click(screen.getByRole("checkbox"));
  await screen.findByText(/blocks notifications/);
  expect(screen.queryByRole("checkbox")).toBeNull();
});
