/** Elements without a framework: what is shown is only ever text, never markup. */

type Child = Node | string | number | false | undefined;
type Attributes = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
}

/** Adds children; nothing and `false` add nothing. */
export function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  }
}

/** An element; a function among the attributes listens to the event of its name. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** An SVG element. */
export function s(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
}

const ICONS: Record<string, string[]> = {
  tick: ["M3 8.5 6.5 12 13 4.5"],
  cross: ["M4 4l8 8M12 4l-8 8"],
  ask: ["M8 11.8v.4M6 5.6A2.1 2.1 0 1 1 8.6 8c-.5.3-.6.7-.6 1.4"],
  gap: ["M3 8h2M7 8h2M11 8h2"],
  file: ["M4 1.8h5l3 3v9.4H4zM9 1.8v3h3"],
  open: ["M1.8 12.8V3.4h4l1.4 1.8h6.6v7.6z"],
  flip: ["M3 6.5h9L9.5 4M13 9.5H4L6.5 12"],
  back: ["M6.5 3 3 6.5 6.5 10M3 6.5h6a3.5 3.5 0 0 1 0 7H6"],
  half: ["M8 2.2v11.6A5.8 5.8 0 0 0 8 2.2z", "M8 2.2a5.8 5.8 0 1 0 0 11.6 5.8 5.8 0 0 0 0-11.6z"],
  copy: ["M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1"],
  shield: ["M8 1.8 13 3.6v4c0 3-2 5.3-5 6.6-3-1.3-5-3.6-5-6.6v-4z", "M5.6 7.8 7.4 9.6 10.6 6"],
  list: ["M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1"],
  box: ["M2.2 5 8 2l5.8 3v6L8 14l-5.8-3zM2.2 5 8 8l5.8-3M8 8v6"],
  hex: ["M2.5 3.5h3v4h-3zM2.5 10v3.5M5.5 10h0M8.5 3.5v4M11 3.5h3v4h-3zM5.5 13.5v-3.5M8 10h3v3.5H8zM13.5 10v3.5"],
  receipt: ["M3.5 1.8h9v12.4l-2.2-1.4L8 14.2l-2.3-1.4-2.2 1.4zM6 5.5h4M6 8.5h4"],
  ring: ["M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z"],
};

export function icon(name: keyof typeof ICONS | string, size = 16): SVGElement {
  const drawn = s("svg", { class: "ic", width: size, height: size, viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" });
  for (const path of ICONS[name] ?? []) drawn.append(s("path", { d: path }));
  return drawn;
}

/** The sign: arcs that do not close, and a dot in the gap. The dot is the person. */
export function mark(size: number): SVGElement {
  const arcs = ["M13.67 20.52A9.4 9.4 0 1 1 20.52 13.67", "M13.84 18.94A6 6 0 1 1 18.94 13.84", "M14.11 17.18A2.8 2.8 0 1 1 17.18 14.11"];
  return s("svg", { class: "mark", width: size, height: size, viewBox: "0 0 24 24", "aria-hidden": "true" }, ...arcs.map((d) => s("path", { d })));
}

const ARCS: [string, number][] = [
  ["M146.15 202.33A94 94 0 1 1 202.33 146.15", 1],
  ["M145.79 195.23A77 77 0 1 1 195.23 145.79", 0.55],
  ["M145.81 187.64A61 61 0 1 1 187.64 145.81", 0.48],
  ["M145.85 180.32A46 46 0 1 1 180.32 145.85", 0.41],
  ["M145.52 173.18A32.5 32.5 0 1 1 173.18 145.52", 0.34],
  ["M145.5 166A20.5 20.5 0 1 1 166 145.5", 0.27],
  ["M147.26 158.85A10 10 0 1 1 158.85 147.26", 0.22],
];

/** The large arcs of an empty page; the dot stands for the person who is to act. */
export function arcs(size: number): SVGElement {
  const drawn = s("svg", { class: "arcs", width: size, height: size, viewBox: "0 0 240 240", "aria-hidden": "true" });
  drawn.append(...ARCS.map(([d, opacity]) => s("path", { d, opacity })), s("circle", { class: "person", cx: 180, cy: 180, r: 8 }));
  return drawn;
}

/** A digest or id, its beginning and end; whole to a copier, a pointer and a reader of the screen. */
export function short(text: string, head = 8, tail = 4): string {
  return text.length > head + tail + 1 ? `${text.slice(0, head)}…${text.slice(-tail)}` : text;
}

/** An identifier keeps its kind: `rcp_01a2…3a4f`. */
export function shortId(text: string): string {
  const cut = text.indexOf("_") + 1;
  return cut > 0 ? `${text.slice(0, cut)}${short(text.slice(cut), 4, 4)}` : short(text);
}

export function hash(text: string): HTMLElement {
  return h("code", { class: "hash", title: text, "aria-label": text }, text.includes("_") ? shortId(text) : short(text));
}
