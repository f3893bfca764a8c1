/** The bytes themselves: change any of them, see which check breaks, put it back. */
import { STEPS, type Step } from "../verify/check.ts";
import { append, h, icon } from "./dom.ts";
import { judge, placeOf, setByte, spanOf, type Opened, type State } from "./state.ts";
import { count, shown } from "./words.ts";
import { stepName } from "./verdict.ts";

const ROW = 16;
const ROWS = 24;
/** Bytes that the page tries by itself. */
const TRIALS = 200;

/** What the bytes view asks of the page. */
interface BytesGo {
  /** Choose another file or byte; the grid is drawn again. */
  choose(file: string, offset: number): void;
  /** The bytes were changed: check them again. */
  changed(): void;
  restore(): void;
}

const two = (byte: number): string => byte.toString(16).padStart(2, "0");
const seen = (byte: number): string => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·");

export function bytesView(state: State, opened: Opened, go: BytesGo): HTMLElement {
  const span = spanOf(opened, state.file);
  const size = span.end - span.start;
  const offset = Math.max(0, Math.min(state.offset, size - 1));
  const left = h("div", { class: "hex-side" }, picker(state, opened, go), grid(state, opened, offset, go), pager(state, size, offset, go));
  return h("div", { class: "view bytes-view" }, left, panel(state, opened, span.start + offset, offset, go));
}

function picker(state: State, opened: Opened, go: BytesGo): HTMLElement {
  const select = h("select", { class: "field", id: "file" });
  const option = (value: string, label: string): HTMLElement => h("option", { value, selected: value === state.file }, label);
  append(select, [option("", `the whole zip (${opened.bytes.length.toLocaleString("en")} bytes)`)]);
  const folders = new Map<string, HTMLElement[]>();
  for (const [name, size] of opened.zip?.sizes ?? []) {
    const folder = name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "top";
    const group = folder.startsWith("artifacts/") ? "artifacts" : folder;
    folders.set(group, [...(folders.get(group) ?? []), option(name, `${name} (${size.toLocaleString("en")})`)]);
  }
  for (const [folder, options] of folders) append(select, [h("optgroup", { label: folder }, ...options)]);
  select.addEventListener("change", () => go.choose(select.value, 0));
  return h("div", { class: "hex-head" }, h("label", { for: "file" }, "Bytes of"), select);
}

function grid(state: State, opened: Opened, offset: number, go: BytesGo): HTMLElement {
  const { start, end } = spanOf(opened, state.file);
  const top = windowTop(offset, end - start);
  const table = h("div", { class: "hex", role: "grid", "aria-label": "Bytes in hexadecimal", "aria-rowcount": Math.ceil((end - start) / ROW) });
  for (let row = top; row < Math.min(end - start, top + ROWS * ROW); row += ROW) {
    const cells: HTMLElement[] = [h("span", { class: "hex-at", role: "rowheader" }, row.toString(16).padStart(6, "0"))];
    let letters = "";
    for (let index = row; index < Math.min(row + ROW, end - start); index += 1) {
      const at = start + index;
      const byte = opened.bytes[at] ?? 0;
      letters += seen(byte);
      cells.push(
        h(
          "span",
          {
            role: "gridcell",
            class: `byte${opened.flips.has(at) ? " flipped" : ""}`,
            tabindex: index === offset ? 0 : -1,
            "aria-selected": index === offset ? "true" : "false",
            "data-offset": index,
          },
          two(byte),
        ),
      );
    }
    append(table, [h("div", { class: "hex-row", role: "row" }, ...cells, h("span", { class: "hex-text", "aria-hidden": "true" }, letters))]);
  }
  table.addEventListener("click", (event) => {
    const cell = event.target instanceof HTMLElement ? event.target.dataset["offset"] : undefined;
    if (cell !== undefined) go.choose(state.file, Number(cell));
  });
  table.addEventListener("keydown", (event) => {
    const keys: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: ROW, ArrowUp: -ROW, PageDown: ROW * ROWS, PageUp: -ROW * ROWS, Home: -offset, End: end - start - 1 - offset };
    const move = keys[event.key];
    if (move === undefined && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (move === undefined) flip(opened, start + offset, 1, go);
    else go.choose(state.file, Math.max(0, Math.min(end - start - 1, offset + move)));
  });
  return table;
}

/** First byte shown, so that the chosen one is in sight. */
function windowTop(offset: number, size: number): number {
  const page = Math.floor(offset / (ROW * ROWS)) * ROW * ROWS;
  return Math.max(0, Math.min(page, Math.ceil(size / ROW) * ROW - ROW));
}

function pager(state: State, size: number, offset: number, go: BytesGo): HTMLElement {
  const page = ROW * ROWS;
  const to = (label: string, target: number, able: boolean): HTMLElement => h("button", { type: "button", class: "btn", disabled: !able, click: () => go.choose(state.file, target) }, label);
  const now = Math.floor(offset / page);
  return h(
    "div",
    { class: "hex-foot" },
    to("Back", Math.max(0, (now - 1) * page), now > 0),
    to("On", Math.min(size - 1, (now + 1) * page), (now + 1) * page < size),
    h("span", { class: "dim" }, `page ${now + 1} of ${Math.max(1, Math.ceil(size / page))}. Arrow keys move, Enter changes a bit.`),
  );
}

