// Adopting a tried change, and going back: what is asked, and what only a terminal can do.
import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { expect, test } from "vitest";
import type { Adoption } from "~/ipc/generated/adoptions";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import { DONE, scene } from "~/test/scene";
import { seriousFindings } from "~/test/show";
import { Adopt, Adoptions } from "./Adopt";

const sent = { task_id: "task_new", ingress_id: "ing_1", duplicate: false };
const adoption = (more: Partial<Adoption> = {}): Adoption => ({
  trial_id: "trial_1", kind: "policy", says: "It asks less\u202e", patch_sha256: "ab".repeat(32), task_id: DONE, adopted_at: 1, at_work: true, returned_at: null,
  why: null, reviewers: [], constitutional: [], ...more,
});

function open(adoptions: Adoption[], part: ReactNode) {
  const host = scene({ "adoptions.list": { adoptions }, "adoptions.propose": sent, "adoptions.back": sent });
  const router = createRouter({ routeTree: createRootRoute({ component: () => <main>{part}</main> }), history: createMemoryHistory({ initialEntries: ["/"] }) });
  render(<HostProvider value={host}><QueryClientProvider client={makeQueryClient()}><RouterProvider router={router as never} /></QueryClientProvider></HostProvider>);
  const asked = (name: string) => host.asked.filter((one) => one.name === name).map((one) => one.params);
  return { asked, user: userEvent.setup() };
}

test("a better change is put to its person by a card, and nothing is offered for what is no better", async () => {
  const { asked, user } = open([], <><Adopt trial="trial_1" kind="policy" outcome="better" constitutional={[]} /><Adopt trial="trial_2" kind="policy" outcome="worse" constitutional={[]} /></>);
  expect(await screen.findAllByRole("button", { name: "Ask me to adopt it" })).toHaveLength(1);
  await user.click(screen.getByRole("button", { name: "Ask me to adopt it" }));
  expect((await screen.findByRole("link", { name: "Review the card" })).getAttribute("href")).toContain("task_new");
  expect(asked("adoptions.propose")).toEqual([{ trial: "trial_1", reviews: [], although_same: false, signed: [], looked: [], channel: "app" }]);
  expect(await seriousFindings()).toEqual([]);
});

test("a program needs two reviews, and what keeps Hermit in check is signed for at a terminal alone", async () => {
  const { asked, user } = open([], <Adopt trial="trial_1" kind="code" outcome="better" constitutional={[]} />);
  const button = await screen.findByRole("button", { name: /Ask me to adopt it/ });
  expect(button.getAttribute("aria-disabled")).toBe("true");
  for (const at of [1, 2]) await user.type(screen.getByLabelText(new RegExp(`Review ${at}`)), `review ${at}`);
  await user.click(button);
  expect(asked("adoptions.propose")).toMatchObject([{ reviews: ["review 1", "review 2"] }]);
});

test("the command is shown where a terminal is needed, and no button is", async () => {
  open([], <Adopt trial="trial_1" kind="code" outcome="better" constitutional={["gate", "policy"]} />);
  expect((await screen.findByLabelText("Command")).textContent).toBe("hermit successor adopt trial_1 --review FILE --review FILE");
  expect(screen.queryByRole("button")).toBeNull();
});

test("the way back stands at the last change of its kind that is at work, and what was returned from says why", async () => {
  const { asked, user } = open([adoption({ trial_id: "trial_2", adopted_at: 2 }), adoption(), adoption({ trial_id: "trial_0", kind: "code", at_work: false, returned_at: 3, why: "it ended with 3" })], <Adoptions />);
  const last = await screen.findByRole("group", { name: "Adopted change trial_2" });
  expect(within(screen.getByRole("group", { name: "Adopted change trial_1" })).queryByRole("button")).toBeNull();
  expect(screen.getByRole("group", { name: "Adopted change trial_0" }).textContent).toContain("it ended with 3");
  expect(last.textContent).not.toContain("\u202e");
  await user.click(within(last).getByRole("button", { name: "Go back to what was before" }));
  expect((await within(last).findByRole("link", { name: "Review the card" })).getAttribute("href")).toContain("task_new");
  expect(asked("adoptions.back")).toEqual([{ kind: "policy", reason: null, channel: "app" }]);
  expect(await seriousFindings()).toEqual([]);
});
