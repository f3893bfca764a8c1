// What Hermit proposes to remember of tasks that ended: each line with what shows it, and a switch. Nothing is remembered
// here: what a person keeps is a card that they approve, and the rest is struck.
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct, useAsk, useHost } from "~/ipc/client";
import type { Suggestion } from "~/ipc/generated/knowledge";
import { Button } from "~/primitives/Button";
import { Check } from "~/primitives/Field";
import { Hash } from "~/primitives/Hash";
import { Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { capital, count, said, trust } from "~/screen/words";
import { Drafts } from "./Drafts";
import styles from "./Knowledge.module.css";

/** The lines of all cards, card by card. */
function byCard(rows: readonly Suggestion[]): [approval: string, lines: Suggestion[]][] {
  const cards = new Map<string, Suggestion[]>();
  for (const row of rows) cards.set(row.approval_id, [...(cards.get(row.approval_id) ?? []), row]);
  return [...cards];
}

export function Suggested() {
  const asked = useAsk("knowledge.suggestions", {});
  const review = useAct("knowledge.review");
  // Outlives the card that it is about, so that it can lead on to that of the part.
  const part = useAct("approvals.part");
  const cards = byCard(asked.data?.rows ?? []);
  return (
    <section className={styles.suggested} aria-label="Suggested">
      <Drafts />
      {cards.map(([approval, lines]) => <Suggestions key={approval} approval={approval} lines={lines} part={part} />)}
      <div className={styles.buttons}>
        <Button look="link" because={review.isPending ? "Looking" : null} onClick={() => review.mutate({})}>Look for suggestions in tasks that ended</Button>
        {review.data !== undefined && review.data.lines === 0 && review.data.drafts === 0 && <span role="status">{review.data.more ? "Nothing new so far, and not everything is read: look again" : "Nothing new"}{review.data.waiting > 0 && `; ${count(review.data.waiting, "task")} that ended ${review.data.waiting === 1 ? "waits" : "wait"} for your answer or for work in the project to finish`}.</span>}
      </div>
      {review.error !== null && <Failed error={review.error} />}
    </section>
  );
}

/** The lines of a card, where a person reads the card itself: what they strike is left out of it. */
export function OnCard({ approval }: { approval: string }) {
  const asked = useAsk("knowledge.suggestions", {});
  const part = useAct("approvals.part");
  const lines = (asked.data?.rows ?? []).filter((row) => row.approval_id === approval);
  return lines.length < 2 ? null : <Suggestions approval={approval} lines={lines} part={part} isOnCard />;
}

type Part = ReturnType<typeof useAct<"approvals.part">>;

function Suggestions({ approval, lines, part, isOnCard = false }: { approval: string; lines: readonly Suggestion[]; part: Part; isOnCard?: boolean }) {
  const host = useHost();
  const navigate = useNavigate();
  const deny = useAct("approvals.deny");
  const [struck, setStruck] = useState<ReadonlySet<number>>(new Set());
  const turn = (number: number) => setStruck((before) => {
    const after = new Set(before);
    if (!after.delete(number)) after.add(number);
    return after;
  });
  const kept = lines.filter((line) => !struck.has(line.number));
  const surface = host.kind === "tauri" ? "main_window" : "browser";
  const card = () => void navigate({ to: "/", search: { at: approval } });
  const keep = () => {
    if (kept.length === lines.length) return card();
    part.mutate({ approval, only: kept.map((line) => String(line.number)), rows: [], hunks: [], surface, feedback: null }, { onSuccess: card });
  };
  const because = part.isPending || deny.isPending ? "Saving" : kept.length === 0 ? "Choose at least one, or strike them all" : null;
  return (
    <div className={styles.card} role="group" aria-label={`${count(lines.length, "suggestion")} for ${said(lines[0]?.project?.name, "every project")}`}>
      {!isOnCard && <h2>Suggested for <Words of={said(lines[0]?.project?.name, "every project")} /></h2>}
      <p>Hermit found this in tasks that ended. You approve a card of what you keep; what you strike is suggested again only when it comes up again.</p>
      <ul>
        {lines.map((line) => (
          <li key={line.number}>
            <Check label={said(line.claim)} checked={!struck.has(line.number)} onChange={() => turn(line.number)} />
            <div className={styles.because}>
              {line.memory_type !== null && <>{capital(line.memory_type)}. </>}<Words of={capital(said(line.reason))} />. {capital(trust(line.trust))}.
            </div>
            <details>
              <summary>Evidence</summary>
              <ul className={styles.evidence}>
                {line.grounds.map((ground) => (
                  <li key={ground.event_id}>
                    <Link to="/task/$id" params={{ id: ground.task_id }} search={ground.receipt_id === null ? {} : { see: ground.receipt_id }}>{capital(ground.what)}</Link>
                    <Words of={`“${said(ground.quote)}”`} />
                    <Hash of={ground.receipt_id ?? ground.event_id} what={ground.receipt_id === null ? "event" : "receipt"} />
                  </li>
                ))}
                {line.grounds.length === 0 && <li>Its evidence was not kept.</li>}
              </ul>
            </details>
          </li>
        ))}
      </ul>
      {(!isOnCard || struck.size > 0) && <div className={styles.buttons}>
        <Button because={because} onClick={keep}>{kept.length === lines.length ? `Keep ${lines.length === 1 ? "it" : "all"}` : `Keep ${kept.length}, strike ${lines.length - kept.length}`}</Button>
        {!isOnCard && <Button because={part.isPending || deny.isPending ? "Saving" : null} onClick={() => deny.mutate({ approval, feedback: null, stop: false, surface })}>{lines.length === 1 ? "Strike it" : "Strike all"}</Button>}
      </div>}
      {part.error !== null && <Failed error={part.error} />}
      {deny.error !== null && <Failed error={deny.error} />}
    </div>
  );
}
