// What came in and went out through a gateway, the newest first: how each message stands, and what was refused and why.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { Message } from "~/ipc/generated/gateways";
import { Button } from "~/primitives/Button";
import { many } from "~/primitives/number";
import { Answer } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { capital, plain, said } from "~/screen/words";
import styles from "./Gateways.module.css";
import { aboutName, messageLook, refusal } from "./words";

/** Messages of one part of the list. */
const PART = 30;
/** Letters of a message that are shown; its task has all of them. */
const LETTERS = 1_000;

type Names = ReadonlyMap<string, string>;

export function Messages({ gateway }: { gateway: string }) {
  const senders = useAsk("gateways.senders", { name: gateway });
  const [older, setOlder] = useState(0);
  const names: Names = new Map((senders.data?.senders ?? []).map((one) => [one.sender, said(one.sender_name, one.sender)]));
  return (
    <section aria-label={`Messages of ${gateway}`}>
      <h3>Messages</h3>
      <Part gateway={gateway} before={null} names={names} older={older} another={() => setOlder(older + 1)} />
    </section>
  );
}

/** A part, and behind it as many `older` ones: each begins where this one ends now, so that nothing falls between them. */
function Part({ gateway, before, names, older, another }: { gateway: string; before: number | null; names: Names; older: number; another: () => void }) {
  const asked = useAsk("gateways.messages", { name: gateway, before, limit: PART }, { keep: true });
  return (
    <Answer asked={asked} what="messages" lines={3} isEmpty={(found) => found.messages.length === 0 && before === null && found.before === null} empty={<p className={styles.note}>Nothing came in and nothing went out yet.</p>}>
      {(found) => {
        const next = found.before;
        return (
          <>
            <ul className={styles.rows}>
              {found.messages.map((one) => <li key={`${one.place} ${one.refused ?? ""}`}><Row message={one} names={names} /></li>)}
            </ul>
            {next !== null && (older > 0
              ? <Part gateway={gateway} before={next} names={names} older={older - 1} another={another} />
              : <div><Button onClick={another}>Older messages</Button></div>)}
          </>
        );
      }}
    </Answer>
  );
}

function Row({ message: one, names }: { message: Message; names: Names }) {
  const look = messageLook(one);
  const who = one.sender ?? one.chat;
  const text = said(one.text);
  return (
    <>
      <div className={styles.head}>
        <StateTag tone={look.tone} mark={look.mark}>{look.word}</StateTag>
        <b>{one.is_outgoing ? "To " : "From "}{who === null ? "senders of this gateway" : <Words of={names.get(who) ?? who} />}</b>
        {one.about !== null && <span>{aboutName(one.about)}</span>}
        <Time at={one.at} clock />
      </div>
      {one.refused !== null && <p>Refused because {refusal(one.refused)}.{one.times !== null && one.times > 1 && ` At least ${many(one.times)} such messages.`}</p>}
      {text !== "" && <p className={styles.words}><Words of={text.length > LETTERS ? `${text.slice(0, LETTERS)}…` : text} /></p>}
      {one.why !== null && one.why !== "" && <p className={styles.note}><Words of={capital(one.why)} /></p>}
      {(one.task_id !== null || one.sent_by !== null) && (
        <p className={styles.head}>
          {one.task_id !== null && <span><Link to="/task/$id" params={{ id: one.task_id }}>Task</Link>{one.task_status !== null && ` (${one.task_status === "completed" ? "done" : plain(one.task_status)})`}</span>}
          {one.sent_by !== null && <Link to="/task/$id" params={{ id: one.sent_by }}>Receipt of sending it</Link>}
        </p>
      )}
    </>
  );
}
