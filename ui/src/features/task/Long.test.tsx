// A task with a long story: only the rows in sight exist, and everything that leads to a row still leads there.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DONE, event, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const EVENTS = 5_000;
const ROW = 26;
const HEIGHT = 520;

/** A story in which each event of an attempt is told: nothing but acts that were proposed and carried out. */
const long = Array.from({ length: EVENTS }, (_, at) => {
  const seq = at + 1;
  if (seq === 1) return event(1, "task.created", { task: { goal: "Go through everything" } });
  if (seq === 2) return event(2, "step.created", { step: { step_id: "step_1", title: "Go through everything" } });
  if (seq === 3) return event(3, "attempt.created", { attempt: { attempt_no: 1 } });
  const act = `act_${Math.floor(seq / 2)}`;
  return seq % 2 === 0
    ? event(seq, "action.requested", { action_request_id: act, action_class: "write_local", summary: `write page ${seq}` })
    : event(seq, "effect.observed", { action_request_id: act, result_code: "succeeded" });
});
const told = EVENTS - 1;

beforeEach(() => {
  // jsdom lays nothing out: what scrolls is 20 rows high, and every row is one.
  const height = (element: HTMLElement) => (element.dataset["index"] === undefined ? HEIGHT : ROW);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockImplementation(function (this: HTMLElement) { return height(this); });
  vi.spyOn(HTMLElement.prototype, "offsetWidth", "get").mockReturnValue(300);
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(HEIGHT);
  vi.spyOn(Element.prototype, "scrollHeight", "get").mockReturnValue(EVENTS * ROW + 24);
  Element.prototype.scrollTo = function (this: Element, to?: ScrollToOptions | number) {
    this.scrollTop = typeof to === "number" ? to : to?.top ?? 0;
    setTimeout(() => this.dispatchEvent(new Event("scroll")));
  } as typeof Element.prototype.scrollTo;
});
afterEach(() => vi.restoreAllMocks());

const host = () => scene({
  "task_events.list": ({ task, after_seq }) => {
    const from = after_seq ?? 0;
    return { task_id: task, events: long.slice(from, from + 500), last_seq: EVENTS, ended: true };
  },
});
const opened = async (see = "") => {
  const shown = show(host(), `/task/${DONE}${see}`);
  const list = await screen.findByRole("list", { name: "What happened" });
  return { ...shown, list };
};
const row = (list: HTMLElement, words: string) => within(list).findByRole("button", { name: new RegExp(words) });

test("of a story of 5,000 events only a few rows exist, and each knows its place among all", async () => {
  const { list } = await opened();
  const rows = within(list).getAllByRole("listitem");
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.length).toBeLessThan(80);
  expect(rows[0]?.getAttribute("aria-setsize")).toBe(String(told));
  expect(screen.getByText("5,000 events")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("an event that a link names is chosen and in sight, wherever in the story it is", async () => {
  const { list } = await opened("?see=evt_3001");
  await waitFor(() => expect(within(list).getAllByRole("button", { current: true })).toHaveLength(1));
  const there = within(list).getByRole("button", { current: true });
  expect(there.closest("[aria-posinset]")?.getAttribute("aria-posinset")).toBe("3000");
  await waitFor(() => expect(list.scrollTop).toBeGreaterThan(2_900 * ROW));
  const details = screen.getByRole("region", { name: "Details of what is chosen" });
  expect(await within(details).findByText("event 3001")).toBeTruthy();
  expect(within(list).getAllByRole("listitem").length).toBeLessThan(80);
});

test("every event is a list of its own, in which the event that is chosen is in sight", async () => {
  const { user } = await opened("?see=evt_4321");
  await user.click(screen.getByRole("button", { name: "Every event" }));
  const list = await screen.findByRole("list", { name: "Every event" });
  await waitFor(() => expect(within(list).getByRole("button", { current: true }).textContent).toContain("4321"));
  expect(within(list).getAllByRole("listitem").length).toBeLessThan(80);
});

test("what is looked for is found where no row exists yet, and Enter goes from one to the next", async () => {
  const { user, list } = await opened();
  await user.keyboard("/");
  const field = await screen.findByRole("searchbox", { name: "Find in the timeline" });
  await user.type(field, "page 40");
  expect(await screen.findByText("56")).toBeTruthy();
  await user.keyboard("{Enter}{Enter}");
  expect(await screen.findByText("2 of 56")).toBeTruthy();
  await user.clear(field);
  await user.type(field, "page 4998{Enter}");
  await row(list, "write page 4998");
  await waitFor(() => expect(list.scrollTop).toBeGreaterThan(4_900 * ROW));
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("searchbox", { name: "Find in the timeline" })).toBeNull();
});

test("the story is one stop of Tab, and arrows, Home and End go through all of it", async () => {
  const { user, list } = await opened();
  const stops = within(list).getAllByRole("button").filter((one) => one.tabIndex === 0);
  expect(stops).toHaveLength(1);
  stops[0]?.focus();
  await user.keyboard("{End}");
  await waitFor(() => expect(document.activeElement?.closest("[aria-posinset]")?.getAttribute("aria-posinset")).toBe(String(told)));
  await user.keyboard("{ArrowUp}");
  expect(document.activeElement?.closest("[aria-posinset]")?.getAttribute("aria-posinset")).toBe(String(told - 1));
  await user.keyboard("{Home}");
  expect(document.activeElement?.textContent).toContain("Go through everything");
});

test("at an earlier moment the story ends there, and its end is in sight", async () => {
  const { user, list } = await opened();
  const size = () => Number(list.querySelector("[aria-setsize]")?.getAttribute("aria-setsize"));
  fireEvent.change(screen.getByRole("slider", { name: "Moment" }), { target: { value: "2000" } });
  await waitFor(() => expect(size()).toBe(1_999));
  expect(screen.getByText("As it was")).toBeTruthy();
  await waitFor(() => expect(list.querySelector("[aria-posinset='1999']")).toBeTruthy());
  fireEvent.change(screen.getByRole("slider", { name: "Moment" }), { target: { value: "30" } });
  await waitFor(() => expect(within(list).getAllByRole("listitem")).toHaveLength(29));
  await user.click(screen.getByRole("button", { name: "To now" }));
  await waitFor(() => expect(size()).toBe(told));
});
