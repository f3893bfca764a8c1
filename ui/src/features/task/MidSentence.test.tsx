// A page that is opened, or comes back, in the middle of an answer: each word once, and none of an answer that was broken off.
import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { FakeHost } from "~/host/fake";
import type { Link } from "~/host/host";
import type { Notice } from "~/ipc/generated/shared";
import type { Task } from "~/ipc/generated/task";
import { DONE, doneRow, doneTask, scene } from "~/test/scene";
import { show } from "~/test/show";

const running: Task = { ...doneTask, reasoner: "anthropic:https://api.anthropic.com/v1#claude", termination: null, row: { ...doneRow, status: "running", run_status: "running", ended_at: null } };
const saying = (number: number, writing: string): Task => ({ ...running, writing, asking: { number, writing_from: 0, thinking_from: 0 } });
const piece = (asking: number, from: number, text: string): Notice => ({ kind: "delta", task_id: DONE, asking, from, text });
const words = () => document.querySelector("[role=log] [aria-busy=true] p")?.textContent ?? null;

/** The host is not heard until its link is said to be live. */
function unheard(host: FakeHost): FakeHost {
  const listen = host.listen.bind(host);
  host.listen = (notice, link) => listen(notice, (now: Link) => { if (now !== "live" || isHeard) link(now); });
  let isHeard = false;
  const tell = host.link.bind(host);
  host.link = (now) => { isHeard = true; tell(now); };
  return host;
}

test("a page asks for what was said only once it hears what is said from then on", async () => {
  // What is said before anybody listens is told by the answer alone.
  let saidSoFar = "";
  const host = unheard(scene({ "task.show": () => saying(7, saidSoFar) }));
  show(host, `/task/${DONE}`);
  await act(() => new Promise((done) => { setTimeout(done, 50); }));
  expect(host.times("task.show")).toBe(0);
  saidSoFar = "Once upon ";
  act(() => host.link("live"));
  await waitFor(() => expect(words()).toBe("Once upon "));
  act(() => host.say(piece(7, 10, "a time")));
  await waitFor(() => expect(words()).toBe("Once upon a time"));
  expect(host.times("task.show"), "asked once").toBe(1);
});

test("a host that cannot be heard is asked all the same, and asked anew once it is heard", async () => {
  let saidSoFar = "Once ";
  const host = unheard(scene({ "task.show": () => saying(7, saidSoFar) }));
  show(host, `/task/${DONE}`);
  await waitFor(() => expect(words()).toBe("Once "), { timeout: 5_000 });
  saidSoFar = "Once upon ";
  act(() => host.link("live"));
  await waitFor(() => expect(words()).toBe("Once upon "));
});

test("what a page did not hear of an answer it asks for, and words that come twice are there once", async () => {
  let saidSoFar = "ha ";
  const host = scene({ "task.show": () => saying(7, saidSoFar) });
  show(host, `/task/${DONE}`);
  await waitFor(() => expect(words()).toBe("ha "));
  act(() => host.say(piece(7, 0, "ha ")));
  act(() => host.say(piece(7, 3, "ha ")));
  await waitFor(() => expect(words()).toBe("ha ha "));
  saidSoFar = "ha ha and so on ";
  act(() => host.say(piece(7, 10, "so on ")));
  await waitFor(() => expect(words()).toBe("ha ha and so on "));
});

test("words of a host that died are gone as soon as the next one is heard, and the next answer stands alone", async () => {
  let task = saying(7, "Once ");
  const host = scene({ "task.show": () => task });
  show(host, `/task/${DONE}`);
  await waitFor(() => expect(words()).toBe("Once "));
  act(() => host.say(piece(7, 5, "there")));
  await waitFor(() => expect(words()).toBe("Once there"));
  act(() => host.link("lost"));
  await screen.findByText("Not connected to Hermit. Trying again; what you see may be old.");
  expect(words(), "the last that is known").toBe("Once there");
  task = running;
  act(() => host.link("live"));
  await waitFor(() => expect(words()).toBeNull());
  act(() => host.say(piece(8, 0, "Again")));
  await waitFor(() => expect(words()).toBe("Again"));
});

test("what was broken off is told as such by the next host, and never with words of the next answer", async () => {
  let task = saying(7, "Once ");
  const host = scene({ "task.show": () => task });
  show(host, `/task/${DONE}`);
  await waitFor(() => expect(words()).toBe("Once "));
  act(() => host.say(piece(7, 5, "there")));
  act(() => host.link("lost"));
  task = { ...saying(7, "Once there"), interrupted: true };
  act(() => host.link("live"));
  const kept = await within(await screen.findByRole("log")).findByRole("group", { name: "Broken off" });
  expect(kept.textContent).toContain("Once there");
  task = saying(8, "Again");
  act(() => host.say(piece(8, 0, "Again")));
  await waitFor(() => expect(words()).toBe("Again"));
  expect(screen.queryByText(/Once there/)).toBeNull();
});

test("words of the next asking take the place of those before, also where nothing was said of an end", async () => {
  const host = scene({ "task.show": running });
  show(host, `/task/${DONE}`);
  await within(await screen.findByRole("log")).findByText("working");
  act(() => host.say(piece(7, 0, "Once there")));
  act(() => host.say(piece(8, 0, "Again")));
  await waitFor(() => expect(words()).toBe("Again"));
});

test("an answer of the host that is older than the end of what was said brings nothing back", async () => {
  let answers: (task: Task) => void = () => undefined;
  let asked = 0;
  const host = scene({ "task.show": () => (asked++ === 0 ? saying(7, "Once ") : new Promise<Task>((done) => { answers = done; })) });
  show(host, `/task/${DONE}`);
  await waitFor(() => expect(words()).toBe("Once "));
  act(() => host.say(piece(7, 5, "there")));
  act(() => host.say({ kind: "event", task_id: DONE, task_seq: 9, event_type: "attempt.model_responded", topics: ["tasks"] }));
  await waitFor(() => expect(words()).toBeNull());
  await waitFor(() => expect(asked).toBeGreaterThan(1));
  act(() => answers(saying(7, "Once there")));
  await act(() => new Promise((done) => { setTimeout(done, 50); }));
  expect(words()).toBeNull();
});
