// Who is or was paired with a gateway. Their names are their own choice.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { may } from "~/features/chats/words";
import { useAct, useAsk } from "~/ipc/client";
import type { PairedSender } from "~/ipc/generated/gateways";
import { Button } from "~/primitives/Button";
import { Answer, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { said } from "~/screen/words";
import styles from "./Gateways.module.css";

export function Senders({ gateway }: { gateway: string }) {
  const asked = useAsk("gateways.senders", { name: gateway });
  return (
    <section aria-label={`Senders of ${gateway}`}>
      <h3>Senders</h3>
      <Answer asked={asked} what="senders" lines={2} isEmpty={(found) => found.senders.length === 0} empty={<p className={styles.note}>Nobody is or was paired.</p>}>
        {(found) => (
          <>
            <ul className={styles.rows}>
              {found.senders.map((one) => <li key={`${one.sender} ${one.since}`}><Sender gateway={gateway} sender={one} /></li>)}
            </ul>
            <p className={styles.note}>A name is what they call themselves there; nobody has checked it.</p>
          </>
        )}
      </Answer>
    </section>
  );
}

function Sender({ gateway, sender: one }: { gateway: string; sender: PairedSender }) {
  const unpair = useAct("gateways.unpair");
  const [sure, setSure] = useState(false);
  const name = said(one.sender_name, one.sender);
  const isPaired = one.unpaired === null;
  return (
    <>
      <div className={styles.head}>
        <b><Words of={name} /></b>
        <code><Words of={one.sender} /></code>
        <StateTag tone={isPaired ? "done" : "mute"} mark={isPaired ? "done" : "deny"}>{isPaired ? may(one.profile) : "Not paired any more"}</StateTag>
        <span className={styles.note}>since <Time at={one.since} /></span>
      </div>
      {one.unpaired !== null && one.unpaired !== "" && <p className={styles.note}><Words of={one.unpaired} /></p>}
      <div className={styles.buttons}>
        <Link to="/conversations" search={{ at: one.conversation_id }}>Conversation</Link>
        {isPaired && !sure && <Button look="link" onClick={() => setSure(true)}>Unpair</Button>}
      </div>
      {isPaired && sure && (
        <div className={styles.buttons} role="group" aria-label={`Unpair ${name}?`}>
          <span>Nothing that they write is heard any more. Their tasks stay.</span>
          <Button look="danger" because={unpair.isPending ? "Unpairing" : null} onClick={() => unpair.mutate({ name: gateway, sender: one.sender, reason: "Unpaired on the page" })}>Unpair <Words of={name} /></Button>
          <Button look="link" onClick={() => setSure(false)}>Keep</Button>
        </div>
      )}
      {unpair.error !== null && <Failed error={unpair.error} />}
    </>
  );
}
