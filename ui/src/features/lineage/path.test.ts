import { expect, test } from "vitest";
import type { Drawing, Node } from "~/ipc/generated/lineage";
import type { NodeKind } from "~/ipc/generated/words";
import { BANDS, band, inView, lines } from "./path";

function node(id: string, kind: NodeKind, detail = "", more: Partial<Node> = {}): Node {
  return { id, kind, detail, label: null, task_id: "t", at: 0, trust: null, sha256: null, layer: 0, row: 0, feeds: false, tainted: false, ...more };
}
const edge = (from: string, to: string, carries = true) => ({ from, to, kind: "informed" as const, carries });

/** goal -> pack 1 -> answer -> evidence -> pack 2 -> answer -> effect -> receipt, with an approval beside it. */
const drawing: Drawing = {
  focus: "receipt", scope: "store", layers: 8, rows: 1, left_out: 0,
  nodes: [
    node("goal", "artifact", "task.contract", { feeds: true }), node("pack1", "artifact", "context.pack", { feeds: true, at: 1 }),
    node("answer1", "artifact", "model.answer", { feeds: true }), node("seen", "artifact", "action.result", { feeds: true }),
    node("pack2", "artifact", "context.pack", { feeds: true, at: 2 }), node("answer2", "artifact", "model.answer", { feeds: true }),
    node("yes", "approval"), node("done", "effect", "hermit.change", { feeds: true }), node("receipt", "receipt", "tool_execution"), node("beside", "belief"),
  ],
  edges: [
    edge("goal", "pack1"), edge("pack1", "answer1"), edge("answer1", "seen"), edge("goal", "pack2"), edge("seen", "pack2"), edge("pack2", "answer2"),
    edge("answer2", "done"), edge("yes", "done", false), edge("done", "receipt"),
  ],
};

test("the path holds what a person asks about, the last pack only, and nothing that merely lies beside it", () => {
  expect(inView(drawing, "path").map((one) => one.id)).toEqual(["goal", "seen", "pack2", "yes", "done", "receipt"]);
});

test("lines pass over what is not shown, and none says what a longer way says already", () => {
  const shown = lines(drawing, inView(drawing, "path")).map((one) => `${one.from}>${one.to}`).sort();
  expect(shown).toEqual(["done>receipt", "goal>seen", "pack2>done", "seen>pack2", "yes>done"]);
});

test("every line of the path goes down its bands", () => {
  const nodes = inView(drawing, "path");
  const at = (id: string) => BANDS.indexOf(band(nodes.find((one) => one.id === id) as Node) ?? "Goal");
  for (const line of lines(drawing, nodes)) expect(at(line.from), `${line.from} > ${line.to}`).toBeLessThan(at(line.to));
});

test("recall holds the source and all that its content reached, and nothing else", () => {
  const tainted = { ...drawing, focus: "seen", nodes: drawing.nodes.map((one) => ({ ...one, tainted: ["pack2", "answer2", "done", "receipt"].includes(one.id) })) };
  expect(inView(tainted, "recall").map((one) => one.id)).toEqual(["seen", "pack2", "answer2", "done", "receipt"]);
});

test("all around leaves nothing out", () => {
  expect(inView(drawing, "all")).toHaveLength(drawing.nodes.length);
});
