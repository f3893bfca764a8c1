// The chain at relays of Nostr, where anybody reads it. What is sent is put to the person on a card, and each relay answers for itself.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "~/ipc/client";
import type { Identity } from "~/ipc/generated/identity";
import { Button } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Identity.module.css";

export function Publish({ of }: { of: Identity }) {
  const publish = useAct("identity.publish");
  const [text, setText] = useState("");
  const relays = text.split(/\s+/).filter((word) => word !== "");
  const wrong = relays.find((relay) => !/^wss?:\/\/[^/]/.test(relay));
  const newest = of.graph.links.at(-1);
  const because = publish.isPending ? "Asking" : !of.graph.unbroken ? "The chain is broken" : wrong !== undefined ? "Correct the address of a relay" : null;
  return (
    <div className={styles.section}>
      <h3>Publish the chain</h3>
      <p className={styles.note}>Everybody then sees the keys of this instance, the digests and times of its versions of SOUL.md, and heads of your log: no word of SOUL.md, and nothing of what is in your log. A relay keeps it for as long as it wants. A card asks you first.</p>
      {newest !== undefined && newest.published.length > 0 && <p>Published with its newest link at <Words of={newest.published.join(", ")} />.</p>}
      <TextArea
        label="Relays" rows={2} value={text} placeholder="wss://relay.example.org"
        hint="An address on each line. Without one, the relays that are set for your machines are used."
        error={wrong === undefined ? null : `“${wrong}” is no address of a relay: it begins with wss://.`}
        onChange={(event) => setText(event.target.value)}
      />
      <div className={styles.buttons}><Button because={because} onClick={() => publish.mutate({ relays, channel: "app" })}>Publish</Button></div>
      {publish.error !== null && <Failed error={publish.error} />}
      {publish.data !== undefined && <Said tone="done">Asked for. <Link to="/task/$id" params={{ id: publish.data.task_id }}>The task that asks you</Link> shows the card, and then which relays took it.</Said>}
    </div>
  );
}
