/** The page: a place to drop a bundle, the verdict on it, and what it tells. It reaches no network and keeps nothing. */
import "../../../src/styles/tokens.css";
import "./page.css";
import { answersView } from "./answers.ts";
import { artifactsView } from "./artifacts.ts";
import { clockFields, drawClockFields } from "./clocks.ts";
import { append, arcs, h, icon, mark } from "./dom.ts";
import { bytesView } from "./hex.ts";
import { receiptsView, type Go } from "./receipts.ts";
import { fresh, nameKeys, nameSince, open, recheck, restore, spanOf, VIEWS, type Opened, type State, type View } from "./state.ts";
import { timelineView } from "./timeline.ts";
import { face, stepName, verdictView } from "./verdict.ts";
import { bytes, count, shown } from "./words.ts";

const state: State = fresh();
const page = document.getElementById("page") ?? document.body;

/** A file beyond this is not read into a page. */
const FILE_BYTES_MAX = 1_500_000_000;

const NAV: Record<View, [string, string]> = {
  verdict: ["Verdict", "shield"],
  answers: ["Answer", "ask"],
  receipts: ["Receipts", "receipt"],
  timeline: ["Timeline", "list"],
  artifacts: ["Artifacts", "box"],
  bytes: ["Bytes", "hex"],
};

/** What is announced to a reader of the screen when the verdict changes. */
const live = h("p", { class: "offscreen", role: "status", "aria-live": "polite" });
const chooser = h("input", { type: "file", accept: ".zip", id: "chooser", class: "offscreen", tabindex: -1, "aria-label": "A proof bundle" });
const trustField = h("textarea", { class: "field", id: "trust", rows: 3, spellcheck: "false", autocomplete: "off", placeholder: "Key id, SHA256:…, vkey or PEM" });
const trustSaid = h("p", { class: "trust-said", id: "trust-said" });
const sinceField = h("textarea", { class: "field", id: "since", rows: 2, spellcheck: "false", autocomplete: "off", placeholder: "log/checkpoint of an older bundle" });
const sinceSaid = h("p", { class: "trust-said", id: "since-said" });
const clocks = clockFields(state, () => {
  recheck(state);
  drawVerdict();
  if (state.view === "verdict") drawView();
});
const banner = h("div", { class: "banner" });
const nav = h("ul", { class: "nav" });
const main = h("main", { class: "main", id: "main", tabindex: -1 });
const title = h("div", { class: "bar-file" });

chooser.addEventListener("change", () => {
  const file = chooser.files?.[0];
  chooser.value = "";
  if (file) void take(file);
});
trustField.setAttribute("aria-describedby", "trust-said");
trustField.addEventListener("blur", () => trustField.scrollTo(0, 0));
trustField.addEventListener("input", () => {
  nameKeys(state, trustField.value);
  drawVerdict();
  if (state.view === "verdict") drawView();
});

sinceField.setAttribute("aria-describedby", "since-said");
sinceField.addEventListener("input", () => {
  nameSince(state, sinceField.value);
  drawVerdict();
  if (state.view === "verdict") drawView();
});

