// The drawing. Order and layers come from the host; here they only become pixels. From afar everything is a few shapes, so
// that a thousand nodes cost what ten do; near, whatever is in sight is a card with words.
import { Background, Controls, type Node as FlowNode, type NodeProps, ReactFlow, ReactFlowProvider, ViewportPortal, getViewportForBounds, useReactFlow, useStore, useStoreApi } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { type MouseEvent, memo, startTransition, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { count, kindWords } from "~/screen/words";
import type { Drawing, Node } from "~/ipc/generated/lineage";
import { Mark } from "~/primitives/Icon";
import { LABELS, NODE, type Placed, type Plan, at as under, plan, shapes, sizeOf } from "./layout";
import type { View } from "./path";
import styles from "./Lineage.module.css";

/** Below this scale words cannot be read, and none are drawn. */
const READABLE = 0.5;
const ZOOM = { min: 0.04, max: 1.6 } as const;

interface Thing extends Record<string, unknown> {
  placed: Placed;
  focus: boolean;
}
interface Stripe extends Record<string, unknown> {
  name: string;
}
type Size = { width: number; height: number };

const nodeTypes = { thing: ThingNode, stripe: StripeNode };

export function Graph({ drawing, nodes, names, view, go }: { drawing: Drawing; nodes: readonly Node[]; names: ReadonlyMap<string, string>; view: View; go: (id: string) => void }) {
  const planned = useMemo(() => plan(drawing, nodes, names, view), [drawing, nodes, names, view]);
  const pane = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size | null>(null);
  useEffect(() => {
    const { clientWidth: width = 0, clientHeight: height = 0 } = pane.current ?? {};
    // The drawing library is much to mount; in the background, the table beside it is there and works first.
    startTransition(() => setSize({ width, height }));
  }, []);
  return (
    <div ref={pane} className={styles.pane}>
      {size !== null && (
        <ReactFlowProvider key={`${drawing.focus}:${view}:${nodes.length}`}>
          <Flow planned={planned} focus={drawing.focus} size={size} go={go} />
        </ReactFlowProvider>
      )}
    </div>
  );
}

function Flow({ planned, focus, size, go }: { planned: Plan; focus: string; size: Size; go: (id: string) => void }) {
  const bounds = sizeOf(planned);
  const [first] = useState(() => getViewportForBounds(bounds, size.width, size.height, ZOOM.min, 1, 0.05));
  // Before the first drawing nobody has set the scale yet.
  const isReadable = useStore((store) => (store.panZoom === null ? first.zoom : store.transform[2]) >= READABLE);
  const { screenToFlowPosition, setViewport } = useReactFlow();
  const store = useStoreApi();
  const fit = () => {
    const { width, height } = store.getState();
    setOver(null);
    void setViewport(getViewportForBounds(bounds, width, height, ZOOM.min, 1, 0.05));
  };
  const [over, setOver] = useState<Placed | null>(null);
  const flow = useMemo(() => flowNodes(planned, focus), [planned, focus]);
  const find = useCallback(
    (event: MouseEvent) => (isReadable ? null : under(planned, screenToFlowPosition({ x: event.clientX, y: event.clientY }))),
    [planned, isReadable, screenToFlowPosition],
  );
  return (
    <ReactFlow
      nodes={isReadable ? flow.all : flow.stripes} edges={[]} nodeTypes={nodeTypes} defaultViewport={first} minZoom={ZOOM.min} maxZoom={ZOOM.max}
      nodesDraggable={false} nodesConnectable={false} edgesFocusable={false} onlyRenderVisibleElements
      onNodeClick={(_, node) => node.type === "thing" && go(node.id)}
      onPaneClick={(event) => { const found = find(event); if (found !== null) go(found.node.id); }}
      onPaneMouseMove={(event) => setOver(find(event))} onPaneMouseLeave={() => setOver(null)}
      proOptions={{ hideAttribution: true }} deleteKeyCode={null}
    >
      <Background gap={24} size={1} color="var(--line)" />
      <ViewportPortal><Overview planned={planned} focus={focus} isFar={!isReadable} /></ViewportPortal>
      {over !== null && <ViewportPortal><Named placed={over} /></ViewportPortal>}
      <Controls showInteractive={false} onFitView={fit} />
    </ReactFlow>
  );
}

/** What the drawing library keeps: bands always, cards only while their words can be read. */
function flowNodes(planned: Plan, focus: string): { all: FlowNode[]; stripes: FlowNode[] } {
  const stripes = planned.stripes.map((stripe): FlowNode => ({
    id: `band:${stripe.name}`, type: "stripe", position: { x: stripe.x, y: stripe.y }, selectable: false, focusable: false,
    width: stripe.width, height: stripe.height, zIndex: -1, data: { name: stripe.name } satisfies Stripe,
    // What is clicked on is the node drawn there, not the band behind it.
    style: { pointerEvents: "none" },
  }));
  const cards = planned.placed.map((placed): FlowNode => ({
    id: placed.node.id, type: "thing", width: NODE.width, height: NODE.height, zIndex: 1, position: { x: placed.x, y: placed.y },
    data: { placed, focus: placed.node.id === focus } satisfies Thing, ariaLabel: `${kindWords(placed.node.kind)} ${placed.name}`,
  }));
  return { all: [...stripes, ...cards], stripes };
}

/** Every line, and from afar every node, as a few shapes. */
const Overview = memo(function Overview({ planned, focus, isFar }: { planned: Plan; focus: string; isFar: boolean }) {
  const drawn = useMemo(() => shapes(planned, focus), [planned, focus]);
  const { width, height } = sizeOf(planned);
  const label = `${count(planned.placed.length, "node")} and ${count(planned.lines.length, "line")}; the table beside it lists them`;
  return (
    <svg className={styles.overview} data-far={isFar || undefined} data-nodes={planned.placed.length} viewBox={`${-LABELS} 0 ${width} ${height}`} style={{ left: -LABELS, width, height }} role="img" aria-label={label}>
      <path className={styles.edge} d={drawn.edges} />
      <path className={styles.lit} d={drawn.lit} />
      {isFar && (
        <>
          <path className={styles.box} d={drawn.boxes} />
          <path className={styles.box} data-untrusted d={drawn.untrusted} />
          <path className={styles.box} data-lit d={drawn.feeding} />
          <path className={styles.box} data-person d={drawn.people} />
          <path className={styles.box} data-focus d={drawn.focus} />
        </>
      )}
    </svg>
  );
});

/** The node under the pointer, readable whatever the scale. */
function Named({ placed }: { placed: Placed }) {
  const zoom = useStore((store) => store.transform[2]);
  return (
    <div className={styles.named} style={{ transform: `translate(${placed.x + NODE.width / 2}px, ${placed.y}px) scale(${1 / zoom}) translate(-50%, calc(-100% - 6px))` }}>
      <Card placed={placed} focus={false} />
    </div>
  );
}

function StripeNode({ data, width, height }: NodeProps<FlowNode<Stripe>>) {
  return <div className={styles.stripe} style={{ height, width }}>{data.name}</div>;
}

function ThingNode({ data }: NodeProps<FlowNode<Thing>>) {
  return <Card placed={data.placed} focus={data.focus} />;
}

function Card({ placed, focus }: { placed: Placed; focus: boolean }) {
  const { node, name, person } = placed;
  return (
    <div className={styles.node} data-focus={focus || undefined} data-lit={node.feeds || node.tainted || undefined} title={`${kindWords(node.kind)}: ${name}`}>
      <span>{kindWords(node.detail === "" ? node.kind : node.detail)}</span>
      <b>{name}</b>
      {node.trust === "untrusted" && <Mark name="moderate" size={11} />}
      {person && <i aria-hidden="true" />}
    </div>
  );
}
