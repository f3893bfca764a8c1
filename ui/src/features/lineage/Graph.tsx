// The drawing. Order and layers come from the host; here they only become pixels.
import { BaseEdge, Background, Controls, type Edge, type EdgeProps, Handle, type Node as FlowNode, type NodeProps, Position, ReactFlow, ReactFlowProvider, getBezierPath } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useMemo } from "react";
import { brief, capital, plain, said } from "~/features/words";
import type { Drawing, Node } from "~/ipc/generated/lineage";
import { Mark } from "~/primitives/Icon";
import { BANDS, type Band, type View, band, lines } from "./path";
import styles from "./Lineage.module.css";

const WIDTH = 148;
const HEIGHT = 38;
const COLUMN = 164;
const LINE = 50;
const GAP = 26;
const LABELS = 86;
/** Lines that one band may take before it is folded. */
const LINES_MAX = 4;

interface Thing extends Record<string, unknown> {
  node: Node;
  focus: boolean;
  name: string;
}
interface Stripe extends Record<string, unknown> {
  name: string;
  height: number;
  width: number;
}

const nodeTypes = { thing: ThingNode, stripe: StripeNode };
const edgeTypes = { came: Came };

export function nodeName(node: Node, drawing: Drawing): string {
  if (node.kind === "effect") {
    // An effect is what became of an action, and is called like it.
    const action = drawing.nodes.find((other) => other.kind === "action" && node.id === `effect:${other.id}`);
    if (action !== undefined && action.label !== null) return capital(brief(said(action.label)));
  }
  if (node.detail === "task.contract") {
    const task = drawing.nodes.find((other) => other.id === node.task_id && other.label !== null);
    if (task !== undefined) return brief(said(task.label));
  }
  const label = node.label === null ? "" : said(node.label);
  if (label !== "" && !label.startsWith("sha256:")) return capital(brief(label));
  return capital(plain(node.detail === "" ? node.kind : node.detail));
}

export function Graph({ drawing, nodes, view, go }: { drawing: Drawing; nodes: readonly Node[]; view: View; go: (id: string) => void }) {
  const { flow, edges } = useMemo(() => place(drawing, nodes, view), [drawing, nodes, view]);
  return (
    <ReactFlowProvider>
      <ReactFlow
        key={`${drawing.focus}:${view}:${nodes.length}`}
        nodes={flow} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes}
        fitView fitViewOptions={{ padding: 0.05, maxZoom: 1 }} minZoom={0.06} maxZoom={1.6}
        nodesDraggable={false} nodesConnectable={false} onlyRenderVisibleElements
        onNodeClick={(_, node) => node.type === "thing" && go(node.id)} proOptions={{ hideAttribution: true }} deleteKeyCode={null}
      >
        <Background gap={24} size={1} color="var(--line)" />
        <Controls showInteractive={false} />
      </ReactFlow>
    </ReactFlowProvider>
  );
}

/** Rows of the drawing: bands on the path, layers of the host otherwise; a full row is folded into lines. */
function rows(nodes: readonly Node[], view: View): { name: string; nodes: Node[] }[] {
  const inOrder = [...nodes].sort((a, b) => a.layer - b.layer || a.row - b.row || a.at - b.at);
  if (view === "path") {
    const of = (name: Band) => inOrder.filter((node) => (band(node) ?? "Effect") === name);
    return BANDS.map((name) => ({ name, nodes: of(name) })).filter((row) => row.nodes.length > 0);
  }
  return [...new Set(inOrder.map((node) => node.layer))].map((layer) => ({ name: "", nodes: inOrder.filter((node) => node.layer === layer) }));
}

/** Lines of one row: what came of what below each other while that is a few lines, else as many side by side as fit. */
function fold(nodes: readonly Node[], per: number): Node[][] {
  const layers = [...new Set(nodes.map((node) => node.layer))].map((layer) => nodes.filter((node) => node.layer === layer));
  const chains = layers.length <= LINES_MAX && layers.every((layer) => layer.length <= per);
  if (chains) return layers;
  return Array.from({ length: Math.ceil(nodes.length / per) }, (_, at) => nodes.slice(at * per, (at + 1) * per));
}

function place(drawing: Drawing, nodes: readonly Node[], view: View): { flow: FlowNode[]; edges: Edge[] } {
  const flow: FlowNode[] = [];
  const all = rows(nodes, view);
  const widest = Math.max(...all.map((row) => Math.min(row.nodes.length, 7)), 4);
  let y = 0;
  for (const row of all) {
    const folded = fold(row.nodes, Math.max(widest, Math.ceil(Math.sqrt(row.nodes.length) * 2)));
    const height = folded.length * LINE + GAP;
    // Authority stands beside the stream of content, not in its way.
    const aside = row.name === "Approval" || row.name === "Decision" ? COLUMN : 0;
    if (row.name !== "") {
      flow.push({
        id: `band:${row.name}`, type: "stripe", position: { x: -LABELS, y: y - GAP / 2 - (LINE - HEIGHT) / 2 }, selectable: false, focusable: false,
        width: LABELS + widest * COLUMN + 12, height, zIndex: -1, data: { name: row.name, height, width: LABELS + widest * COLUMN + 12 } satisfies Stripe,
      });
    }
    folded.forEach((inLine, line) => inLine.forEach((node, at) => {
      flow.push({
        id: node.id, type: "thing", width: WIDTH, height: HEIGHT, zIndex: 1,
        position: { x: (at + (widest - inLine.length) / 2) * COLUMN + aside, y: y + line * LINE },
        data: { node, focus: node.id === drawing.focus, name: nodeName(node, drawing) } satisfies Thing,
        ariaLabel: `${plain(node.kind)} ${nodeName(node, drawing)}`,
      });
    }));
    y += height;
  }
  const edges = lines(drawing, nodes).map((line): Edge => ({
    id: `${line.from}>${line.to}`, source: line.from, target: line.to, type: "came", data: { lit: line.carries }, focusable: false,
  }));
  return { flow, edges };
}

function StripeNode({ data }: NodeProps<FlowNode<Stripe>>) {
  return <div className={styles.stripe} style={{ height: data.height, width: data.width }}>{data.name}</div>;
}

function ThingNode({ data }: NodeProps<FlowNode<Thing>>) {
  const { node, focus, name } = data;
  const person = node.kind === "approval" || node.kind === "ingress";
  return (
    <div className={styles.node} data-focus={focus || undefined} data-lit={node.feeds || node.tainted || undefined} title={`${plain(node.kind)}: ${name}`}>
      <Handle type="target" position={Position.Top} className={styles.handle} isConnectable={false} />
      <span>{plain(node.detail === "" ? node.kind : node.detail)}</span>
      <b>{name}</b>
      {node.trust === "untrusted" && <Mark name="moderate" size={11} />}
      {person && <i aria-hidden="true" />}
      <Handle type="source" position={Position.Bottom} className={styles.handle} isConnectable={false} />
    </div>
  );
}

function Came({ sourceX, sourceY, targetX, targetY, data }: EdgeProps) {
  const [path] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition: Position.Bottom, targetPosition: Position.Top });
  return <BaseEdge path={path} className={data?.["lit"] === true ? styles.lit : styles.edge} />;
}
