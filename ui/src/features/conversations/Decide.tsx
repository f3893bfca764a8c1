// Words of which nobody can tell yet what they are about: those they may be about, the likeliest first, and a person says it once.
import { Link } from "@tanstack/react-router";
import { useAct } from "~/ipc/client";
import type { Candidate, Heard } from "~/ipc/generated/conversations";
import { Button } from "~/primitives/Button";
import { Failed, sentence } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { isOver, runLook, said } from "~/screen/words";
import styles from "./Conversations.module.css";

/** How well the words fit the first of them, and whether it stands out. */
function fit(heard: Heard): string | null {
  if (heard.confidence === null || heard.confidence === 0) return null;
  const percent = (of: number) => `${Math.round(of / 10)} %`;
  const ahead = heard.margin === null || heard.margin === 0 ? "as the next one does" : `${percent(heard.margin)} more than the next`;
  return `its title and goal hold ${percent(heard.confidence)} of your words, ${ahead}`;
}

export function Decide({ message, heard, hasFolder }: { message: string; heard: Heard; hasFolder: boolean }) {
  const bind = useAct("conversations.bind");
  const be = (about: string, task: string | null) => bind.mutate({ message, about, task });
  const because = bind.isPending ? "It is being recorded" : null;
  const fits = fit(heard);
  return (
    <div className={styles.decide} role="group" aria-label="What is it about?">
      <p><b>What is it about?</b> {heard.rationale !== null && sentence(said(heard.rationale))}</p>
      {heard.candidates.length > 0 && (
        <ol>
          {heard.candidates.map((one, at) => <Way key={one.task_id} one={one} why={at === 0 ? fits : null} because={because} be={be} />)}
        </ol>
      )}
      <div className={styles.row}>
        {hasFolder && <Button icon="plus" because={because} onClick={() => be("new", null)}>A new task</Button>}
        <Button look="quiet" because={because} onClick={() => be("talk", null)}>No action needed</Button>
      </div>
      {bind.error !== null && <Failed error={bind.error} />}
    </div>
  );
}

function Way({ one, why, because, be }: { one: Candidate; why: string | null; because: string | null; be: (about: string, task: string) => void }) {
  const hasEnded = isOver(one.status);
  return (
    <li>
      <span>
        <Link to="/task/$id" params={{ id: one.task_id }}><Words of={said(one.title)} /></Link>, {runLook(one.status).word.toLowerCase()}
        {why !== null && <small>{why}</small>}
      </span>
      <span className={styles.row}>
        <Button because={because} onClick={() => be("task", one.task_id)}>{hasEnded ? "Go on from it" : "More for it"}</Button>
        <Button look="quiet" because={because} onClick={() => be("child", one.task_id)}>A part of it</Button>
        <Button look="quiet" because={because} onClick={() => be("new", one.task_id)}>Beside it</Button>
      </span>
    </li>
  );
}
