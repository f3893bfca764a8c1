/** The verdict in words: what is proven, what is only asserted, what no proof can show. */
import { STEPS, type Checked, type Step } from "../verify/check.ts";
import { clocksSection, instanceSection } from "./clocks.ts";
import { append, h, hash, icon } from "./dom.ts";
import type { Opened, State } from "./state.ts";
import { count, ids, moment, shown } from "./words.ts";

interface Face {
  word: string;
  sign: string;
  line: string;
}

/** How a verdict looks and what it means in one sentence. */
export function face(checked: Checked, state: State): Face {
  const { report } = checked;
  switch (report.verdict) {
    case "valid":
      return report.unvouched.length === 0
        ? { word: "Valid", sign: "tick", line: "Whole, unchanged, and signed by a key you trust." }
        : { word: "Valid in part", sign: "half", line: "The receipt is proven by a key you trust. The other files are not signed by a key you trust." };
    case "invalid":
      return { word: "Invalid", sign: "cross", line: "It was changed, or its parts contradict each other. Believe nothing in it." };
    case "incomplete":
      return { word: "Incomplete", sign: "half", line: "What is here holds together, but something that belongs to it is missing." };
    case "unverifiable":
      return {
        word: "Unverifiable",
        sign: "ask",
        line: state.trust.length > 0 && report.keys["manifest"] !== undefined
          ? "It holds together, but the key you named did not sign it."
          : report.keys["manifest"] === undefined
            ? "It holds together, and nobody signed it: the store has no keys."
            : "It holds together. Who signed it is for you to say: name a key you have from its owner.",
      };
  }
}

const STEP_WORDS: Record<Step, [string, string]> = {
  container: ["The file", "an uncompressed zip in its one spelling: no link, no other path, nothing twice, nothing hidden"],
  manifest: ["SHA256SUMS", "lists every file and no other, and the manifest key signed it, twice"],
  statement: ["The statement", "is about exactly these files and keys, and the receipt key signed it"],
  heads: ["The heads", "of log, task and gate are signed, and each stands in the log"],
  events: ["The events", "are in one chain and give the signed number and root; every disclosure opens its place"],
  gate: ["The gate", "let pass everything that ran, and its entries stand in their signed tree"],
  identity: ["The instance", "signed the log's key and is signed by it, and its links lead back to genesis"],
  anchors: ["The clocks", "stamped heads of this very log, or links of the instance; no proof of theirs is wrong"],
  receipts: ["The receipts", "are signed, recorded by the log, and tell one story of what was asked, judged, shown and granted"],
  decisions: ["The decisions", "of a person are signed by the approval key, each for the packet that was asked"],
  leftovers: ["The rest", "has the bytes its digests say, and belongs to something"],
};

/** The same for one receipt alone, which carries less. */
const ALONE: Partial<Record<Step, string>> = {
  statement: "is the receipt itself: one receipt alone needs no other",
  heads: "of log and task stand inside the proofs, are signed, and lead to each other",
  events: "that record the receipt have their places under the signed root",
  gate: "has the one entry that the receipt names",
};

export function stepName(step: Step): string {
  return STEP_WORDS[step][0];
}

function ladder(checked: Checked): HTMLElement {
  const refused = checked.refusedBy === undefined ? STEPS.length : STEPS.indexOf(checked.refusedBy);
  const rows = STEPS.map((step, index) => {
    const state = index < refused ? "held" : index === refused ? "broke" : "open";
    const word = { held: "holds", broke: "broke here", open: "not reached" }[state];
    const [name, usual] = STEP_WORDS[step];
    const what = (checked.check?.single === true ? ALONE[step] : undefined) ?? usual;
    return h("li", { class: `rung ${state}` }, icon({ held: "tick", broke: "cross", open: "gap" }[state], 14), h("span", {}, h("strong", {}, name), ` ${what}`), h("span", { class: "rung-word" }, word));
  });
  return h("ol", { class: "ladder" }, ...rows);
}

function sentences(title: string, lead: string, list: readonly string[], tone: string): HTMLElement {
  const body = list.length > 0 ? h("ul", {}, ...list.map((line) => h("li", {}, ...ids(line)))) : h("p", { class: "none" }, "Nothing.");
  return h("section", { class: `said ${tone}` }, h("h3", {}, title), h("p", { class: "lead" }, lead), body);
}

const LIMITS = [
  "that a claim in it is true: it shows integrity, order and authority",
  "that a model did what it says it did: only what a receipt tells of was done",
  "what was never recorded",
  "that its owner did not rewrite everything before the export, unless a witness outside the machine has signed",
  "the right time: its times are those of the machine's own clock; a clock elsewhere proves only before when something existed",
];

