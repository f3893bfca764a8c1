/** What the events name as artifacts, and the content of those that go along. */
import { parseCanonical } from "../verify/read/canon.ts";
import { artifactPath } from "../verify/layout.ts";
import { append, h, hash, icon } from "./dom.ts";
import { empty, type Go } from "./receipts.ts";
import type { Opened, State } from "./state.ts";
import { asText, type Kept } from "./story.ts";
import { tree } from "./timeline.ts";
import { bytes, count, moment, shown, spoken } from "./words.ts";

/** As much of a text as is put on the page. */
const SHOWN = 100_000;

export function artifactsView(state: State, opened: Opened, go: Go): HTMLElement {
  const { artifacts } = opened.story;
  if (artifacts.length === 0) return empty("No artifact is named.", "The events of this bundle made none.");
  const chosen = artifacts.find(({ id }) => id === state.artifact);
  const here = artifacts.filter((artifact) => artifact.here).length;
  const list = h("ul", { class: "pick", "aria-label": "Artifacts" });
  // What can be read comes first.
  for (const artifact of [...artifacts].sort((left, right) => Number(right.here) - Number(left.here))) {
    const label = h(
      "button",
      { type: "button", class: "pick-row", "aria-current": artifact === chosen ? "true" : undefined, click: () => go.artifact(artifact.id) },
      h("span", { class: "pick-title" }, artifact.alias ?? spoken(artifact.kind)),
      h("span", { class: "pick-meta" }, artifact.here ? h("span", { class: "tag s-done" }, icon("tick", 11), "here") : h("span", { class: "tag s-mute" }, "digest only"), bytes(artifact.size), hash(artifact.digest)),
    );
    append(list, [h("li", {}, label)]);
  }
  const head = h("div", { class: "split-head" }, h("h2", {}, count(artifacts.length, "artifact")), h("span", { class: "dim" }, `${here} with content`));
  const hint = h("div", { class: "split-pane hint" }, h("p", {}, "Choose an artifact to read it. One whose content was left out is still proven by its digest: anyone who has the content can compare."));
  return h("div", { class: "view split" }, h("div", { class: "split-list" }, head, list), chosen ? detail(chosen, opened, go) : hint);
}

function detail(artifact: Kept, opened: Opened, go: Go): HTMLElement {
  const path = artifactPath(artifact.digest);
  const facts = h("dl", { class: "facts" });
  const add = (term: string, ...value: (Node | string)[]): void => append(facts, [h("dt", {}, term), h("dd", {}, ...value)]);
  add("SHA-256", h("code", { class: "whole" }, artifact.digest));
  add("Kind", spoken(artifact.kind), h("span", { class: "dim" }, `, ${artifact.media}, ${bytes(artifact.size)}`));
  add("Trust", spoken(artifact.trust));
  add("Made", moment(artifact.at), " in ", h("button", { type: "button", class: "cite", click: () => go.event(artifact.seq) }, `event ${artifact.seq}`));
  const head = h("header", { class: "pane-head" }, h("h2", {}, artifact.alias ?? spoken(artifact.kind)), h("span", { class: "push" }), artifact.here ? h("button", { type: "button", class: "btn", click: () => go.bytes(path, 0) }, "Show its bytes") : "");
  return h("article", { class: "split-pane", "aria-label": "Artifact" }, head, facts, artifact.here ? preview(path, opened) : h("p", { class: "hint" }, "Its content was left out of the bundle."));
}

function preview(path: string, opened: Opened): HTMLElement {
  const span = opened.zip?.span(path);
  if (!span) return h("p", {}, "It cannot be read.");
  const content = opened.original.subarray(span.start, span.end);
  try {
    return tree(parseCanonical(content));
  } catch {
    const text = asText(content);
    if (text === undefined) return h("p", { class: "hint" }, "It is no text. Its bytes can be seen one by one.");
    const cut = text.length > SHOWN;
    return h("div", {}, h("pre", { class: "text", tabindex: 0 }, ...shown(text.slice(0, SHOWN))), cut ? h("p", { class: "dim" }, `The first ${SHOWN.toLocaleString("en")} of ${text.length.toLocaleString("en")} characters.`) : "");
  }
}
