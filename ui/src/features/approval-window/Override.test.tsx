// A denial that is overridden: a reason first, then the sentence, then a hand that stays.
import { QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { Desk } from "~/host/desk";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import type { Judged } from "~/ipc/generated/policy";
import { scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Override } from "./Override";

const ACT = "act_01a2000000007000800000000000000e";
const HOLD_MS = 40;

function shown() {
  const done: string[] = [];
  const never = async () => { throw new Error("not asked here"); };
  const desk: Desk = {
    subject: async () => ({ kind: "override", act: ACT }), shown: never, grant: never, offers: never, makeKeys: never, unlock: never, keepKey: never,
    securityKeys: never, grantByKey: never, keyWantsTouch: never, leaveKey: never,
    press: async (down) => { done.push(down ? "down" : "up"); },
    prepareOverride: async (act, reason, hours, uses) => ({
      words: `OVERRIDE policy for ${act}: ${hours} hours, ${uses} times, because ${reason}`, denied: {} as Judged,
      armed: { arm_ms: 5, hold_ms: HOLD_MS, needs_passphrase: true, has_key: true },
    }),
    allowOverride: async (_act, words, passphrase) => { done.push(`${passphrase}: ${words}`); return { grant_id: "grt_1", task_id: "task_1" }; },
    leave: async () => { done.push("leave"); },
  };
  const host = scene({}, "window");
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><Override act={ACT} desk={desk} /></QueryClientProvider></HostProvider>);
  return { done, user: userEvent.setup() };
}

test("what is overridden is shown with its reasons, and signed only as the sentence that was read", async () => {
  const { done, user } = shown();
  await screen.findByText(/A deletion is asked about/);
  const hold = screen.getByRole("button", { name: "Hold to override" });
  expect(hold.getAttribute("title")).toBe("Read the sentence first");
  await user.type(screen.getByLabelText("Why you override it"), "the copy is kept elsewhere");
  await user.click(screen.getByRole("button", { name: "Show what I would sign" }));
  const words = `OVERRIDE policy for ${ACT}: 1 hours, 1 times, because the copy is kept elsewhere`;
  await screen.findByText(words);
  await user.type(screen.getByLabelText("Approval passphrase"), "words");
  // Another word is another sentence, which nobody has read.
  await user.type(screen.getByLabelText("Why you override it"), ".");
  expect(hold.getAttribute("title")).toBe("Read the sentence first");
  fireEvent.pointerDown(hold, { button: 0 });
  expect(done).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Show what I would sign" }));
  await waitFor(() => expect(hold.getAttribute("aria-disabled")).toBeNull());
  fireEvent.pointerDown(hold, { button: 0 });
  await screen.findByText(/Signed. When this action is proposed again you are asked/);
  expect(done).toContain(`words: ${words}.`);
});

test("without a reason, or beyond its bounds, nothing can be drafted; a reader of screens finds nothing serious", async () => {
  const { user } = shown();
  const draft = await screen.findByRole("button", { name: "Show what I would sign" });
  expect(draft.getAttribute("title")).toBe("Say why first");
  await user.type(screen.getByLabelText("Why you override it"), "because");
  await user.clear(screen.getByLabelText("For so many hours"));
  await user.type(screen.getByLabelText("For so many hours"), "25");
  expect(draft.getAttribute("title")).toBe("Correct hours and uses first");
  expect(await seriousFindings()).toEqual([]);
});