function facts(opened: Opened): HTMLElement {
  const { report } = opened.checked;
  const row = (term: string, ...value: (Node | string)[]): Node[] => [h("dt", {}, term), h("dd", {}, ...value)];
  const list = h("dl", { class: "facts" });
  append(list, row("File", opened.name, h("span", { class: "dim" }, `, ${count(opened.bytes.length, "byte")}, ${count(report.counts.files, "file")}`)));
  if (report.task_id !== null) append(list, row("Task", hash(report.task_id), h("span", { class: "dim" }, `, ${count(report.task_size ?? 0, "event")}`)));
  if (report.log_id !== null) append(list, row("Store", h("code", {}, report.log_id)));
  if (report.exported_at_ms !== null) append(list, row("Checkpoint", moment(report.exported_at_ms)));
  if (report.task_root !== null) append(list, row("Root", hash(report.task_root)));
  append(list, row("Checked in", `${Math.max(1, Math.round(opened.took))} ms, on this machine`));
  return list;
}

function keys(opened: Opened): HTMLElement {
  const { report, check } = opened.checked;
  const purposes: [string, string][] = [
    ["manifest", "signs the list of all files"],
    ["receipt", "signs receipts and the statement"],
    ["log", "signs the heads of the log"],
    ["approval", "signs a person's decisions"],
  ];
  const rows = purposes.filter(([purpose]) => report.keys[purpose] !== undefined).map(([purpose, what]) => {
    const trusted = report.trusted.includes(purpose);
    const key = check?.keys[purpose as "log"];
    const print = key?.fingerprint ?? "";
    const word = key && report.vouching.includes(key.hex) ? "you trust it" : "followed one you trust";
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, purpose, h("span", { class: "dim" }, what)),
      h("td", {}, h("code", { class: "whole" }, report.keys[purpose] ?? ""), h("code", { class: "whole dim" }, print)),
      h("td", {}, trusted ? h("span", { class: "tag s-done" }, icon("tick", 11), word) : h("span", { class: "tag s-mute" }, "came with the file")),
    );
  });
  if (rows.length === 0) return h("p", { class: "none" }, "No key of the store is known: it has none, or the check did not come so far.");
  const head = h("tr", {}, h("th", { scope: "col" }, "Key"), h("th", { scope: "col" }, "Key id and SSH fingerprint"), h("th", { scope: "col" }, "Trust"));
  return h("div", { class: "scroll-x", tabindex: 0, role: "group", "aria-label": "Keys" }, h("table", { class: "keys" }, h("thead", {}, head), h("tbody", {}, ...rows)));
}

export function verdictView(state: State, opened: Opened): HTMLElement {
  const { report } = opened.checked;
  const view = h("div", { class: "view verdict-view" });
  if (report.verdict === "invalid") {
    const where = h("p", { class: "where" }, h("code", {}, ...shown(report.place)));
    append(view, [h("section", { class: "broken" }, h("h2", {}, "The first place that does not fit"), where, h("p", {}, ...ids(report.why)))]);
  }
  if (report.verdict === "incomplete") {
    append(view, [h("section", { class: "broken" }, h("h2", {}, "What is missing"), h("ul", {}, ...report.missing.map((line) => h("li", {}, ...ids(line)))))]);
  }
  if (report.unvouched.length > 0) {
    const lead = "Anybody could have written these, and left files out. Name the manifest key, from its owner, to know.";
    append(view, [h("section", { class: "broken" }, h("h2", {}, "Not signed by a key you trust"), h("p", {}, lead), h("ul", {}, ...report.unvouched.map((name) => h("li", {}, h("code", {}, ...shown(name))))))]);
  }
  const three = h(
    "div",
    { class: "three" },
    sentences("Proven", "Anybody can check it again, with tools nobody here wrote.", report.proven, "proven"),
    sentences("Only asserted", "The file says so; nothing in it can prove it.", report.asserted, "asserted"),
    sentences("Not shown", "Left out, withheld or erased; digests stand in its place.", report.not_shown, "withheld"),
  );
  const lower = h(
    "div",
    { class: "two" },
    h("section", {}, h("h2", {}, "What was checked, in order"), ladder(opened.checked)),
    h("section", {}, h("h2", {}, "What no proof can show"), h("ul", { class: "limits" }, ...LIMITS.map((line) => h("li", {}, line))), h("h2", {}, "This file"), facts(opened)),
  );
  const stamped = report.verdict === "invalid" ? undefined : clocksSection(opened);
  append(view, [report.verdict === "invalid" ? undefined : three, stamped, lower, instanceSection(opened), h("section", { class: "key-section" }, h("h2", {}, "Whose keys"), keys(opened))]);
  void state;
  return view;
}
