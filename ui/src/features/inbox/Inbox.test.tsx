// Several things that wait: one project at a time, several denied with one reason, and Deny by the keyboard.
import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { Refused } from "~/host/host";
import { APPROVAL, DONE, GATEWAY, SCHEDULE, WAITS, approvalRow, ofPart, scene, sceneAnswers, taskRow } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const OTHER = "task_01a2000000007000800000000000001a";
const rows = [
  approvalRow,
  { ...approvalRow, approval_id: "apr_two", task_id: OTHER, summary: "move 6 files", risk: "low" as const },
  { ...approvalRow, approval_id: "apr_three", task_id: OTHER, summary: "create 1 file", risk: "low" as const },
];
const folder = (at: number, path: string, hash: string | null) => ({ workspace_id: `wsp_${at}`, folder: path, project_hash: hash, project_source: null, tasks: 1, waiting: 1, last_task_id: null, last_at: null });
const waiting = () => scene({
  "approvals.list": ({ status }) => ({ rows: status === "any" ? [] : rows }),
  "task.list": { rows: [taskRow({ task_id: WAITS, workspace: "/home/you/atlas" }), taskRow({ task_id: OTHER, workspace: "/home/you/photos", title: "Sort the photos" })] },
  "workspaces.list": { workspaces: [folder(1, "/home/you/atlas", "aa"), folder(2, "/home/you/atlas-copy", "aa"), folder(3, "/home/you/photos", null), folder(4, "/home/you/idle", null)] },
});
const denied = (host: ReturnType<typeof scene>) => host.asked.filter((one) => one.name === "approvals.deny").map((one) => one.params);

test("the inbox is narrowed to one project, whose folders belong together", async () => {
  const { user } = show(waiting(), "/");
  const choice = await screen.findByLabelText("Project");
  expect(within(choice).getAllByRole("option").map((one) => one.textContent)).toEqual(["All projects", "atlas and 1 more", "photos"]);
  expect(within(await screen.findByRole("list", { name: /Waiting for you/ })).getAllByRole("listitem")).toHaveLength(3);
  await user.selectOptions(choice, "photos");
  await waitFor(() => expect(within(screen.getByRole("list", { name: /Waiting for you/ })).getAllByRole("listitem")).toHaveLength(2));
  expect(await seriousFindings()).toEqual([]);
});

test("what is typed on a card stays when the card comes onto the list, and when others do", async () => {
  let listed = [] as (typeof rows)[number][];
  const host = scene({ "approvals.list": ({ status }) => ({ rows: status === "any" ? [] : listed }), "task.list": { rows: [] } }, "passphrase");
  const { user } = show(host, `/?at=${APPROVAL}`);
  const card = within(await screen.findByRole("article", { name: "Approval" }));
  await user.click(await card.findByRole("button", { name: "Approve with passphrase" }));
  const field = (await card.findByLabelText("Approval passphrase")) as HTMLInputElement;
  await user.type(field, "half of");
  const heard = () => act(() => host.say({ kind: "event", task_id: WAITS, task_seq: 9, event_type: "approval.requested", topics: ["approvals", "tasks"] }));
  const waits = (count: number) => waitFor(() => expect(within(screen.getByRole("list", { name: /Waiting for you/ })).queryAllByRole("listitem")).toHaveLength(count));
  for (listed of [[approvalRow], rows, []]) {
    heard();
    await waits(listed.length);
    expect(field.isConnected, `the field stands with ${listed.length} on the list`).toBe(true);
  }
  await user.type(field, " it");
  expect(field.value).toBe("half of it");
});

test("a row of the inbox says which task of the tree asks, and which agent", async () => {
  const question = { question_id: "clr_1", task_id: OTHER, question: "Go on with how many more tokens?", choices: [], status: "pending" as const, requested_at: 1, expires_at: 2, ...ofPart };
  show(scene({ "approvals.list": ({ status }) => ({ rows: status === "any" ? [] : [approvalRow, { ...approvalRow, approval_id: "apr_two", ...ofPart }] }), "task.questions": { rows: [question] } }), "/");
  const list = within(await screen.findByRole("list", { name: /Waiting for you/ }));
  await waitFor(() => expect(list.getAllByRole("listitem")).toHaveLength(3));
  const said = list.getAllByRole("listitem").map((one) => (/Part of: .*/.exec(one.textContent ?? "") ?? [""])[0]);
  expect(said.sort()).toEqual(["", ...Array<string>(2).fill("Part of: Tidy U+202Eall of it · Asked by: qwen2.5-1.5b")]);
});

