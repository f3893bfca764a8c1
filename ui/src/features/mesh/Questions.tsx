// What other machines ask a person here: the lines of the exact packet, and an answer that the approval key of this machine signs.
// The other machine judges whether it counts there.
import { useState } from "react";
import { HOLD_MS, RiskWord, lacks } from "~/features/approvals/RiskWord";
import { useAsk, useHost } from "~/ipc/client";
import type { Question } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { Hash } from "~/primitives/Hash";
import { Hold } from "~/primitives/Hold";
import { useLeft } from "~/primitives/left";
import { Lines } from "~/primitives/Lines";
import { useParts } from "~/primitives/Parts";
import { Answer, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time, cardLine } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { capital, count, said } from "~/screen/words";
import styles from "./Mesh.module.css";
import { useSaying } from "./Person";
import { nodeName } from "./words";

export function Questions() {
  const asked = useAsk("mesh.questions", {});
  return (
    <Answer asked={asked} what="what other machines ask" lines={2} isEmpty={(found) => found.questions.length === 0} empty={null}>
      {(found) => <List questions={found.questions} />}
    </Answer>
  );
}

function List({ questions }: { questions: readonly Question[] }) {
  const { shown, rest } = useParts(questions);
  return (
    <section className={styles.section} aria-labelledby="questions">
      <h2 id="questions">Your other machines ask you</h2>
      <p>{capital(count(questions.length, "question"))} of tasks that run there. Each was put to you there too; the first answer counts.</p>
      <ul className={styles.list}>
        {shown.map((one) => <li key={`${one.node} ${one.approval} ${one.packet_sha256}`}><One question={one} /></li>)}
      </ul>
      {rest}
    </section>
  );
}

/** With what a line begins that says by which rule and of which attempt, and nothing of what would be done. */
const DETAIL = ["policy \"", "policy `", "rules: ", "touches `", "must hold: ", "found there: ", "the model had read `", "proposed by `", "task `", "asked at ", "when it expires, "];

/** What a person reads, and what is folded: the tail of a packet, as long as nothing but details stands in it. */
function divided(lines: readonly string[]): readonly [readonly string[], readonly string[]] {
  const at = lines.findLastIndex((line) => !DETAIL.some((begins) => line.startsWith(begins))) + 1;
  // Where nothing else would be left, all of it is read.
  return at === 0 ? [lines, []] : [lines.slice(0, at), lines.slice(at)];
}

function One({ question: one }: { question: Question }) {
  const name = nodeName(one);
  const title = capital(said(one.title, "What it would do"));
  const left = useLeft(one.expires_at);
  const [shown, folded] = divided(one.lines.map((line) => cardLine(said(line))));
  return (
    <article className={styles.card} aria-label={`${name} asks`}>
      <header>
        <StateTag tone="waiting" mark="waiting">Waiting for you</StateTag>
        <span><b><Words of={name} /></b> asks</span>
        <span>expires <Time at={one.expires_at} /></span>
      </header>
      <h3><Words of={title} /></h3>
      <ul className={styles.lines} aria-label="What it would do">
        {shown.map((line, at) => <li key={at}><Words of={line} /></li>)}
      </ul>
      <Lines title="Technical details" lines={folded} mono />
      <p className={styles.note}>What is signed: <Hash of={one.packet_sha256} what="packet" /> It names files and programs of <Words of={name} />, not of this machine.</p>
      {left === 0 ? <p role="status">It has expired, and nothing was done.</p> : <Decide question={one} />}
    </article>
  );
}

function Decide({ question: one }: { question: Question }) {
  const host = useHost();
  const answer = useSaying("mesh.answer", { always: true });
  const [isYes, setYes] = useState(false);
  const [word, setWord] = useState("");
  // Where a yes is given in a window of its own, or at a terminal, no passphrase is typed here.
  if (host.person === undefined) {
    return (
      <div className={styles.how}>
        <p>The approval key of this machine signs the answer, at a terminal:</p>
        <Copyable text={`hermit mesh answer ${one.approval} allow`} />
        <Copyable text={`hermit mesh answer ${one.approval} deny`} />
      </div>
    );
  }
  const say = (allow: boolean) => answer.give({ approval: one.approval, allow, packet_sha256: one.packet_sha256, ...(allow && one.word !== null ? { word: one.word } : {}) });
  const because = answer.isPending ? "It is being signed" : answer.missing;
  const unsaid = because ?? lacks(one.word, word);
  const on = <>on <Words of={nodeName(one)} /></>;
  return (
    <div className={styles.form} role="group" aria-label="Your answer">
      {isYes && <RiskWord needed={one.word} value={word} onChange={setWord} />}
      {answer.field}
      <div className={styles.buttons}>
        <Button data-deny because={because} onClick={() => say(false)}>Deny</Button>
        {isYes
          ? (
            <>
              {one.word === "critical"
                ? <Hold ms={HOLD_MS} because={unsaid} begin={() => Promise.resolve()} end={() => undefined} held={() => say(true)}>Hold to approve {on}</Hold>
                : <Button look="person" because={unsaid} onClick={() => say(true)}>Approve {on}</Button>}
              <Button look="link" onClick={() => setYes(false)}>Back</Button>
            </>
          )
          : <Button because={because} onClick={() => setYes(true)}>Approve</Button>}
      </div>
      {isYes && unsaid !== null && !answer.isPending && <p className={styles.note}>{unsaid}.</p>}
      {answer.error !== null && <Failed error={answer.error} />}
    </div>
  );
}
