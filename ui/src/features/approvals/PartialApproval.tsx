// A person accepts a part: what they choose becomes a card of its own, and the rest is denied with their words. Choosing
// approves nothing; the smaller card asks.
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { many } from "~/primitives/number";
import { Button } from "~/primitives/Button";
import { useReason } from "~/primitives/Comments";
import { TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { useAct, useAsk, useHost } from "~/ipc/client";
import type { Approval } from "~/ipc/generated/approvals";
import type { Changes } from "~/ipc/generated/changes";
import { type Choice, type LeftHunks, chosenRows } from "./ChangeList";
import { hunksOf } from "~/primitives/Diff";
import { diffFile } from "./files";
import type { Packet } from "./packet";
import styles from "./Changes.module.css";

/** Whether an act has parts that can be approved by themselves: files that it changes one by one, or hunks of a text. */
export function hasParts(packet: Packet | null, changes: Changes): boolean {
  if (packet === null) return false;
  if (hasHunks(packet)) return changes.total > 1 || changes.files.some((file) => hunksOf(diffFile(file)) > 1);
  return changes.total > 1 && (packet.action.tool === "rollback" || ((packet.action.tool === "command" || packet.action.tool === "call") && packet.ran !== null));
}

/** What is proposed can be taken hunk by hunk; what a command left and what an undo takes back, by whole files. */
export function hasHunks(packet: Packet | null): boolean {
  return packet?.action.tool === "change";
}

/** Leaving out, and what follows from it. */
export function usePart(): { choice: Choice | undefined; begin: () => void; end: () => void } {
  const [left, setLeft] = useState<ReadonlySet<number> | null>(null);
  const [hunks, setHunks] = useState<ReadonlyMap<number, LeftHunks>>(new Map());
  const turn = (at: number) => {
    setLeft((before) => {
      const after = new Set(before);
      if (!after.delete(at)) after.add(at);
      return after;
    });
    forget(at);
  };
  const forget = (at: number) => setHunks((before) => new Map([...before].filter(([other]) => other !== at)));
  const turnHunk = (at: number, path: string, hunk: number, many: number) => {
    const after = new Set(hunks.get(at)?.left);
    if (!after.delete(hunk)) after.add(hunk);
    // Without any of its hunks a file is left out.
    if (after.size === many) return turn(at);
    if (after.size === 0) return forget(at);
    setHunks((before) => new Map(before).set(at, { path, many, left: after }));
  };
  const set = (to: ReadonlySet<number> | null) => {
    setLeft(to);
    setHunks(new Map());
  };
  return { choice: left === null ? undefined : { left, turn, hunks, turnHunk }, begin: () => set(new Set()), end: () => set(null) };
}

export function PartialApproval({ approval, changes, choice, begin, end }: { approval: Approval; changes: Changes } & ReturnType<typeof usePart>) {
  const host = useHost();
  const part = useAct("approvals.part");
  const [feedback, setFeedback] = useState("");
  const words = useReason(feedback);
  const one = changes.total === 1;
  if (choice === undefined) return <div className={styles.part}><div className={styles.buttons}><Button onClick={begin}>{one ? "Choose hunks" : "Choose files"}</Button></div></div>;
  const rows = chosenRows(changes, choice.left);
  const chosen = rows.reduce((sum, one) => sum + one.rows, 0);
  const isIn = (at: number) => rows.some(({ from, rows: many }) => at >= from && at < from + many);
  const hunks = [...choice.hunks].filter(([at]) => isIn(at)).map(([, { path, many: of, left }]) => ({ path, hunks: Array.from({ length: of }, (_, nth) => nth + 1).filter((nth) => !left.has(nth)) }));
  const inPart = hunks.length === 0 ? "" : `, ${many(hunks.length)} of them in part`;
  const because = part.isPending ? "Saving" : chosen === changes.total && hunks.length === 0 ? "Clear what you do not want" : chosen === 0 ? "Choose at least one, or deny all of it" : null;
  const surface = host.kind === "tauri" ? "main_window" : "browser";
  return (
    <div className={styles.part} role="group" aria-label="A part of it">
      <p role="status">{many(chosen)} of {many(changes.total)} chosen{inPart}. The rest is denied; you then approve a card of the chosen ones.</p>
      <TextField label="Reason for leaving the rest out (the agent sees it)" value={feedback} onChange={(event) => setFeedback(event.target.value)} />
      <div className={styles.buttons}>
        <Button because={because} onClick={() => part.mutate({ approval: approval.row.approval_id, only: [], rows, hunks, surface, feedback: words })}>Continue with {many(chosen)}</Button>
        <Button onClick={end}>Cancel</Button>
      </div>
      {part.error !== null && <Failed error={part.error} />}
    </div>
  );
}

/** So long after a choice its card leads on by itself. */
const LEADS_MS = 60_000;

/** Behind a card of which a part was chosen comes the card of that part, as soon as it waits. */
export function Onward({ approval }: { approval: Approval }) {
  const { row } = approval;
  const isFresh = Date.now() - (row.resolved_at ?? 0) < LEADS_MS;
  const waiting = useAsk("approvals.list", { task: row.task_id, status: "pending" });
  const navigate = useNavigate();
  const next = waiting.data?.rows.find((one) => one.requested_at >= (row.resolved_at ?? 0))?.approval_id;
  useEffect(() => {
    if (isFresh && next !== undefined) void navigate({ to: "/", search: { at: next }, replace: true });
  }, [isFresh, next, navigate]);
  return next === undefined ? null : <Link to="/" search={{ at: next }}>The part you chose</Link>;
}