const asks = (id: string, words: string) => ({ question_id: id, task_id: OTHER, question: words, choices: [], status: "pending" as const, requested_at: 1, expires_at: 2 });
const heardOf = (host: ReturnType<typeof scene>) => act(() => host.say({ kind: "event", task_id: OTHER, task_seq: 9, event_type: "clarification.answered", topics: ["approvals", "tasks"] }));

test("what was typed as an answer is still there when the question was answered elsewhere, and can be copied or discarded", async () => {
  const [mine, other] = [asks("clr_1", "Which year?"), asks("clr_2", "Which folder?")];
  let status: "pending" | "answered" = "pending";
  const host = scene({
    "approvals.list": { rows: [] }, "task.list": { rows: [] },
    "task.questions": ({ status: only }) => ({ rows: [{ ...mine, status }, other].filter((one) => only !== "pending" || one.status === "pending") }),
  });
  const { user, client, unmount } = show(host, "/?at=clr_1");
  const field = () => screen.getByLabelText("Your answer") as HTMLTextAreaElement;
  await user.type(await screen.findByLabelText("Your answer"), "The one before last");
  // Drawn anew, and while another question is looked at: nothing of it is lost.
  await user.click(screen.getByRole("button", { name: /Which folder/ }));
  await waitFor(() => expect(field().value).toBe(""));
  await user.click(screen.getByRole("button", { name: /Which year/ }));
  await waitFor(() => expect(field().value).toBe("The one before last"));
  status = "answered";
  await client.invalidateQueries();
  await screen.findByText(/Answered on another device or page\. What you had written here was not sent/);
  const card = screen.getByRole("region", { name: "Question" });
  const kept = within(card).getByLabelText("What you had written") as HTMLTextAreaElement;
  expect([kept.value, kept.readOnly]).toEqual(["The one before last", true]);
  expect(within(card).queryByRole("button", { name: "Answer" })).toBeNull();
  expect(screen.getByText("1 thing waits for you. Nothing here decides by itself.")).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  // It outlives the page, and goes when the person says so.
  unmount();
  const again = show(host, "/?at=clr_1");
  expect(((await screen.findByLabelText("What you had written")) as HTMLTextAreaElement).value).toBe("The one before last");
  await again.user.click(screen.getByRole("button", { name: "Copy it" }));
  await screen.findByRole("button", { name: "Copied" });
  expect(await navigator.clipboard.readText()).toBe("The one before last");
  await again.user.click(screen.getByRole("button", { name: "Discard it" }));
  await waitFor(() => expect(screen.queryByRole("button", { name: /Which year/ })).toBeNull());
  expect(Object.keys(localStorage).filter((name) => name.includes("inbox."))).toEqual([]);
});

test("an answer that was sent leaves nothing behind, and a question whose time ran out says so", async () => {
  let rows = [asks("clr_1", "Which year?"), asks("clr_2", "Which folder?")] as (Omit<ReturnType<typeof asks>, "status"> & { status: "pending" | "answered" | "expired" })[];
  const host = scene({
    "approvals.list": { rows: [] }, "task.list": { rows: [] },
    "task.questions": ({ status: only }) => ({ rows: rows.filter((one) => only !== "pending" || one.status === "pending") }),
    "task.answer": () => { rows = rows.map((one) => (one.question_id === "clr_1" ? { ...one, status: "answered" } : one)); return { task_id: OTHER, status: "running" }; },
  });
  const { user } = show(host, "/?at=clr_2");
  await user.type(await screen.findByLabelText("Your answer"), "photos");
  await user.click(screen.getByRole("button", { name: /Which year/ }));
  await screen.findByRole("heading", { name: "Which year?" });
  await user.type(screen.getByLabelText("Your answer"), "2024");
  await user.click(screen.getByRole("button", { name: "Answer" }));
  await waitFor(() => expect(screen.queryByRole("button", { name: /Which year/ })).toBeNull());
  expect(screen.queryByText(/was not sent/)).toBeNull();
  rows = rows.map((one) => ({ ...one, status: one.status === "pending" ? "expired" : one.status }));
  heardOf(host);
  await screen.findByText(/Its time ran out before you answered/);
  expect((screen.getByLabelText("What you had written") as HTMLTextAreaElement).value).toBe("photos");
});

