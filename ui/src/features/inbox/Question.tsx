import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Asker } from "~/features/approvals/Asker";
import { Dictate } from "~/features/enclosing/Dictate";
import { Marked } from "~/features/enclosing/Spoken";
import { said } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { Question as Asked } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { Failed, Said } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { useAnswerTo } from "./unsent";
import styles from "./Inbox.module.css";

/** A question that a task put to a person. Any surface may answer: it is information, not authority. `isOver`: it is open no more. */
export function Question({ question, isOver = false }: { question: Asked; isOver?: boolean }) {
  const { text, isSpoken, typed, spoken, mark, forget } = useAnswerTo(question);
  const answer = useAct("task.answer", { taken: forget });
  const send = (words: string, how: { spoken?: boolean } = {}) =>
    answer.mutate({ task: question.task_id, question: question.question_id, text: words, ...how, channel: "app" });
  // That it is over may be heard before the answer that was sent from here is known to be taken.
  if (isOver && !answer.isPending && !answer.isSuccess) return <Over question={question} text={text} forget={forget} />;
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

const ENDED: Readonly<Record<string, string>> = {
  answered: "Answered on another device or page. What you had written here was not sent.",
  expired: "Its time ran out before you answered. What you had written was not sent.",
  cancelled: "Its task ended before you answered. What you had written was not sent.",
};

/** A question that is open no more, with what was written as an answer to it and not sent. */
function Over({ question, text, forget }: { question: Asked; text: string; forget: () => void }) {
  const asked = useAsk("task.questions", { task: question.task_id, limit: 200 });
  const now = asked.data?.rows.find((one) => one.question_id === question.question_id);
  const [isCopied, setCopied] = useState(false);
  return (
    <section className={styles.form} aria-label="Question">
      <div className={styles.meta}>
        <StateTag tone="mute" mark="question">Question</StateTag>
        <span>Asked <Time at={question.requested_at} ago /></span>
        <Link to="/task/$id" params={{ id: question.task_id }}>Open its task</Link>
      </div>
      <h2><Words of={said(question.question)} /></h2>
      <Said tone="note">{ENDED[now?.status ?? ""] ?? "This question is open no more. What you had written was not sent."}</Said>
      <TextArea label="What you had written" readOnly rows={3} value={text} />
      <div className={styles.row}>
        <Button icon={isCopied ? "ok" : "copy"} onClick={() => void navigator.clipboard?.writeText(text).then(() => setCopied(true), () => setCopied(false))}>{isCopied ? "Copied" : "Copy it"}</Button>
        <Button look="link" onClick={forget}>Discard it</Button>
      </div>
    </section>
  );
}
