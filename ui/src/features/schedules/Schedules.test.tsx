// Schedules on their page: how a time is read is seen before anything is asked, and each act is one question to the host.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DESK, MESH, MESH_OFF } from "~/test/mesh";
import { DONE, SCHEDULE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const TASK = { task_id: DONE, ingress_id: "ing_1", duplicate: false };

test("a schedule tells when it is due next, what it did, and why times were passed over", async () => {
  const { user: person } = show(scene(), "/schedules");
  const card = await screen.findByRole("article", { name: "morning" });
  expect(within(card).getByText("Monday, 23 November 2026, 08:30", { selector: "b" })).toBeTruthy();
  await person.click(within(card).getByText(/3 runs, 1 time passed over/));
  expect(within(card).getByText(/The run before was still at work/)).toBeTruthy();
  expect(within(card).getByText("Tuesday, 24 November 2026, 08:30")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
});

test("a schedule of the mesh says who runs it, who cannot, and which of its runs does not count", async () => {
  const mesh = { nodes: ["laptop", "server"], holder: "server", rank: 2, is_here: false, unready: ["laptop"] };
  const runs = SCHEDULE.runs.map((run) => ({ ...run, counts_instead: "server" }));
  const here = { ...mesh, holder: "laptop", rank: 1, is_here: true, unready: [] };
  const none = { ...mesh, holder: null, rank: null, unready: [] };
  const schedules = [{ ...SCHEDULE, held_by: mesh, runs }, { ...SCHEDULE, name: "noon", held_by: here }, { ...SCHEDULE, name: "night", held_by: none }];
  const { user: person } = show(scene({ "schedules.list": { schedules } }), "/schedules");
  const card = await screen.findByRole("article", { name: "morning" });
  expect(card.textContent).toContain("server runs it, 2 of 2 (laptop, server). Cannot run it now: laptop.");
  await person.click(within(card).getByText(/3 runs/));
  expect(card.textContent).toContain("Not counted: server began it too, and its run counts");
  const noon = screen.getByRole("article", { name: "noon" });
  expect(noon.textContent).toContain("This machine runs it, 1 of 2 (laptop, server).");
  expect(noon.textContent).not.toContain("Not counted");
  expect(screen.getByRole("article", { name: "night" }).textContent).toContain("No machine runs it yet (laptop, server).");
});

test("a schedule of the mesh says that it waits where no other machine can be reached, and only there", async () => {
  const held = { nodes: ["laptop", "server"], holder: "laptop", rank: 1, is_here: true, unready: [] };
  const schedules = [{ ...SCHEDULE, held_by: { ...held, is_cut_off: true } }, { ...SCHEDULE, name: "noon", held_by: { ...held, is_cut_off: false } }, { ...SCHEDULE, name: "night", held_by: held }, { ...SCHEDULE, name: "alone" }];
  const host = scene({ "schedules.list": { schedules } });
  show(host, "/schedules");
  const card = within(await screen.findByRole("article", { name: "morning" }));
  const words = /Waits here: no other machine can be reached, so this one begins nothing of it until a relay or another machine is connected/;
  expect(card.getByText(words).getAttribute("role")).toBe("status");
  expect(card.getByRole("link", { name: "See which ways are tried" }).getAttribute("href")).toBe("/machines");
  for (const name of ["noon", "night", "alone"]) expect(within(screen.getByRole("article", { name })).queryByText(words)).toBeNull();
  expect(await seriousFindings()).toEqual([]);
});

test("which machines run a schedule is chosen by rank, and it is taken back to this one alone", async () => {
  const held = { nodes: ["server", "desk"], holder: "server", rank: 1, is_here: true, unready: [] };
  const files = { ...SCHEDULE.waits_for, kind: "files", globs: [], changes: null, quiet_ms: null } as unknown as NonNullable<typeof SCHEDULE.waits_for>;
  const schedules = [SCHEDULE, { ...SCHEDULE, name: "noon", held_by: held }, { ...SCHEDULE, name: "scans", waits_for: files }];
  const answer = { schedule: "morning", nodes: ["desk", "server"], holder: null, epoch: 0 };
  const host = scene({ "schedules.list": { schedules }, "mesh.hold": answer });
  const { user: person } = show(host, "/schedules");
  const holds = () => host.asked.filter((one) => one.name === "mesh.hold").map((one) => one.params);
  const morning = within(await screen.findByRole("article", { name: "morning" }));
  await person.click(await morning.findByRole("button", { name: "Let other machines run it" }));
  const form = within(await morning.findByRole("group", { name: "Machines that run morning" }));
  expect(form.getByText("Add another machine.")).toBeTruthy();
  await person.selectOptions(form.getByLabelText("Add a machine"), "desk");
  await person.click(form.getByRole("button", { name: "Move desk up" }));
  await person.type(form.getByLabelText(/Minutes of silence/), "1");
  expect(form.getByText(/whole number of minutes, from 2 to 10080/)).toBeTruthy();
  await person.click(form.getByRole("button", { name: "Save the machines" }));
  expect(holds()).toEqual([]);
  expect(await seriousFindings()).toEqual([]);
  await person.type(form.getByLabelText(/Minutes of silence/), "5");
  await person.click(form.getByRole("button", { name: "Save the machines" }));
  await waitFor(() => expect(holds()).toEqual([{ schedule: "morning", nodes: [DESK, MESH.node], term_minutes: 15 }]));
  const noon = within(screen.getByRole("article", { name: "noon" }));
  await person.click(noon.getByRole("button", { name: "Change which machines run it" }));
  const change = within(await noon.findByRole("group", { name: "Machines that run noon" }));
  expect(change.getByRole("list", { name: "Machines, in this order" }).textContent).toMatch(/^server \(this machine\)desk/);
  await person.click(change.getByRole("button", { name: "Run it on this machine alone" }));
  await waitFor(() => expect(holds()[1]).toEqual({ schedule: "noon", nodes: [], term_minutes: null }));
  expect(within(screen.getByRole("article", { name: "scans" })).queryByRole("button", { name: /machines run it/ })).toBeNull();
});

test("where the mesh is off, nothing of other machines is offered", async () => {
  show(scene({ "mesh.show": MESH_OFF }), "/schedules");
  const card = within(await screen.findByRole("article", { name: "morning" }));
  await waitFor(() => expect(card.getByRole("button", { name: "Run it now" })).toBeTruthy());
  expect(card.queryByRole("button", { name: /machines run it/ })).toBeNull();
});

test("pausing, running now and removing are one question each, and removing is asked twice", async () => {
  const host = scene({ "schedules.pause": SCHEDULE, "schedules.remove": SCHEDULE, "schedules.run": TASK });
  const { user: person } = show(host, "/schedules");
  await person.click(await screen.findByRole("button", { name: "Pause" }));
  await person.click(screen.getByRole("button", { name: "Remove" }));
  const asked = (name: string) => host.asked.filter((one) => one.name === name).map((one) => one.params);
  expect(asked("schedules.remove")).toEqual([]);
  await person.click(screen.getByRole("button", { name: "Remove morning" }));
  await person.click(screen.getByRole("button", { name: "Run it now" }));
  await waitFor(() => expect(asked("schedules.run")).toEqual([{ name: "morning", channel: "app", idempotency_key: null }]));
  expect(asked("schedules.pause")).toEqual([{ name: "morning", reason: "Paused on the page" }]);
  expect(asked("schedules.remove")).toEqual([{ name: "morning", reason: "Removed on the page" }]);
});

test("a new schedule shows how its time is read, refuses what is not understood, and asks with all that was said", async () => {
  const host = scene({ "schedules.list": { schedules: [] }, "schedules.keep": TASK });
  const { user: person } = show(host, "/schedules");
  await person.click(await screen.findByRole("button", { name: "New schedule" }));
  const form = screen.getByRole("form", { name: "New schedule" });
  await person.type(within(form).getByLabelText("When"), "whenever");
  expect(await within(form).findByText(/is not understood as a time/)).toBeTruthy();
  await person.clear(within(form).getByLabelText("When"));
  await person.type(within(form).getByLabelText("When"), "every weekday at 8:30");
  expect(await within(form).findByText("Monday, 23 November 2026, 08:30")).toBeTruthy();
  await person.type(within(form).getByLabelText("When"), " only on mains power");
  expect(await within(form).findByText(/^A run begins only on mains power, as far as/)).toBeTruthy();
  await person.type(within(form).getByLabelText("Folder to work in"), "/home/you/atlas-billing");
  await person.selectOptions(within(form).getByLabelText("Model or playbook"), within(form).getByRole("option", { name: /^Tidy/ }));
  await person.click(within(form).getByRole("button", { name: "Ask me to keep it" }));
  await waitFor(() => expect(host.asked.some((one) => one.name === "schedules.keep")).toBe(true));
  const [keep] = host.asked.filter((one) => one.name === "schedules.keep").map((one) => one.params);
  expect(keep).toMatchObject({ said: "every weekday at 8:30 only on mains power", workspace: "/home/you/atlas-billing", reasoner: { kind: "playbook", name: "tidy" }, catch_up: "newest" });
});

test("what a name is made of is told before it is asked for, and one that is otherwise is refused at once", async () => {
  const host = scene({ "schedules.list": { schedules: [] }, "schedules.keep": TASK });
  const { user: person } = show(host, "/schedules");
  await person.click(await screen.findByRole("button", { name: "New schedule" }));
  const form = within(screen.getByRole("form", { name: "New schedule" }));
  expect(form.getByText(/^Optional\. 1 to 64 of a-z, 0-9 and single - between them/)).toBeTruthy();
  await person.type(form.getByLabelText("When"), "every weekday at 8:30");
  await form.findByText("Monday, 23 November 2026, 08:30");
  await person.type(form.getByLabelText("Folder to work in"), "/home/you/atlas-billing");
  await person.selectOptions(form.getByLabelText("Model or playbook"), form.getByRole("option", { name: /^Tidy/ }));
  const ask = () => form.getByRole("button", { name: "Ask me to keep it" });
  await person.type(form.getByLabelText("Name"), "Morning mail");
  expect(form.getByText(/^Write the name with 1 to 64 of a-z/)).toBeTruthy();
  expect(ask().getAttribute("aria-disabled")).toBe("true");
  expect(await seriousFindings()).toEqual([]);
  await person.clear(form.getByLabelText("Name"));
  await person.type(form.getByLabelText("Name"), "morning-mail");
  expect(form.queryByText(/^Write the name/)).toBeNull();
  await person.click(ask());
  await waitFor(() => expect(host.asked.find((one) => one.name === "schedules.keep")?.params).toMatchObject({ name: "morning-mail" }));
});

test("limits are written as words and numbers, what is none is said at once, and what stands is told", async () => {
  const limits = { overlap: "end_older" as const, per_hour_max: 2, ends_after_minutes: 30, hours: "08:00-18:00", day_runs_max: 9, day_cost_micros_max: 1_500_000, jitter_minutes: 5, only: ["idle" as const, "unmetered" as const], battery_above: 30 };
  const host = scene({ "schedules.list": { schedules: [{ ...SCHEDULE, limits }] }, "schedules.keep": TASK });
  const { user: person } = show(host, "/schedules");
  const card = await screen.findByRole("article", { name: "morning" });
  await person.click(within(card).getByText(/3 runs, 1 time passed over/));
  for (const words of ["End that run, also where it waits for you", "At most 2 runs", "30 minutes", "08:00-18:00", "At most 9 runs, $1.50", "Up to 5 minutes", "while nobody is at the computer and when the network is not metered and when the battery is above 30 %, as far as this machine can tell"]) expect(within(card).getByText(words)).toBeTruthy();
  await person.click(screen.getByRole("button", { name: "New schedule" }));
  const form = within(screen.getByRole("form", { name: "New schedule" }));
  await person.type(form.getByLabelText("When"), "every weekday at 8:30");
  await form.findByText("Monday, 23 November 2026, 08:30");
  await person.type(form.getByLabelText("Folder to work in"), "/home/you/atlas-billing");
  await person.selectOptions(form.getByLabelText("Model or playbook"), form.getByRole("option", { name: /^Tidy/ }));
  await person.click(form.getByText("Limits"));
  await person.selectOptions(form.getByLabelText(/while a run is not over/), "queue");
  await person.type(form.getByLabelText(/End each run after/), "soon");
  expect(form.getByText(/Write limits as whole numbers from 1/)).toBeTruthy();
  await person.clear(form.getByLabelText(/End each run after/));
  await person.type(form.getByLabelText(/End each run after/), "45");
  await person.type(form.getByLabelText(/Cost of models in a day/), "2.5");
  await person.type(form.getByLabelText("Hours in which a run begins"), "8-18");
  await person.click(form.getByLabelText(/only when the network is there/));
  await person.type(form.getByLabelText(/only when the battery is above/), "100");
  expect(form.getByText(/Write the battery in per cent, 1 to 99/)).toBeTruthy();
  await person.clear(form.getByLabelText(/only when the battery is above/));
  await person.type(form.getByLabelText(/only when the battery is above/), "40");
  expect(await seriousFindings()).toEqual([]);
  await person.click(form.getByRole("button", { name: "Ask me to keep it" }));
  await waitFor(() => expect(host.asked.some((one) => one.name === "schedules.keep")).toBe(true));
  const [keep] = host.asked.filter((one) => one.name === "schedules.keep").map((one) => one.params);
  expect(keep).toMatchObject({ limits: { overlap: "queue", ends_after_minutes: 45, day_cost_micros_max: 2_500_000, hours: "8-18", per_hour_max: null, only: ["network"], battery_above: 40 } });
});
