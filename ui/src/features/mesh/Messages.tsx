// What was sent to other machines and came from them, the newest first: how far each came, and what was answered. A message that
// waits somewhere is never called delivered.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { Message } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Answer } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { said } from "~/screen/words";
import styles from "./Mesh.module.css";
import { PassOn, Take } from "./Owner";
import { SendGoal } from "./SendGoal";
import { deliveryLook, howFar, nodeName } from "./words";

/** Messages of one part of the list. */
const PART = 30;
/** Letters of a message that are shown at first. */
const LETTERS = 1_000;

export function Messages({ isOn }: { isOn: boolean }) {
  const [older, setOlder] = useState(0);
  return (
    <section className={styles.section} aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <Part before={null} isOn={isOn} older={older} another={() => setOlder(older + 1)} />
    </section>
  );
}

/** A part, and behind it as many `older` ones: each begins where this one ends now, so that nothing falls between them. */
function Part({ before, isOn, older, another }: { before: number | null; isOn: boolean; older: number; another: () => void }) {
  const asked = useAsk("mesh.messages", { before, limit: PART }, { keep: true });
  return (
    <Answer asked={asked} what="messages" lines={3} isEmpty={(found) => found.messages.length === 0 && before === null && found.before === null} empty={<p className={styles.note}>Nothing was sent to another machine and nothing came from one.</p>}>
      {(found) => {
        const next = found.before;
        return (
          <>
            <ul className={styles.rows} aria-label={before === null ? "Messages" : "Older messages"}>
              {found.messages.map((one) => <li key={one.place}><Row message={one} isOn={isOn} /></li>)}
            </ul>
            {next !== null && (older > 0
              ? <Part before={next} isOn={isOn} older={older - 1} another={another} />
              : <div><Button onClick={another}>Older messages</Button></div>)}
          </>
        );
      }}
    </Answer>
  );
}

function Row({ message: one, isOn }: { message: Message; isOn: boolean }) {
  const [open, setOpen] = useState<"more" | "owner" | null>(null);
  const close = () => setOpen(null);
  const look = deliveryLook(one);
  const name = nodeName(one);
  return (
    <article aria-label={`${one.is_outgoing ? "To" : "From"} ${name}`} className={styles.message}>
      <div className={styles.head}>
        <StateTag tone={look.tone} mark={look.mark}>{look.word}</StateTag>
        <b>{one.is_outgoing ? "To " : "From "}<Words of={name} /></b>
        <Time at={one.at} clock />
        {one.task_id !== null && <Link to="/task/$id" params={{ id: one.task_id }}>Task</Link>}
      </div>
      <Text of={said(one.text)} />
      {one.is_outgoing && <p className={styles.note}><Words of={howFar(one)} /></p>}
      {one.answer !== null && (
        <div className={styles.answer} role="group" aria-label={`Answer ${one.is_outgoing ? `of ${name}` : "of this machine"}`}>
          <p className={styles.head}><b>{one.is_outgoing ? <><Words of={name} /> answered</> : "This machine answered"}</b>{one.answered_at !== null && <Time at={one.answered_at} clock />}</p>
          <Text of={said(one.answer)} />
        </div>
      )}
      {isOn && open === null && (
        <div className={styles.buttons}>
          {one.is_outgoing && one.state !== "never" && <Button look="link" onClick={() => setOpen("more")}>Write more to this conversation</Button>}
          {one.is_outgoing && one.answer === null && <Button look="link" onClick={() => setOpen("owner")}>Take the conversation</Button>}
          {!one.is_outgoing && <Button look="link" onClick={() => setOpen("owner")}>Pass the conversation on</Button>}
        </div>
      )}
      {open === "more" && <SendGoal node={{ node: one.node, name: one.name, folders: [], here_until: null }} conversation={one.conversation} close={close} />}
      {open === "owner" && (one.is_outgoing ? <Take message={one} close={close} /> : <PassOn message={one} close={close} />)}
    </article>
  );
}

/** Words of a message, whole when that is asked. */
function Text({ of }: { of: string }) {
  const [isWhole, setWhole] = useState(false);
  if (of === "") return null;
  const isLong = of.length > LETTERS;
  return (
    <>
      <p className={styles.words}><Words of={isLong && !isWhole ? `${of.slice(0, LETTERS)}…` : of} /></p>
      {isLong && <div className={styles.buttons}><Button look="link" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>{isWhole ? "Show less" : "Show all of it"}</Button></div>}
    </>
  );
}