test("several are chosen and denied with one reason, and none is approved that way", async () => {
  const host = waiting();
  const { user } = show(host, "/");
  await user.click(await screen.findByRole("checkbox", { name: "Choose: move 6 files" }));
  await user.click(screen.getByRole("checkbox", { name: "Choose: create 1 file" }));
  const form = within(await screen.findByRole("region", { name: "Chosen approvals" }));
  form.getByText("2 approvals chosen");
  expect(form.queryByRole("button", { name: /pprove/ })).toBeNull();
  expect(await seriousFindings()).toEqual([]);
  await user.type(form.getByLabelText(/Reason for denying/), "not now");
  await user.click(form.getByRole("button", { name: "Deny 2" }));
  await waitFor(() => expect(denied(host)).toEqual(["apr_two", "apr_three"].map((approval) => ({ approval, surface: "browser", feedback: "not now" }))));
  await waitFor(() => expect(screen.queryByRole("region", { name: "Chosen approvals" })).toBeNull());
});

test("D goes to Deny and denies nothing by itself; X chooses", async () => {
  const host = waiting();
  const { user } = show(host, "/");
  await screen.findByRole("button", { name: "Deny" });
  await user.keyboard("d");
  expect(document.activeElement?.textContent).toBe("Deny");
  expect(denied(host)).toEqual([]);
  await user.keyboard("{Enter}");
  await waitFor(() => expect(denied(host)).toHaveLength(1));
  await user.keyboard("x");
  await screen.findByText("1 approval chosen");
  await user.keyboard("dd");
  expect(denied(host)).toHaveLength(1);
});

test("a card that was shown without being chosen stays where other things come in, and becomes its result", async () => {
  let at: typeof rows = [rows[1] as (typeof rows)[number]];
  let past: typeof rows = [];
  const host = scene({ "approvals.list": ({ status }) => ({ rows: status === "any" ? [...at, ...past] : at }), "task.list": { rows: [taskRow({ task_id: OTHER })] } });
  const { client } = show(host, "/");
  const shown = () => host.asked.filter((one) => one.name === "approvals.show").map((one) => (one.params as { approval: string }).approval);
  await waitFor(() => expect(shown()).toEqual(["apr_two"]));
  // A graver one comes in and stands above it in the list.
  at = [...at, approvalRow];
  await client.invalidateQueries();
  await screen.findByRole("button", { name: /Delete 1 file, overwrite 1 file/ });
  expect(new Set(shown())).toEqual(new Set(["apr_two"]));
  // It is answered, and its card tells what became of it.
  at = [approvalRow];
  past = [{ ...(rows[1] as (typeof rows)[number]), status: "denied", resolved_at: Date.now() }];
  await client.invalidateQueries();
  await screen.findByText(/Nothing was changed/);
  expect(new Set(shown())).toEqual(new Set(["apr_two"]));
  // What newly waits is shown by itself.
  at = [...at, { ...(rows[2] as (typeof rows)[number]), risk: "critical", requested_at: Date.now() + 1000 }];
  await client.invalidateQueries();
  await waitFor(() => expect(shown()).toContain("apr_three"));
});

