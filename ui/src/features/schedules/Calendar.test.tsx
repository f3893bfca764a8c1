// The calendar, the history and what a schedule would ask: told by the host, in words, and reached with the keyboard.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Rehearsal, Schedule, TimeEntry, Times } from "~/ipc/generated/schedules";
import { AT, DONE, SCHEDULE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { column, daysOf, later } from "./month";

const entry = (more: Partial<TimeEntry>): TimeEntry => ({
  schedule: "morning", at: AT, day: "2026-11-22", time: "08:30", state: "due", why: null, times: 1, until: null, because: null, task_id: null, run_status: null, ...more,
});
const TIMES: Times = {
  from: AT - 21 * 86_400_000, to: AT + 9 * 86_400_000, zone: "Europe/Berlin", today: "2026-11-22", cut: ["often"], left_out: 0,
  entries: [
    entry({ at: AT - 3, day: "2026-11-19", state: "passed_over", why: "missed", times: 4, until: "Friday, 20 November 2026, 08:30" }),
    entry({ at: AT - 2, day: "2026-11-21", state: "fired", task_id: DONE, run_status: "completed", because: "scan.pdf landed" }),
    entry({ at: AT - 1, day: "2026-11-21", time: "09:00" }),
    entry({ at: AT + 1, day: "2026-11-23" }),
  ],
};
const REHEARSED: Rehearsal = {
  name: "morning", version: 1, summary: "Of the 3 acts of its last 2 runs, 1 goes through under a standing grant, 1 is allowed by policy itself, 1 would ask you.", runs: 2, acts: 3, allowed: 1, granted: 1, asked: 1, denied: 0, lesser: 0,
  unreadable: 2, is_cut: false, grants: [{ grant_id: "grt_1", words: "move files below Documents", left: 7, expires_at: AT + 86_400_000, acts: 1 }],
  rows: [
    { action_request_id: "act_1", task_id: DONE, slot_at: AT, summary: "list the folder", verdict: "allow", grant_id: null, rules: ["base.read_local"], reason: "looking is allowed", was: "allow", answered: null },
    { action_request_id: "act_2", task_id: DONE, slot_at: AT, summary: "move 1 file", verdict: "allow", grant_id: "grt_1", rules: ["standing:grt_1"], reason: "", was: "require_approval", answered: "granted" },
    { action_request_id: "act_3", task_id: DONE, slot_at: AT, summary: "delete 1 file", verdict: "require_approval", grant_id: null, rules: ["base.delete"], reason: "", was: "require_approval", answered: "denied" },
  ],
};
const answers = { "schedules.calendar": TIMES, "schedules.rehearse": REHEARSED };

test("days and months are reckoned without a clock, also over the end of a year and in February", () => {
  expect(later("2026-12", 1)).toBe("2027-01");
  expect(later("2026-01", -1)).toBe("2025-12");
  expect(daysOf("2028-02")).toHaveLength(29);
  expect([column("2026-11-01"), column("2026-11-02")]).toEqual([7, 1]);
});

test("a month tells day by day what ran, what was skipped and why, and what is to come", async () => {
  const host = scene(answers);
  const { user: person } = show(host, "/schedules");
  await person.click(await screen.findByRole("button", { name: "Calendar" }));
  const month = within(await screen.findByRole("list", { name: "November 2026" }));
  expect(screen.getByRole("heading", { name: "November 2026" })).toBeTruthy();
  const day = (name: RegExp) => month.getByRole("heading", { name }).closest("li") as HTMLElement;
  expect(day(/Sunday, November 22, today/).getAttribute("aria-current")).toBe("date");
  const ran = within(day(/Saturday, November 21/));
  expect(ran.getByRole("link", { name: /08:30 morning/ }).getAttribute("href")).toContain(DONE);
  expect(ran.getByText("Done")).toBeTruthy();
  expect(ran.getByText("Because scan.pdf landed.", { exact: false })).toBeTruthy();
  expect(ran.getByText("Not looked at yet")).toBeTruthy();
  expect(within(day(/November 19/)).getByText("4 times until Friday, 20 November 2026, 08:30. Hermit was not open to see it in time.")).toBeTruthy();
  expect(within(day(/November 23/)).getByText("To come")).toBeTruthy();
  expect(screen.getByText(/Not every time is shown of often/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  await person.click(screen.getByRole("button", { name: "Next month" }));
  await person.selectOptions(screen.getByLabelText("Schedule"), "morning");
  await waitFor(() => expect(host.asked.filter((one) => one.name === "schedules.calendar").at(-1)?.params).toMatchObject({ month: "2026-12", name: "morning", from: null }));
  await person.click(screen.getByRole("button", { name: "This month" }));
  expect(await screen.findByRole("heading", { name: "November 2026" })).toBeTruthy();
});

test("a day with many times shows some, and all of them when asked", async () => {
  const entries = Array.from({ length: 9 }, (_, at) => entry({ at: AT + at, time: `0${at}:00` }));
  const { user: person } = show(scene({ "schedules.calendar": { ...TIMES, cut: [], entries } }), "/schedules");
  await person.click(await screen.findByRole("button", { name: "Calendar" }));
  const more = await screen.findByText(/6 more times/);
  expect(more.textContent).toBe("6 more times on Sunday, November 22");
  await person.click(more);
  expect(screen.getAllByText("To come")).toHaveLength(9);
});

test("a schedule tells what its last runs would ask only when asked, with rules and grants", async () => {
  const host = scene(answers);
  const { user: person } = show(host, "/schedules");
  const card = within(await screen.findByRole("article", { name: "morning" }));
  await person.click(card.getByText(/3 runs, 1 time passed over/));
  expect(host.asked.some((one) => one.name === "schedules.rehearse")).toBe(false);
  await person.click(card.getByRole("button", { name: "What would it ask?" }));
  expect(await card.findByText(REHEARSED.summary)).toBeTruthy();
  expect(card.getByText(/2 more acts cannot be judged again/)).toBeTruthy();
  expect(card.getByText(/move files below Documents/)).toBeTruthy();
  await person.click(card.getByText("Each act"));
  for (const words of ["Allowed by policy", "Allowed by a standing grant", "Would ask you"]) expect(card.getByText(words)).toBeTruthy();
  expect(card.getByText(/base\.delete/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("the history of a schedule is told newest first, with reasons", async () => {
  const { user: person } = show(scene(answers), "/schedules");
  const card = within(await screen.findByRole("article", { name: "morning" }));
  await person.click(card.getByText(/3 runs, 1 time passed over/));
  await person.click(card.getByRole("button", { name: "Show its history" }));
  const history = within(await card.findByRole("region", { name: "History of morning" }));
  const rows = (await history.findAllByRole("listitem")).map((row) => row.textContent);
  expect(rows[0]).toContain("2026-11-23");
  expect(rows.at(-1)).toContain("Hermit was not open to see it in time");
});

test("what waits for files says what it watches, and a new one is asked for with its files and its quiet time", async () => {
  const files = { kind: "files" as const, globs: ["*.pdf"], changes: "landed" as const, quiet_ms: 2_000, ref_name: null, of: null, end: null, hook: null };
  const scans: Schedule = { ...SCHEDULE, name: "scans", said: "when a file lands here", rule: "when a file lands here", waits_for: files, unseen: "folder_missing", next: [] };
  const host = scene({
    "schedules.list": { schedules: [scans] }, "schedules.keep": { task_id: DONE, ingress_id: "ing_1", duplicate: false },
    "schedules.preview": { rule: "when a file lands", zone: "UTC", waits_for: { ...files, globs: [] }, next: [], only: [] },
  });
  const { user: person } = show(host, "/schedules");
  const card = within(await screen.findByRole("article", { name: "scans" }));
  expect(card.getByText("Watches /home/you/atlas-billing")).toBeTruthy();
  expect(card.getByText(/The folder is not there/)).toBeTruthy();
  expect(card.getByText("Files that land there: *.pdf")).toBeTruthy();
  await person.click(screen.getByRole("button", { name: "New schedule" }));
  const form = within(screen.getByRole("form", { name: "New schedule" }));
  await person.type(form.getByLabelText("When"), "when a file lands");
  expect(await form.findByText(/What it watches/)).toBeTruthy();
  await person.type(form.getByLabelText(/Which files/), "*.pdf, scans/**");
  await person.type(form.getByLabelText(/Seconds that a file/), "10");
  await person.type(form.getByLabelText("Folder to work in"), "/home/you/scans");
  await person.selectOptions(form.getByLabelText("Model or playbook"), form.getByRole("option", { name: /^Tidy/ }));
  await person.click(form.getByLabelText(/Report only runs that changed something/));
  await person.click(form.getByRole("button", { name: "Ask me to keep it" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "schedules.keep")?.params).toMatchObject({ globs: ["*.pdf", "scans/**"], quiet_seconds: 10, quiet: true, said: "when a file lands" }));
});

test("what waits for a hook says where it is called and how a call is signed, and that none is taken without a secret", async () => {
  const on = { kind: "hook" as const, globs: [], changes: null, quiet_ms: null, ref_name: null, of: null, end: null, hook: "deploy" };
  const HANDLE = "hook.deploy";
  const hook = { name: "deploy", path: "/v1/hooks/deploy", secret: HANDLE, has_secret: false, called: 3, waiting: 2, refused: 40, last_refused: "time" as const };
  const said = "when the hook deploy is called";
  const host = scene({ "schedules.list": { schedules: [{ ...SCHEDULE, name: "roll-out", said, rule: said, waits_for: on, hook, next: [] }, { ...SCHEDULE, name: "other", said, rule: said, waits_for: on, hook: { ...hook, has_secret: true, refused: 0, last_refused: null }, next: [] }] } });
  show(host, "/schedules");
  const card = within(await screen.findByRole("article", { name: "roll-out" }));
  expect(card.getByText("When the hook deploy is called", { selector: "b *, b" })).toBeTruthy();
  expect(card.getByText(/No call is taken until it has a secret/)).toBeTruthy();
  expect(card.getAllByText(/\/v1\/hooks\/deploy/).length).toBeGreaterThan(0);
  expect(card.getByText("3 calls, 2 of them wait for a run")).toBeTruthy();
  expect(card.getByText("40 calls; the last one was signed more than 5 minutes before or after it came")).toBeTruthy();
  expect(card.getByText(/webhook-signature: v1,\$sig/)).toBeTruthy();
  expect(within(screen.getByRole("article", { name: "other" })).queryByText(/No call is taken/)).toBeNull();
  expect(await seriousFindings()).toEqual([]);
});

test("what waits for events of relays, or for another machine, says which, and that it cannot be seen", async () => {
  const none = { globs: [], changes: null, quiet_ms: null, ref_name: null, of: null, end: null, hook: null };
  const events = { ...none, kind: "events" as const, events: "a Nostr event of kind 1 tagged t=hermit", relays: ["wss://relay.example"], every_minutes: 1 };
  const machine = { ...none, kind: "machine" as const, machine: "laptop", machine_event: "silent" as const, silent_minutes: 30 };
  const waiting = (name: string, on: Schedule["waits_for"]) => ({ ...SCHEDULE, name, said: name, rule: name, waits_for: on, next: [] });
  const host = scene({ "schedules.list": { schedules: [waiting("posts", events), { ...waiting("watch", machine), unseen: "machine_missing" }] } });
  const { user } = show(host, "/schedules");
  const posts = within(await screen.findByRole("article", { name: "posts" }));
  await user.click(posts.getByText(/3 runs, 1 time passed over/));
  expect(posts.getByText("Whether a Nostr event of kind 1 tagged t=hermit comes to wss://relay.example")).toBeTruthy();
  expect(posts.getByText("Every minute; the relays are asked for such events, and nothing else is sent to them")).toBeTruthy();
  const watch = within(await screen.findByRole("article", { name: "watch" }));
  expect(watch.getByText("When the machine laptop is silent for 30 minutes", { selector: "b *, b" })).toBeTruthy();
  expect(watch.getByText(/The machine is not paired, or the mesh is off here/)).toBeTruthy();
});

test("what waits for a resource of a tool server says which, how often it is looked at, and that it cannot be seen", async () => {
  const on = { kind: "resource" as const, globs: [], changes: null, quiet_ms: null, ref_name: null, of: null, end: null, hook: null, server: "notes", resource: "docs://rates", every_minutes: 10 };
  const said = "when the resource docs://rates of the server notes changes, looked at every 10 minutes";
  const host = scene({ "schedules.list": { schedules: [{ ...SCHEDULE, name: "rates", said, rule: said, waits_for: on, unseen: "server_missing", next: [] }] } });
  const { user } = show(host, "/schedules");
  const card = within(await screen.findByRole("article", { name: "rates" }));
  expect(card.getByText("When docs://rates of notes changes", { selector: "b *, b" })).toBeTruthy();
  expect(card.getByText(/The tool server is not there as it was registered, or does not answer/)).toBeTruthy();
  await user.click(card.getByText(/3 runs, 1 time passed over/));
  expect(card.getByText("What docs://rates of the tool server notes reads")).toBeTruthy();
  expect(card.getByText(/^Every 10 minutes; the server is started for it in its sandbox, without a network$/)).toBeTruthy();
});