function flip(opened: Opened, at: number, mask: number, go: BytesGo): void {
  setByte(opened, at, (opened.bytes[at] ?? 0) ^ mask);
  go.changed();
}

function panel(state: State, opened: Opened, at: number, offset: number, go: BytesGo): HTMLElement {
  const byte = opened.bytes[at] ?? 0;
  const was = opened.flips.get(at);
  const place = placeOf(opened, at);
  const bits = [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => {
    const on = (byte >> bit) & 1;
    return h("button", { type: "button", class: "bit", "aria-label": `bit ${bit}, now ${on}`, "aria-pressed": on === 1 ? "true" : "false", click: () => flip(opened, at, 1 << bit, go) }, String(on));
  });
  const where = state.file !== "" ? `byte ${offset.toLocaleString("en")} of this file` : place ? `in ${place.file}, byte ${place.offset.toLocaleString("en")}` : "between the files: a header of the zip";
  return h(
    "aside",
    { class: "hex-panel", "aria-label": "The chosen byte" },
    h("h2", {}, "This byte"),
    h("p", { class: "big-byte" }, h("code", {}, two(byte)), was === undefined ? "" : h("span", { class: "was" }, ` was ${two(was)}`), h("span", { class: "dim" }, ` ${seen(byte) === "·" ? "" : `“${seen(byte)}” `}${byte}`)),
    h("p", { class: "dim" }, where),
    h("div", { class: "bits", role: "group", "aria-label": "Its bits" }, ...bits),
    h("button", { type: "button", class: "btn primary", id: "flip", click: () => flip(opened, at, 1, go) }, icon("flip", 14), was === undefined ? "Flip this byte" : "Flip it again"),
    outcome(opened, go),
    trials(state, opened),
  );
}

function outcome(opened: Opened, go: BytesGo): HTMLElement {
  const { report, refusedBy } = opened.checked;
  if (opened.flips.size === 0) return h("section", { class: "outcome" }, h("p", { class: "dim" }, "Change it, and see whether the check notices. Nothing leaves this page, and the file on your disk stays as it is."));
  const caught = report.verdict === "invalid" && refusedBy !== undefined;
  return h(
    "section",
    { class: `outcome ${caught ? "caught" : "missed"}` },
    h("h3", {}, icon(caught ? "cross" : "ask", 14), caught ? `Caught by: ${stepName(refusedBy)}` : "Not caught"),
    report.verdict === "invalid" ? h("p", {}, h("code", {}, ...shown(report.place)), h("br"), ...shown(report.why)) : h("p", {}, "The check says the same as before. Please tell us how."),
    h("p", { class: "dim" }, `${count(opened.flips.size, "byte")} changed.`),
    h("button", { type: "button", class: "btn", id: "restore", click: () => go.restore() }, icon("back", 14), "Put everything back"),
  );
}

/** Changes bytes by chance, one at a time, and counts what catches them. */
function trials(state: State, opened: Opened): HTMLElement {
  const box = h("section", { class: "trials" });
  const button = h("button", { type: "button", class: "btn", id: "trials" }, `Try ${TRIALS} random bytes`);
  const told = h("p", { class: "dim", role: "status" }, "One after the other, each put back.");
  const list = h("ol", { class: "tally" });
  button.addEventListener("click", () => {
    button.disabled = true;
    void run(state, opened, told, list).then(() => {
      button.disabled = false;
    });
  });
  append(box, [h("h3", {}, "Let chance try"), button, told, list]);
  return box;
}

async function run(state: State, opened: Opened, told: HTMLElement, list: HTMLElement): Promise<void> {
  const tally = new Map<Step | "missed", number>();
  const copy = opened.original.slice();
  const places = crypto.getRandomValues(new Uint32Array(TRIALS));
  for (const [index, chance] of places.entries()) {
    const at = chance % copy.length;
    copy[at] = (copy[at] ?? 0) ^ (1 << (chance >>> 29));
    const { report, refusedBy } = judge(copy, state);
    copy[at] = opened.original[at] ?? 0;
    const caught = report.verdict === "invalid" && refusedBy ? refusedBy : "missed";
    tally.set(caught, (tally.get(caught) ?? 0) + 1);
    if (index % 10 !== 9) continue;
    const missed = tally.get("missed") ?? 0;
    told.textContent = `${index + 1} of ${TRIALS} tried, ${index + 1 - missed} refused${missed > 0 ? `, ${missed} not noticed` : ""}.`;
    list.replaceChildren(...STEPS.filter((step) => tally.has(step)).map((step) => h("li", {}, h("span", {}, stepName(step)), h("span", {}, String(tally.get(step) ?? 0)))));
    // The page stays alive in between.
    await new Promise((next) => setTimeout(next));
  }
}