test("a schedule that paused itself waits in the inbox with its runs; resuming is one question, and removing is asked twice", async () => {
  const paused = {
    ...SCHEDULE, state: "paused" as const, by_itself: true, why: "the last 3 runs failed", next: [],
    runs: [{ slot_at: SCHEDULE.since, task_id: DONE, status: "failed", run_status: "failed" as const }],
  };
  const status = sceneAnswers()["host.status"];
  if (typeof status !== "object") throw new Error("the scene has a status");
  const host = scene({
    "host.status": { ...status, waiting: { ...status.waiting, approvals: 0, paused_schedules: 1 } },
    "approvals.list": { rows: [] }, "task.list": { rows: [] },
    "schedules.list": { schedules: [paused, { ...SCHEDULE, name: "evening", state: "paused", why: "holiday" }] },
    "schedules.resume": SCHEDULE, "schedules.remove": SCHEDULE,
  });
  const { user } = show(host, "/");
  const form = within(await screen.findByRole("region", { name: "Paused schedule" }));
  expect(within(screen.getByRole("list", { name: /Waiting for you/ })).getAllByRole("listitem")).toHaveLength(1);
  form.getByText(/The last 3 runs failed/);
  form.getByText("Failed");
  expect(form.getByRole("link", { name: "Open the schedule" }).getAttribute("href")).toContain("/schedules?of=morning");
  expect(await seriousFindings()).toEqual([]);
  const asked = (name: string) => host.asked.filter((one) => one.name === name).map((one) => one.params);
  await user.click(form.getByRole("button", { name: "Remove" }));
  expect(asked("schedules.remove")).toEqual([]);
  form.getByRole("button", { name: "Remove morning" });
  await user.click(form.getByRole("button", { name: "Resume" }));
  await waitFor(() => expect(asked("schedules.resume")).toEqual([{ name: "morning" }]));
});

test("a page that no terminal opened resumes it with the passphrase, and is told why", async () => {
  const status = sceneAnswers()["host.status"];
  if (typeof status !== "object") throw new Error("the scene has a status");
  const host = scene({
    "host.status": { ...status, waiting: { ...status.waiting, approvals: 0, paused_schedules: 1 } },
    "approvals.list": { rows: [] }, "task.list": { rows: [] },
    "schedules.list": { schedules: [{ ...SCHEDULE, state: "paused", by_itself: true, why: "the last 3 runs failed" }] },
    "schedules.resume": () => { throw new Refused({ code: "forbidden", message: "only a person may ask this" }); },
  });
  const signed: unknown[] = [];
  const said = (...words: unknown[]) => { signed.push(words); return Promise.resolve(); };
  host.person = { boot: said, settle: said, resume: said, mesh: () => Promise.reject(new Error("not asked here")) };
  const { user } = show(host, "/");
  const form = within(await screen.findByRole("region", { name: "Paused schedule" }));
  await user.click(form.getByRole("button", { name: "Resume" }));
  await form.findByText(/only a person may ask this/i);
  await user.type(form.getByLabelText("Approval passphrase"), "right");
  await user.click(form.getByRole("button", { name: "Resume morning" }));
  await waitFor(() => expect(signed).toEqual([[{ of: "schedule", name: "morning" }, "right"]]));
  await waitFor(() => expect(form.queryByLabelText("Approval passphrase")).toBeNull());
});

test("a gateway that paused itself waits in the inbox with the reason, and is resumed there", async () => {
  const status = sceneAnswers()["host.status"];
  if (typeof status !== "object") throw new Error("the scene has a status");
  const host = scene({
    "host.status": { ...status, waiting: { ...status.waiting, approvals: 0, paused_gateways: 1 } },
    "approvals.list": { rows: [] }, "task.list": { rows: [] },
    "gateways.list": { gateways: [
      { ...GATEWAY, state: "paused", by_itself: true, why: "the service refuses the token", queued: 2 },
      { ...GATEWAY, name: "work", state: "paused", why: "holiday" },
    ] },
    "gateways.resume": GATEWAY,
  });
  const { user } = show(host, "/");
  const form = within(await screen.findByRole("region", { name: "Paused gateway" }));
  expect(within(screen.getByRole("list", { name: /Waiting for you/ })).getAllByRole("listitem")).toHaveLength(1);
  form.getByRole("heading", { name: "Gateway family stopped: Telegram" });
  form.getByText(/The service refuses the token/);
  form.getByText("2 messages wait to be sent.");
  expect(form.getByRole("link", { name: "Open the gateway" }).getAttribute("href")).toContain("/gateways?of=family");
  expect(await seriousFindings()).toEqual([]);
  await user.click(form.getByRole("button", { name: "Resume" }));
  await waitFor(() => expect(host.asked.filter((one) => one.name === "gateways.resume").map((one) => one.params)).toEqual([{ name: "family" }]));
});

test("schedules and gateways are not asked for while none has paused itself", async () => {
  const host = waiting();
  show(host, "/");
  await screen.findByRole("checkbox", { name: "Choose: move 6 files" });
  expect(host.asked.some((one) => one.name === "schedules.list" || one.name === "gateways.list")).toBe(false);
});