async function take(file: File): Promise<void> {
  if (file.size > FILE_BYTES_MAX) return refuseFile(`\`${file.name}\` has ${bytes(file.size)}, more than a page can hold. Check it with hermit-verify.`);
  try {
    open(state, file.name, new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    return refuseFile(`\`${file.name}\` cannot be read: ${error instanceof Error ? error.message : String(error)}. A folder must be zipped without compression.`);
  }
  draw();
  main.focus();
}

function refuseFile(why: string): void {
  live.textContent = why;
  const told = document.getElementById("refused");
  if (told) told.textContent = why;
}

const go: Go & { choose(file: string, offset: number): void; changed(): void; restore(): void } = {
  event(seq) {
    state.event = seq;
    show("timeline");
    document.querySelector(`[data-seq="${seq}"]`)?.scrollIntoView({ block: "nearest" });
  },
  artifact(id) {
    state.artifact = id;
    show("artifacts");
  },
  receipt(id) {
    state.receipt = id;
    show("receipts");
  },
  bytes(file, offset) {
    state.file = file;
    state.offset = offset < 0 && state.opened ? startOfLine(state.opened, file, -offset) : offset;
    show("bytes");
  },
  choose(file, offset) {
    const other = file !== state.file;
    [state.file, state.offset] = [file, offset];
    drawView();
    focusOn(other ? "#file" : `[data-offset="${offset}"]`);
  },
  changed() {
    const focused = document.activeElement?.id ?? "";
    recheck(state);
    drawVerdict();
    drawView();
    focusOn(focused === "flip" ? "#flip" : `[data-offset="${state.offset}"]`);
  },
  restore() {
    if (state.opened) restore(state.opened);
    this.changed();
  },
};

function focusOn(selector: string): void {
  const found = document.querySelector(selector);
  if (found instanceof HTMLElement) found.focus({ preventScroll: true });
}

/** Where a line begins, counted from 1. */
function startOfLine(opened: Opened, file: string, line: number): number {
  const { start, end } = spanOf(opened, file);
  let at = start;
  for (let number = 1; number < line; number += 1) at = opened.original.indexOf(0x0a, at) + 1;
  return Math.min(at, end - 1) - start;
}

function show(view: View): void {
  state.view = view;
  drawNav();
  drawView();
  main.scrollTop = 0;
}

function drawView(): void {
  const { opened } = state;
  if (!opened) return;
  // What was scrolled to inside a list stays in sight when only the chosen row changes.
  const list = document.querySelector(".split-list");
  const [before, scrolled] = [list?.getAttribute("data-view"), list?.scrollTop ?? 0];
  main.replaceChildren(viewOf(opened));
  const drawn = document.querySelector(".split-list");
  drawn?.setAttribute("data-view", state.view);
  if (drawn && before === state.view) drawn.scrollTop = scrolled;
}

function viewOf(opened: Opened): HTMLElement {
  switch (state.view) {
    case "verdict":
      return verdictView(state, opened);
    case "answers":
      return answersView(opened, go);
    case "receipts":
      return receiptsView(state, opened, go);
    case "timeline":
      return timelineView(state, opened, go);
    case "artifacts":
      return artifactsView(state, opened, go);
    case "bytes":
      return bytesView(state, opened, go);
  }
}

function drawNav(): void {
  const { opened } = state;
  const numbers: Record<View, number | undefined> = {
    verdict: undefined,
    answers: opened?.story.answers.reduce((all, answer) => all + answer.counts.near + answer.counts.unverified, 0) || undefined,
    receipts: opened?.story.receipts.length,
    timeline: opened?.story.events.length,
    artifacts: opened?.story.artifacts.length,
    bytes: opened?.flips.size === 0 ? undefined : opened?.flips.size,
  };
  nav.replaceChildren(
    ...VIEWS.map((view) => {
      const [name, sign] = NAV[view];
      const number = numbers[view];
      const label = h("button", { type: "button", id: `nav-${view}`, "aria-current": state.view === view ? "page" : undefined, click: () => (show(view), focusOn(`#nav-${view}`)) }, icon(sign), name, number === undefined ? "" : h("span", { class: "nav-count" }, number.toLocaleString("en")));
      return h("li", {}, label);
    }),
  );
}

function drawVerdict(): void {
  const { opened } = state;
  if (!opened) return;
  const { checked, flips } = opened;
  const { word, sign, line } = face(checked, state);
  const changed = flips.size === 0 ? undefined : h("div", { class: "changed" }, h("span", {}, `You changed ${count(flips.size, "byte")}.`), h("button", { type: "button", class: "btn", click: () => go.restore() }, icon("back", 14), "Put back"));
  banner.className = `banner v-${checked.report.verdict}`;
  const caught = checked.refusedBy === undefined ? "" : h("span", { class: "caught-by" }, `${stepName(checked.refusedBy)}: `, h("code", {}, ...shown(checked.report.verdict === "invalid" ? checked.report.place : "")));
  banner.replaceChildren(
    h("div", { class: "banner-sign" }, icon(sign, 22)),
    h("div", { class: "banner-words" }, h("h1", { id: "verdict" }, word), h("p", {}, line), caught),
  );
  append(banner, [changed]);
  live.textContent = `${word}. ${line}`;
  drawTrust(opened);
  drawSince(opened);
  drawClockFields(opened);
  drawNav();
}

function drawTrust(opened: Opened): void {
  const { trusted } = opened.checked.report;
  const fault = state.trustFault;
  trustField.setAttribute("aria-invalid", fault === undefined ? "false" : "true");
  trustSaid.className = `trust-said ${fault !== undefined ? "bad" : trusted.length > 0 ? "good" : ""}`;
  trustSaid.textContent =
    fault !== undefined
      ? `This names no key: ${fault.replace(/^this is not a valid /, "no ")}.`
      : trusted.length > 0
        ? `You trust the ${trusted.join(" and the ")} key.`
        : state.trust.length > 0 && opened.checked.report.verdict === "invalid"
          ? "Whose keys they are is asked only of a bundle that holds together."
        : state.trust.length > 0
          ? state.trust.every(({ witness }) => witness)
            ? "A witness confirms that the log only grew; it does not sign proofs. Name a key of the owner too."
            : "The key you named did not sign this bundle."
          : "From its owner, by another way than this file. A key that came with the bundle shows only that it is of one piece.";
}

function drawSince(opened: Opened): void {
  const { report } = opened.checked;
  const fault = state.sinceFault;
  const grown = report.proven.some((line) => line.includes("the checkpoint you hold"));
  sinceField.setAttribute("aria-invalid", fault === undefined ? "false" : "true");
  sinceSaid.className = `trust-said ${fault !== undefined ? "bad" : grown ? "good" : ""}`;
  sinceSaid.textContent =
    fault !== undefined
      ? `This is no checkpoint: ${fault}.`
      : state.since === undefined
        ? "Shows whether the log has only grown since you got it."
        : grown
          ? "Since then the log has only grown."
          : report.verdict === "incomplete"
            ? "This bundle does not show the way from there; ask for an export with --since."
            : "It is not shown that this log grew out of that one.";
}

function themeButton(): HTMLElement {
  const root = document.documentElement;
  const dark = (): boolean => (root.dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  return h("button", { type: "button", class: "btn quiet icon-only", "aria-label": "Light or dark", title: "Light or dark", click: () => void (root.dataset["theme"] = dark() ? "light" : "dark") }, icon("half"));
}

/** The page before anything was dropped. */
function welcome(): HTMLElement {
  const steps: [string, string][] = [
    ["Drop", "the bundle somebody gave you. It stays on this machine."],
    ["Name a key", "you have from its owner by another way."],
    ["Read", "what is proven, what is only asserted, and what no proof can show."],
    ["Break it:", "change any byte, and see which check notices."],
  ];
  const side = h(
    "div",
    { class: "hello" },
    h("div", { class: "brand" }, mark(22), "Hermit"),
    arcs(140),
    h("h1", {}, "Check it yourself."),
    h("p", { class: "hello-line" }, "A proof is worth what a stranger can check without asking anybody. This page is the whole check: one file, no network."),
    h("ol", { class: "hello-steps" }, ...steps.map(([word, rest], index) => h("li", { class: index === 1 ? "person" : "" }, h("strong", {}, word), ` ${rest}`))),
  );
  const zone = h(
    "div",
    { class: "zone", id: "zone" },
    icon("file", 32),
    h("h2", {}, "Drop a proof bundle here"),
    h("p", {}, "The .zip that ", h("code", {}, "hermit proof export"), " wrote"),
    h("button", { type: "button", class: "btn primary loose", click: () => chooser.click() }, icon("open", 14), "Choose a file"),
    h("p", { class: "refused", id: "refused", role: "alert" }),
  );
  const foot = h("p", { class: "welcome-foot" }, "Nothing is sent anywhere: this page may not reach a network, and your browser holds it to that. It is a second implementation of ", h("code", {}, "hermit-verify"), ", kept to the same verdicts by the same tests.");
  return h("div", { class: "welcome" }, side, h("div", { class: "welcome-main" }, zone, foot, h("div", { class: "corner" }, themeButton())));
}

function frame(): HTMLElement {
  const rail = h(
    "div",
    { class: "rail" },
    h("div", { class: "brand" }, mark(22), "Hermit", h("span", { class: "brand-of" }, "proof")),
    h("nav", { "aria-label": "What to see" }, nav),
    h("section", { class: "trust", "aria-label": "Trust" }, h("label", { for: "trust" }, "A key you trust"), trustField, trustSaid),
    h("section", { class: "trust", "aria-label": "History" }, h("label", { for: "since" }, "A checkpoint you have from before"), sinceField, sinceSaid),
    clocks,
    h("p", { class: "rail-foot" }, icon("shield", 14), "No network, nothing kept"),
  );
  const bar = h("header", { class: "bar" }, title, h("span", { class: "push" }), h("button", { type: "button", class: "btn", id: "another", click: () => chooser.click() }, icon("open", 14), "Open another"), themeButton());
  return h("div", { class: "frame" }, rail, h("div", { class: "body" }, bar, banner, main));
}

let framed = false;

function draw(): void {
  const { opened } = state;
  if (!opened) {
    page.replaceChildren(welcome(), chooser, live);
    return;
  }
  if (!framed) page.replaceChildren(frame(), chooser, live);
  framed = true;
  title.replaceChildren(icon("file"), h("strong", {}, ...shown(opened.name)), h("span", { class: "dim" }, bytes(opened.original.length)));
  drawVerdict();
  drawView();
}

/** The whole page takes a file; what is dragged over it is told so. */
function watchDrops(): void {
  const over = (on: boolean): void => void document.documentElement.classList.toggle("dragging", on);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) over(false);
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    const file = event.dataTransfer?.files[0];
    if (file) void take(file);
  });
}

watchDrops();
draw();
