// The path as a person reads it: nine bands from goal to file. What lies between two shown things is drawn as one line,
// and a line that a longer way says already is left out.
import type { Drawing, Edge, Node } from "~/ipc/generated/lineage";
import type { NodeKind } from "~/ipc/generated/words";

export type View = "path" | "all" | "recall";

export const BANDS = ["Goal", "Evidence", "Context", "Belief", "Decision", "Approval", "Effect", "Receipt", "File"] as const;
export type Band = (typeof BANDS)[number];

/** Kinds of artifacts that record how the work went; they stand behind what is shown, and are not shown on the path. */
const RECORDS = /^(model\.|policy|state\.witness|capability|approval|environment|working\.state|action\.request|step\.contract|receipt)/;

/** The band of a node, or none where it only joins others. */
export function band(node: Node): Band | null {
  switch (node.kind) {
    case "ingress": case "task":
      return "Goal";
    case "belief": case "memory":
      return "Belief";
    case "decision":
      return "Decision";
    case "approval":
      return "Approval";
    case "receipt":
      return "Receipt";
    case "effect":
      return node.detail.endsWith("observe") ? null : "Effect";
    case "artifact":
      if (node.detail === "context.pack") return "Context";
      if (node.detail === "task.contract" || node.detail === "message") return "Goal";
      if (RECORDS.test(node.detail)) return null;
      return node.detail === "before.image" || node.detail.startsWith("file") || node.detail === "command.output" ? "File" : "Evidence";
    case "step": case "attempt": case "action": case "policy_result": case "witness": case "grant":
      return null;
    default:
      node.kind satisfies never;
      return null;
  }
}

/** Authority and its object belong to a path though no content flows along them. */
const JOINED: ReadonlySet<NodeKind> = new Set(["approval", "decision", "effect", "receipt", "task", "ingress"]);

export function inView(drawing: Drawing, view: View): Node[] {
  if (view === "all") return drawing.nodes;
  const isFocus = (node: Node) => node.id === drawing.focus;
  if (view === "recall") return drawing.nodes.filter((node) => isFocus(node) || node.tainted);
  const behind = ancestors(drawing);
  const near = after(drawing);
  const nodes = drawing.nodes.filter(
    (node) => isFocus(node) || (band(node) !== null && (node.feeds || (JOINED.has(node.kind) && behind.has(node.id)) || near.has(node.id))),
  );
  // Earlier packs are in the last one by what they led to: it alone was in sight when the act was proposed.
  const packs = nodes.filter((node) => node.detail === "context.pack" && !isFocus(node));
  const last = packs.reduce<Node | null>((a, b) => (a === null || b.at >= a.at ? b : a), null);
  const hasContract = nodes.some((node) => node.detail === "task.contract");
  return nodes.filter((node) => (!packs.includes(node) || node === last) && !(hasContract && node.kind === "task" && !isFocus(node)));
}

function walk(edges: readonly Edge[], from: string, along: (edge: Edge) => [string, string], goes: (edge: Edge) => boolean): Set<string> {
  const next = new Map<string, string[]>();
  for (const edge of edges) {
    if (!goes(edge)) continue;
    const [here, there] = along(edge);
    next.set(here, [...(next.get(here) ?? []), there]);
  }
  const seen = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const there of next.get(id) ?? []) {
      if (!seen.has(there)) {
        seen.add(there);
        open.push(there);
      }
    }
  }
  return seen;
}

function ancestors(drawing: Drawing): Set<string> {
  return walk(drawing.edges, drawing.focus, (edge) => [edge.to, edge.from], () => true);
}

/** What came directly of the focus along content, such as the files of a receipt. */
function after(drawing: Drawing): Set<string> {
  return walk(drawing.edges, drawing.focus, (edge) => [edge.from, edge.to], (edge) => edge.carries);
}

export interface Line {
  from: string;
  to: string;
  carries: boolean;
}

/** Lines between shown nodes; one that passes hidden nodes on the way is drawn where no shorter one says the same. */
export function lines(drawing: Drawing, nodes: readonly Node[]): Line[] {
  const shown = new Set(nodes.map((node) => node.id));
  const next = new Map<string, Edge[]>();
  for (const edge of drawing.edges) {
    const known = next.get(edge.from);
    if (known === undefined) next.set(edge.from, [edge]);
    else known.push(edge);
  }
  const found = new Map<string, Line>();
  for (const id of shown) {
    const seen = new Map<string, boolean>();
    const open: [string, boolean][] = [[id, true]];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const [here, carries] = at;
      for (const edge of next.get(here) ?? []) {
        const through = carries && edge.carries;
        if (shown.has(edge.to)) {
          const key = `${id}>${edge.to}`;
          if (edge.to !== id && found.get(key)?.carries !== true) found.set(key, { from: id, to: edge.to, carries: through });
        } else if (seen.get(edge.to) !== true && !(seen.has(edge.to) && !through)) {
          seen.set(edge.to, through);
          open.push([edge.to, through]);
        }
      }
    }
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return reduced([...found.values()].filter((line) => line.carries || authority(line, byId)));
}

/** Lines without content that are drawn all the same: who decided, about what. */
function authority(line: Line, nodes: ReadonlyMap<string, Node>): boolean {
  const decides = (id: string) => ["approval", "decision"].includes(nodes.get(id)?.kind ?? "");
  const place = (id: string) => {
    const here = nodes.get(id);
    return here === undefined ? -1 : BANDS.indexOf(band(here) ?? "Effect");
  };
  return (decides(line.from) || decides(line.to)) && place(line.from) <= place(line.to);
}

/** Without the lines that a way over another shown thing says already. */
function reduced(all: readonly Line[]): Line[] {
  const next = new Map<string, string[]>();
  for (const line of all) next.set(line.from, [...(next.get(line.from) ?? []), line.to]);
  const reaches = (from: string, to: string, without: Line): boolean => {
    const seen = new Set<string>();
    const open = [from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      for (const there of next.get(id) ?? []) {
        if ((id === without.from && there === without.to) || seen.has(there)) continue;
        if (there === to) return true;
        seen.add(there);
        open.push(there);
      }
    }
    return false;
  };
  // Of a large drawing every line stays: looking for detours would take longer than drawing them.
  return all.length > 400 ? [...all] : all.filter((line) => !reaches(line.from, line.to, line));
}
