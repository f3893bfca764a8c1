// What works at this moment, on a phone: each with its last words, and the way to stop it.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct, useAsk, useDraft } from "~/ipc/client";
import type { TaskRow } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { Failed } from "~/primitives/States";
import { StateWord } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import { brief, run, said } from "~/screen/words";
import styles from "./Phone.module.css";

const SHOWN_MAX = 20;
/** How often what is being written is asked for. */
const SAYS_MS = 5_000;
/** Characters of what is being written now: two lines of a phone. */
const WORDS_MAX = 110;

export function AtWork() {
  const asked = useAsk("task.list", { group: "going", limit: SHOWN_MAX });
  const rows = asked.data?.rows ?? [];
  if (rows.length === 0) return null;
  return (
    <section className={styles.work} aria-labelledby="at-work">
      <h2 id="at-work">At work<span>{rows.length}{asked.data?.next != null && "+"}</span></h2>
      <ul>{rows.map((row) => <Row key={row.task_id} row={row} />)}</ul>
    </section>
  );
}

function Row({ row }: { row: TaskRow }) {
  const stop = useAct("task.cancel");
  const [isAsked, setAsked] = useState(false);
  const title = brief(said(row.title, "Task"));
  // Words come by themselves only of the conversation that is shown; of others a page asks now and then.
  const asked = useAsk("task.show", { task: row.task_id }, { refetchInterval: SAYS_MS });
  const says = useDraft(row.task_id, asked.data);
  const at = run(row);
  return (
    <li>
      <Link to="/task/$id" params={{ id: row.task_id }} className={styles.task}>
        <strong><Words of={title} /></strong>
        <StateWord tone={at.tone} mark={at.mark}>{at.word}</StateWord>
        {says !== "" && <small><Words of={says.length > WORDS_MAX ? `…${says.slice(-WORDS_MAX)}` : says} /></small>}
      </Link>
      {isAsked ? (
        <div className={styles.sure} role="group" aria-label={`Stop ${title}`}>
          <p>It ends at its next step. What it did so far stays, and can be undone.</p>
          <Button look="danger" because={stop.isPending ? "Stopping" : null} onClick={() => stop.mutate({ task: row.task_id, reason: "stopped from a phone" })}>Stop it</Button>
          <Button onClick={() => setAsked(false)}>Let it work</Button>
        </div>
      ) : <Button icon="stop" aria-label={`Stop ${title}`} onClick={() => setAsked(true)}>Stop</Button>}
      {stop.error !== null && <Failed error={stop.error} />}
    </li>
  );
}
