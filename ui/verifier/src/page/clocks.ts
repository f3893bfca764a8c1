/** What clocks elsewhere say of a bundle, what the reader can check them with, and who the instance is. */
import { Headers } from "../verify/clocks/bitcoin.ts";
import { atTime, beforeTime, type Clocks } from "../verify/clocks/stamp.ts";
import { certificatesOf } from "../verify/clocks/x509.ts";
import { ANCHORS } from "../verify/layout.ts";
import type { AnchorFound } from "../verify/report.ts";
import { append, h, hash, icon } from "./dom.ts";
import type { Opened, State } from "./state.ts";
import { count, ids, shown } from "./words.ts";

const CLOCKS: Record<AnchorFound["clock"], string> = {
  rfc3161: "Time-stamp authority",
  opentimestamps: "OpenTimestamps",
  op_return: "Bitcoin transaction",
};

/** Headers beyond this are not read into a page: with 80 bytes each, a hundred years of them. */
const HEADERS_BYTES_MAX = 512 * 1024 * 1024;

/** Reads what the reader gave; a fault is said, and what was there before is gone. */
type Take = (files: readonly Uint8Array[]) => Pick<Clocks, "headers"> | Pick<Clocks, "authorities">;

const takeAuthorities: Take = (files) => ({ authorities: files.flatMap(certificatesOf) });
const takeHeaders: Take = ([file]) => ({ headers: file && Headers.parse(file) });

/** A field that takes files and says what became of them. */
function field(id: string, label: string, hint: string, many: boolean, took: (files: readonly File[], said: HTMLElement) => Promise<void>): HTMLElement {
  const said = h("p", { class: "trust-said", id: `${id}-said` }, hint);
  const input = h("input", { type: "file", class: "field", id, multiple: many, "aria-describedby": `${id}-said` });
  input.addEventListener("change", () => void took([...(input.files ?? [])], said));
  return h("section", { class: "trust", "aria-label": label }, h("label", { for: id }, label), input, said);
}

/** The two fields of the rail; `changed` runs when the reader gave something. */
export function clockFields(state: State, changed: () => void): HTMLElement {
  const take = (read: Take, none: () => void, words: () => string) => async (files: readonly File[], said: HTMLElement): Promise<void> => {
    none();
    try {
      if (files.some(({ size }) => size > HEADERS_BYTES_MAX)) throw new Error("it is larger than a page can hold");
      const all = await Promise.all(files.map(async (file) => new Uint8Array(await file.arrayBuffer())));
      if (all.length > 0) Object.assign(state.clocks, read(all));
      said.className = "trust-said";
      said.textContent = words();
    } catch (error) {
      said.className = "trust-said bad";
      said.textContent = `This cannot be used: ${error instanceof Error ? error.message : String(error)}.`;
    }
    changed();
  };
  const authorities = field("authorities", "Certificates of a time-stamp authority", "From the authority itself: PEM or DER.", true, take(takeAuthorities, () => (state.clocks.authorities = []), () => `${count(state.clocks.authorities.length, "certificate")} named.`));
  const headers = field("headers", "Headers of Bitcoin blocks", "From a Bitcoin node you trust: 80 bytes each, or a line of hex.", false, take(takeHeaders, () => delete state.clocks.headers, () => (state.clocks.headers ? `${count(state.clocks.headers.size, "header")}; each has the work that it states.` : "No headers.")));
  return h("div", { id: "clock-fields", hidden: true }, authorities, headers);
}

/** Shows the fields for a bundle that a clock stamped. */
export function drawClockFields(opened: Opened): void {
  const isStamped = [...(opened.zip?.sizes.keys() ?? [])].some((name) => name.startsWith(ANCHORS));
  document.getElementById("clock-fields")?.toggleAttribute("hidden", !isStamped);
}

/** A time in UTC: one that a clock proves is none of this machine's zone. */
function utc(text: string): HTMLElement {
  return h("time", { datetime: text.replace(" UTC", "Z").replace(" ", "T") }, text);
}

