// SOUL.md: its text as it is kept, its versions, and the change that a person writes. Only a card makes it SOUL.md.
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Identity } from "~/ipc/generated/identity";
import { Button } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { Empty } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { useDraftOf } from "~/screen/drafts";
import { Edit } from "./Edit";
import styles from "./Identity.module.css";
import { AttestedTag, Text, Versions } from "./Versions";
import { useWaiting } from "./waiting";
import { nameIn } from "./words";

export function Soul({ of }: { of: Identity }) {
  const [draft, setDraft] = useDraftOf("identity");
  const [isOpen, setOpen] = useState(draft !== "");
  const waiting = useWaiting(of);
  // What was written is SOUL.md by now.
  const isTaken = draft !== "" && draft === of.soul;
  useEffect(() => {
    if (!isTaken) return;
    setDraft("");
    setOpen(false);
  }, [isTaken, setDraft]);
  return (
    <section className={styles.section} aria-labelledby="soul">
      <h2 id="soul">SOUL.md</h2>
      {of.soul !== null && <p className={styles.name}><Words of={nameIn(of.soul) ?? "SOUL.md"} /></p>}
      {of.version > 0 && (
        <div className={styles.head}>
          <span>Version {of.version}</span>
          {of.written_at !== null && <span>approved by you <Time at={of.written_at} ago /></span>}
          {of.soul_sha256 !== null && <Hash of={of.soul_sha256} />}
          <AttestedTag is={of.attested} />
        </div>
      )}
      {waiting.task !== null && (waiting.is === "waits" || draft !== "") && (
        <p className={styles.waits} role="status">
          {waiting.is === "waits" ? "A change of SOUL.md waits for your answer." : "The change was not approved. What you wrote is still here."}
          <Link to="/task/$id" params={{ id: waiting.task }}>{waiting.is === "waits" ? "Review it" : "Show its task"}</Link>
        </p>
      )}
      {of.version === 0 && !isOpen && <Empty title="Nobody has written SOUL.md yet" small>SOUL.md says who this instance is: its name, its purpose, its values and its limits. It is part of what every model is told, below your rules of policy, of which it lifts none.</Empty>}
      {of.version > 0 && of.soul === null && <p>The text of version {of.version} was erased. Its digest stays in the chain.</p>}
      {of.soul !== null && !isOpen && <Text of={of.soul} version={of.version} />}
      {isOpen
        ? <Edit key={of.instance_id} of={of} draft={draft} keep={setDraft} waiting={waiting} close={() => setOpen(false)} />
        : <div className={styles.buttons}><Button look="person" because={waiting.is === "waits" ? "A change waits for your answer" : null} onClick={() => setOpen(true)}>{draft !== "" ? "Continue your change" : of.version === 0 ? "Write SOUL.md" : "Change SOUL.md"}</Button></div>}
      {of.versions.length > 0 && <Versions of={of.versions} />}
    </section>
  );
}
