// A code that pairs its sender: asked for here, allowed on a card, shown once, and good for a few minutes from the yes on.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { needsOf, useServices } from "~/features/chats/services";
import { useAct, useAsk, useKept } from "~/ipc/client";
import type { Gateway, PairingCode } from "~/ipc/generated/gateways";
import type { SenderProfile } from "~/ipc/generated/words";
import { Button, Segmented } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { leftClock, useLeft } from "~/primitives/left";
import { Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { isOver, profileName, said } from "~/screen/words";
import styles from "./Gateways.module.css";
import { grouped } from "./words";

export function Pairing({ gateway: one }: { gateway: Gateway }) {
  const [code, keep] = useKept<PairingCode>(`gateways.pair ${one.name}`);
  // It is told once: also whoever has gone to the card meanwhile finds it here.
  const pair = useAct("gateways.pair", { taken: keep });
  const [isOpen, setOpen] = useState(false);
  const [profile, setProfile] = useState<SenderProfile>("ask");
  if (code !== null) return <Code gateway={one} code={code} done={() => { keep(null); setOpen(false); }} />;
  if (!isOpen) return <div><Button onClick={() => setOpen(true)}>Pair a sender</Button></div>;
  return (
    <section className={styles.pairing} aria-label={`Pair a sender with ${one.name}`}>
      <h3>Pair a sender</h3>
      <Segmented label="What the sender may do" value={profile} options={[{ value: "ask", label: "Only ask" }, { value: "goals", label: "Give goals" }]} onChange={setProfile} />
      <p className={styles.note}>{profile === "ask" ? "Tasks of theirs look at files of the folder and change nothing." : `Tasks of theirs have the profile “${profileName(one.profile)}”. You are asked here, as always.`} Nobody can approve anything in a chat.</p>
      <div className={styles.buttons}>
        <Button because={pair.isPending ? "Asking" : null} onClick={() => pair.mutate({ name: one.name, profile, channel: "app", idempotency_key: null })}>Ask me to allow it</Button>
        <Button look="link" onClick={() => setOpen(false)}>Cancel</Button>
      </div>
      {pair.error !== null && <Failed error={pair.error} />}
    </section>
  );
}

function Code({ gateway, code, done }: { gateway: Gateway; code: PairingCode; done: () => void }) {
  const task = useAsk("task.show", { task: code.task_id });
  const senders = useAsk("gateways.senders", { name: gateway.name });
  const sendTo = needsOf(useServices(), gateway.service)?.send_to ?? "to Hermit";
  const row = task.data?.row;
  const allowedAt = row !== undefined && row.run_status === "completed" ? row.ended_at ?? row.updated_at : null;
  const isRefused = row !== undefined && allowedAt === null && isOver(row.run_status);
  const paired = allowedAt === null ? undefined : senders.data?.senders.find((one) => one.unpaired === null && one.since >= allowedAt);
  const left = useLeft(allowedAt === null || paired !== undefined ? null : allowedAt + code.minutes * 60_000);
  return (
    <section className={styles.pairing} aria-label={`Code for ${gateway.name}`}>
      <h3>Code that pairs its sender</h3>
      {paired !== undefined ? <Said tone="done"><Words of={said(paired.sender_name, paired.sender)} /> is paired.</Said>
        : isRefused ? <Said tone="failed">This was not allowed, so the code pairs nobody.</Said>
        : left === 0 ? <Said tone="failed">The code has expired. Ask for a new one.</Said>
        : (
          <>
            <p className={styles.code}><output aria-label="Code">{grouped(code.code)}</output></p>
            <Copyable text={grouped(code.code)} />
            <p>Send it {sendTo}. Whoever sends it first is paired and {code.profile === "goals" ? "may give goals" : "may only ask"}.</p>
            {left === null
              ? <p role="status">It counts once you have allowed it, and then for {code.minutes} minutes. <Link to="/task/$id" params={{ id: code.task_id }}>Review it</Link></p>
              : <p>It holds for <b role="timer">{leftClock(left)}</b> more.</p>}
            <p className={styles.note}>It is kept nowhere but in this page, and gone when you close the page. Give it only to the person whom you want to pair.</p>
          </>
        )}
      <div><Button look="link" onClick={done}>{paired !== undefined || isRefused || left === 0 ? "Close" : "Forget this code"}</Button></div>
    </section>
  );
}