function state(one: AnchorFound): HTMLElement {
  if (one.state === "anchored") return h("span", { class: "tag s-done" }, icon("tick", 11), "proven");
  return one.state === "pending" ? h("span", { class: "tag s-wait" }, "pending") : h("span", { class: "tag s-unknown" }, "not proven");
}

function lines(list: readonly string[]): HTMLElement {
  return h("ul", { class: "clock-says" }, ...list.map((line) => h("li", {}, ...ids(line))));
}

function row(one: AnchorFound): HTMLElement {
  const what = one.link === null ? (one.covers_task ? "a head of the log with this task under it" : "a head of the log without this task") : `link ${one.link} of the instance`;
  const when = one.not_after === null ? "" : h("span", { class: "whole" }, "before ", utc(beforeTime(one.not_after)));
  const trust = one.on_trust.length === 0 ? h("span", { class: "dim" }, "–") : lines(one.on_trust);
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, CLOCKS[one.clock], h("span", { class: "dim" }, `anchor ${one.number}: ${what}`)),
    h("td", {}, state(one), when),
    h("td", {}, lines(one.says)),
    h("td", {}, trust),
  );
}

/** Which clocks agree, what they prove, and what one has to believe; nothing for a bundle without anchors. */
export function clocksSection({ checked: { report, check } }: Opened): HTMLElement | undefined {
  const { anchors, proven_not_after: notAfter } = report;
  if (anchors.length === 0) return undefined;
  const agree = anchors.filter((one) => one.covers_task && one.not_after !== null);
  const lead =
    notAfter === null
      ? h("p", {}, "No clock proves a time for this task with what you gave. Name the authority's certificate, or give headers of Bitcoin, in the fields beside this.")
      : h("p", {}, "Everything that the task's checkpoint covers existed before ", utc(beforeTime(notAfter)), `. ${agree.length === 1 ? "One clock says so" : `${agree.length} clocks agree`}.`);
  const newest = check?.facts.newest;
  const own = notAfter === null || newest === undefined ? undefined : h("p", { class: "dim" }, "By the machine's own clock the newest event here is of ", utc(atTime(newest)), ". No clock proves that: it is only asserted.");
  const titles = ["Clock", "Time", "What it says", "What you take on trust"].map((title) => h("th", { scope: "col" }, title));
  const table = h("table", { class: "keys clocks" }, h("thead", {}, h("tr", {}, ...titles)), h("tbody", {}, ...anchors.map(row)));
  const section = h("section", { class: "clock-section", id: "clocks" }, h("h2", {}, "What clocks elsewhere say"), lead);
  append(section, [own, h("div", { class: "scroll-x", tabindex: 0, role: "group", "aria-label": "Clocks" }, table)]);
  return section;
}

/** Who the instance is; nothing for a bundle that does not say. */
export function instanceSection({ checked: { report } }: Opened): HTMLElement | undefined {
  const { identity } = report;
  if (!identity) return undefined;
  const term = (name: string, ...value: (Node | string)[]): Node[] => [h("dt", {}, name), h("dd", {}, ...value)];
  const list = h("dl", { class: "facts" });
  append(list, term("Instance", h("code", {}, ...shown(identity.instance_id ?? "unknown"))));
  if (identity.key_in_force !== null) append(list, term("Key in force", hash(identity.key_in_force)));
  append(list, term("Chain", `${count(identity.links, "link")}, ${identity.unbroken ? "unbroken back to its genesis" : "broken"}`));
  const section = h("section", { id: "instance" }, h("h2", {}, "Who the instance is"), list);
  const found = identity.findings.map(({ what, number, says }) => h("li", {}, h("strong", {}, what.replaceAll("_", " ")), number === null ? " of the key: " : ` at link ${number}: `, ...shown(says)));
  if (found.length > 0) append(section, [h("ul", { class: "limits" }, ...found)]);
  return section;
}
