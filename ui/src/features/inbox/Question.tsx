import { Link } from "@tanstack/react-router";
import { Asker } from "~/features/approvals/Asker";
import { Dictate } from "~/features/enclosing/Dictate";
import { Marked, useSpokenWords } from "~/features/enclosing/Spoken";
import { said } from "~/screen/words";
import { useAct } from "~/ipc/client";
import type { Question as Asked } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Inbox.module.css";

/** A question that a task put to a person. Any surface may answer: it is information, not authority. */
export function Question({ question }: { question: Asked }) {
  const answer = useAct("task.answer");
  const { text, isSpoken, typed, spoken, mark } = useSpokenWords();
  const send = (words: string, how: { spoken?: boolean } = {}) =>
    answer.mutate({ task: question.task_id, question: question.question_id, text: words, ...how, channel: "app" });
  return (
    <section className={styles.form} aria-label="Question">
      <div className={styles.meta}>
        <StateTag tone="waiting" mark="question">Question</StateTag>
        <span>Asked <Time at={question.requested_at} ago />, expires <Time at={question.expires_at} /></span>
        <Link to="/task/$id" params={{ id: question.task_id }}>Open its task</Link>
      </div>
      <h2><Words of={said(question.question)} /></h2>
      <Asker of={question} />
      {question.choices.length > 0 && (
        <div className={styles.choices}>
          {question.choices.map((choice, at) => (
            <Button key={at} onClick={() => send(said(choice))}><Words of={said(choice)} /></Button>
          ))}
        </div>
      )}
      <TextArea label={question.choices.length > 0 ? "Or in your own words" : "Your answer"} value={text} rows={3} onChange={(event) => typed(event.target.value)} />
      <Marked isSpoken={isSpoken} />
      <div className={styles.row}>
        <Dictate text={text} onSpoken={spoken} />
        <Button look="person" because={text.trim() === "" ? "Write an answer first" : null} onClick={() => send(text.trim(), mark)}>Answer</Button>
      </div>
      {answer.error !== null && <Failed error={answer.error} />}
    </section>
  );
}
