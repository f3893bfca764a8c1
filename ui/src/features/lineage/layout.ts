// From nodes and lines to places and shapes. Pure, and linear in what is drawn: a thousand nodes take a few milliseconds.
import { brief, capital, kindWords, said } from "~/screen/words";
import type { Drawing, Node } from "~/ipc/generated/lineage";
import { BANDS, type Band, type Line, type View, band, lines } from "./path";

export const NODE = { width: 180, height: 38 } as const;
const COLUMN = 196;
const LINE = 50;
const GAP = 26;
/** Room on the left for the names of bands. */
export const LABELS = 86;
/** Lines that one band may take before it is folded. */
const LINES_MAX = 4;
/** Nodes side by side before a row is folded, and the width a drawing has at least. */
const ABREAST = 6;
const ABREAST_MIN = 3;

export interface Placed {
  node: Node;
  name: string;
  /** A person stands here: they asked for it, or decided it. */
  person: boolean;
  x: number;
  y: number;
}

export interface Plan {
  placed: readonly Placed[];
  stripes: readonly { name: string; x: number; y: number; width: number; height: number }[];
  lines: readonly Line[];
  width: number;
  height: number;
}

/** What every node is called. An effect is what became of an action, and is called like it. */
export function nodeNames(drawing: Drawing): Map<string, string> {
  const byId = new Map(drawing.nodes.map((node) => [node.id, node]));
  const byTask = new Map<string, Node>();
  for (const node of drawing.nodes) if (node.id === node.task_id && node.label !== null) byTask.set(node.task_id, node);
  const nameOf = (node: Node): string => {
    const action = node.kind === "effect" ? byId.get(node.id.replace(/^effect:/, "")) : undefined;
    if (action?.kind === "action" && action.label !== null) return capital(brief(said(action.label)));
    const task = node.detail === "task.contract" ? byTask.get(node.task_id) : undefined;
    if (task !== undefined) return brief(said(task.label));
    const label = node.label === null ? "" : said(node.label);
    if (label !== "" && !label.startsWith("sha256:")) return capital(brief(label));
    return capital(kindWords(node.detail === "" ? node.kind : node.detail));
  };
  return new Map(drawing.nodes.map((node) => [node.id, nameOf(node)]));
}

function grouped<K>(nodes: readonly Node[], by: (node: Node) => K): Map<K, Node[]> {
  const groups = new Map<K, Node[]>();
  for (const node of nodes) {
    const group = groups.get(by(node));
    if (group === undefined) groups.set(by(node), [node]);
    else group.push(node);
  }
  return groups;
}

/** Rows of the drawing: bands on the path, layers of the host otherwise. */
function rows(nodes: readonly Node[], view: View): { name: string; nodes: Node[] }[] {
  const inOrder = [...nodes].sort((a, b) => a.layer - b.layer || a.row - b.row || a.at - b.at);
  if (view !== "path") return [...grouped(inOrder, (node) => node.layer).values()].map((layer) => ({ name: "", nodes: layer }));
  const bands = grouped<Band>(inOrder, (node) => band(node) ?? "Effect");
  return BANDS.map((name) => ({ name, nodes: bands.get(name) ?? [] })).filter((row) => row.nodes.length > 0);
}

/** Lines of one row: what came of what below each other while that is a few lines, else as many side by side as fit. */
function fold(nodes: readonly Node[], per: number): Node[][] {
  const layers = [...grouped(nodes, (node) => node.layer).values()];
  if (layers.length <= LINES_MAX && layers.every((layer) => layer.length <= per)) return layers;
  return Array.from({ length: Math.ceil(nodes.length / per) }, (_, at) => nodes.slice(at * per, (at + 1) * per));
}

export function plan(drawing: Drawing, nodes: readonly Node[], names: ReadonlyMap<string, string>, view: View): Plan {
  const all = rows(nodes, view).map((row) => ({ name: row.name, folded: fold(row.nodes, Math.max(ABREAST, Math.ceil(Math.sqrt(row.nodes.length) * 2))) }));
  const widest = Math.max(...all.flatMap((row) => row.folded.map((line) => line.length)), ABREAST_MIN);
  const placed: Placed[] = [];
  const stripes: Plan["stripes"][number][] = [];
  let y = GAP;
  for (const row of all) {
    const height = row.folded.length * LINE + GAP;
    // Authority stands beside the stream of content, not in its way.
    const aside = row.name === "Approval" || row.name === "Decision" ? COLUMN : 0;
    if (row.name !== "") {
      stripes.push({ name: row.name, x: -LABELS, y: y - GAP / 2 - (LINE - NODE.height) / 2, width: LABELS + widest * COLUMN + 12, height });
    }
    row.folded.forEach((inLine, line) => inLine.forEach((node, at) => placed.push({
      node, name: names.get(node.id) ?? node.kind, person: node.kind === "approval" || node.kind === "ingress",
      x: (at + (widest - inLine.length) / 2) * COLUMN + aside, y: y + line * LINE,
    })));
    y += height;
  }
  const width = Math.max(...placed.map((one) => one.x + NODE.width), widest * COLUMN) + 12;
  return { placed, stripes, lines: lines(drawing, nodes), width, height: y };
}

export function sizeOf(planned: Plan): { x: number; y: number; width: number; height: number } {
  return { x: -LABELS, y: 0, width: planned.width + LABELS, height: planned.height };
}

/** The node at a place, if there is one. */
export function at(planned: Plan, where: { x: number; y: number }): Placed | null {
  const isThere = (one: Placed) => where.x >= one.x && where.x <= one.x + NODE.width && where.y >= one.y && where.y <= one.y + NODE.height;
  return planned.placed.find(isThere) ?? null;
}

/** Paths of all lines and, for who looks from afar, of all nodes. */
export function shapes(planned: Plan, focus: string) {
  const places = new Map(planned.placed.map((one) => [one.node.id, one]));
  const made = { edges: "", lit: "", boxes: "", untrusted: "", feeding: "", people: "", focus: "" };
  for (const line of planned.lines) {
    const [from, to] = [places.get(line.from), places.get(line.to)];
    if (from === undefined || to === undefined) continue;
    const curve = arc(from, to);
    if (line.carries) made.lit += curve;
    else made.edges += curve;
  }
  for (const { node, x, y, person } of planned.placed) {
    const box = `M${x} ${y}h${NODE.width}v${NODE.height}h-${NODE.width}z`;
    if (node.id === focus) made.focus += box;
    else if (person) made.people += box;
    else if (node.trust === "untrusted") made.untrusted += box;
    else if (node.feeds || node.tainted) made.feeding += box;
    else made.boxes += box;
  }
  return made;
}

/** From the foot of one card to the head of another. */
function arc(from: Placed, to: Placed): string {
  const [x1, y1, x2, y2] = [from.x + NODE.width / 2, from.y + NODE.height, to.x + NODE.width / 2, to.y];
  const bend = y2 >= y1 ? (y2 - y1) / 2 : Math.min(60, Math.sqrt(y1 - y2) * 6);
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}
