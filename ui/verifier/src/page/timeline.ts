/** Every event in order, and any of them whole. */
import { append, h, hash } from "./dom.ts";
import { empty, type Go } from "./receipts.ts";
import type { Opened, State } from "./state.ts";
import { gist, items, say, type Told } from "./story.ts";
import type { Json } from "../verify/read/canon.ts";
import { isObject } from "../verify/read/canon.ts";
import type { EventType } from "../verify/generated/nouns.ts";
import { clock, count, moment, shown, spoken } from "./words.ts";

/** Rows that are put on the page at a time. */
const PAGE = 400;

const PERSON: ReadonlySet<EventType | undefined> = new Set<EventType>(["approval.granted", "approval.signed", "approval.denied"]);
const QUIET = /^(artifact\.|attempt\.status|step\.|budget\.|task\.status)/;

function row(event: Told, chosen: boolean, go: Go): HTMLElement {
  const kind = PERSON.has(event.type) ? "person" : event.type === "receipt.issued" ? "act" : QUIET.test(event.name) ? "quiet" : "plain";
  return h(
    "li",
    { class: `event ${kind}` },
    h(
      "button",
      { type: "button", class: "event-row", "data-seq": event.seq, "aria-current": chosen ? "true" : undefined, click: () => go.event(event.seq) },
      h("span", { class: "event-seq" }, String(event.seq)),
      h("span", { class: "event-type" }, spoken(event.name)),
      h("span", { class: "event-gist" }, ...shown(gist(event))),
      clock(event.at),
    ),
  );
}

export function timelineView(state: State, opened: Opened, go: Go): HTMLElement {
  const { events } = opened.story;
  if (events.length === 0) return empty("No event can be read.", "The file is no bundle, or it is broken before its events.");
  const list = h("ol", { class: "events", "aria-label": "Events" });
  const more = h("button", { type: "button", class: "btn" }, "");
  const none = h("p", { class: "none" }, "No event fits.");
  let [matching, there] = [events, 0];
  const grow = (until = there + PAGE): void => {
    append(list, matching.slice(there, until).map((event) => row(event, event.seq === state.event, go)));
    there = Math.min(until, matching.length);
    more.hidden = there >= matching.length;
    none.hidden = matching.length > 0;
    more.textContent = `Show more (${matching.length - there} left)`;
  };
  more.addEventListener("click", () => grow());
  const filter = h("input", { type: "search", class: "field", placeholder: "Find in events", "aria-label": "Find in events" });
  filter.addEventListener("input", () => {
    const word = filter.value.trim().toLowerCase();
    matching = word === "" ? events : events.filter((event) => `${event.seq} ${spoken(event.name)} ${event.name} ${event.actor} ${gist(event)}`.toLowerCase().includes(word));
    there = 0;
    list.replaceChildren();
    grow();
  });
  grow(Math.max(PAGE, events.findIndex(({ seq }) => seq === state.event) + 50));
  const [first, last] = [events[0]?.at ?? 0, events.at(-1)?.at ?? 0];
  const head = h("div", { class: "split-head" }, h("h2", {}, count(events.length, "event")), h("span", { class: "dim" }, span(last - first)), filter);
  const chosen = events.find(({ seq }) => seq === state.event);
  const pane = chosen ? detail(chosen, go) : h("div", { class: "split-pane hint" }, h("p", {}, "Choose an event to read it whole. Values that were disclosed stand in their places; the others are digests."));
  return h("div", { class: "view split wide" }, h("div", { class: "split-list" }, head, none, list, more), pane);
}

function span(ms: number): string {
  if (ms < 1000) return `within ${ms} ms`;
  return ms < 120_000 ? `over ${(ms / 1000).toFixed(1)} s` : `over ${Math.round(ms / 60_000)} min`;
}

function detail(event: Told, go: Go): HTMLElement {
  const head = h("header", { class: "pane-head" }, h("h2", {}, `Event ${event.seq}`), h("code", {}, event.name), h("span", { class: "push" }), h("button", { type: "button", class: "btn", click: () => go.bytes(event.file, lineStart(event)) }, "Show its bytes"));
  const facts = h("dl", { class: "facts" });
  const add = (term: string, ...value: (Node | string)[]): void => append(facts, [h("dt", {}, term), h("dd", {}, ...value)]);
  add("When", moment(event.at), h("span", { class: "dim" }, ", by the machine's own clock"));
  add("Who", spoken(event.actor), " ", hash(say(event.whole, "actor_id") ?? ""));
  add("Points back to", hash(say(event.whole, "prev_event_hash") ?? ""));
  return h("article", { class: "split-pane", "aria-label": `Event ${event.seq}` }, head, facts, tree(event.payload));
}

/** The line of an event; the bytes view finds its start. */
function lineStart(event: Told): number {
  return event.line === undefined ? 0 : -event.line;
}

/** A JSON value, one member a line, as text. */
export function tree(value: Json): HTMLElement {
  const box = h("div", { class: "tree", tabindex: 0, role: "group", "aria-label": "Content" });
  branch(box, value, 0, "");
  return box;
}

function branch(box: HTMLElement, value: Json, depth: number, name: string): void {
  const line = (...parts: (Node | string)[]): void => {
    const indent = h("span", { class: `indent d${Math.min(depth, 8)}` });
    append(box, [h("div", { class: "leaf" }, indent, name === "" ? "" : h("span", { class: "name" }, name), h("span", { class: "value" }, ...parts))]);
  };
  if (Array.isArray(value) || isObject(value)) {
    const withheld = isObject(value) && Object.keys(value).length === 1 ? say(value, "$sd") : undefined;
    if (withheld !== undefined) return line(h("span", { class: "tag s-mute" }, "withheld"), " ", hash(withheld));
    const inside: [string, Json][] = Array.isArray(value) ? items(value).map((item, index) => [String(index + 1), item]) : Object.entries(value);
    if (inside.length === 0) return line(h("span", { class: "dim" }, Array.isArray(value) ? "none" : "empty"));
    if (name !== "") line(h("span", { class: "dim" }, Array.isArray(value) ? count(inside.length, "item") : ""));
    for (const [member, child] of inside) branch(box, child, name === "" ? depth : depth + 1, member);
    return;
  }
  if (value === null) return line(h("span", { class: "dim" }, "nothing"));
  if (typeof value === "number" && /_at$|_ms$/.test(name) && value > 1_000_000_000_000) return line(moment(value), h("span", { class: "dim" }, ` ${value}`));
  line(...shown(String(value)));
}
