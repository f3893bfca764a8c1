import { Link } from "@tanstack/react-router";
import { channelName, isOver, plain, said } from "~/screen/words";
import { useAct } from "~/ipc/client";
import type { Message } from "~/ipc/generated/conversations";
import { Button } from "~/primitives/Button";
import { Failed, sentence } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Inbox.module.css";

/** Words of which nobody can tell yet what they are about. Hermit does not guess: a person says it, once. */
export function OpenMessage({ message }: { message: Message }) {
  const bind = useAct("conversations.bind");
  const be = (about: string, task: string | null) => bind.mutate({ message: message.message_id, about, task });
  // Erased words are no goal.
  const isGoal = message.candidates.length === 0 && typeof message.text === "string";
  const because = bind.isPending ? "It is being recorded" : null;
  return (
    <section className={styles.form} aria-label="Message">
      <div className={styles.meta}>
        <StateTag tone="waiting" mark="question">What is it about?</StateTag>
        <span>Said <Time at={message.said_at} ago /> {channelName(message.channel)}{message.trust === "untrusted" && ", by a sender that nobody confirms"}</span>
      </div>
      <h2><Words of={said(message.text)} /></h2>
      {message.rationale !== null && <p>{sentence(said(message.rationale))}</p>}
      <ul className={styles.ways}>
        {message.candidates.map((one) => {
          const ended = isOver(one.status);
          return (
            <li key={one.task_id}>
              <span><Link to="/task/$id" params={{ id: one.task_id }}><Words of={said(one.title)} /></Link>, {plain(one.status)} <Time at={one.updated_at} ago /></span>
              <div className={styles.row}>
                <Button because={because} onClick={() => be("task", one.task_id)}>{ended ? "A task that follows it" : "More input for it"}</Button>
                <Button because={because} onClick={() => be("child", one.task_id)}>A part of it</Button>
                <Button because={because} onClick={() => be("new", one.task_id)}>A new task beside it</Button>
              </div>
            </li>
          );
        })}
      </ul>
      {isGoal && <p>To have it done, begin a task with these words and choose its folder. They stay the words of whoever sent them.</p>}
      <div className={styles.row}>
        {isGoal && <Link to="/tasks/new" search={{ message: message.message_id }}>Begin a task with these words</Link>}
        <Button because={because} onClick={() => be("talk", null)}>No action needed</Button>
      </div>
      {bind.error !== null && <Failed error={bind.error} />}
    </section>
  );
}
