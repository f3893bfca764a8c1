// Pairing two machines: one shows a code, a person types it at the other. The code counts once and for minutes; neither machine
// sends it.
import { useState } from "react";
import { useAsk, useKept } from "~/ipc/client";
import type { Code, Mesh, PairingState } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { TextArea, TextField } from "~/primitives/Field";
import { leftClock, useLeft } from "~/primitives/left";
import { Answer, Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Mesh.module.css";
import { type BySaying, useSaying } from "./Person";
import { addressesIn, typedCode } from "./words";

/** How often it is asked how a pairing stands, while one is waited for: no notice tells of that. */
const WAITING_MS = 1_000;
/** The same while none is. */
const IDLE_MS = 10_000;

export function Pair({ mesh }: { mesh: Mesh }) {
  const asked = useAsk("mesh.pairing", {}, { refetchInterval: ({ state }) => (state.data?.state === "waiting" ? WAITING_MS : IDLE_MS) });
  return (
    <section className={styles.section} aria-labelledby="pair">
      <h2 id="pair">Pair a machine</h2>
      <Answer asked={asked} what="how a pairing stands" lines={3}>
        {(now) => <Now now={now} mesh={mesh} />}
      </Answer>
    </section>
  );
}

function Now({ now, mesh }: { now: PairingState; mesh: Mesh }) {
  // Where both meet is told once, with the code.
  const [kept, keep] = useKept<Code>("mesh.invite");
  const invite = useSaying("mesh.invite", { taken: keep });
  const join = useSaying("mesh.join");
  const [isTyping, setTyping] = useState(false);
  const left = useLeft(now.state === "waiting" ? now.until : null);
  const isWaiting = now.state === "waiting" && left !== 0;
  // A page that no terminal opened is told the code once, and not again.
  const code = now.code ?? (kept !== null && kept.until === now.until ? kept.code : null);
  const isShown = isWaiting && code !== null;
  const show = () => invite.give({}, () => setTyping(false));
  return (
    <>
      {isShown && <Shown code={code} left={left} at={kept !== null && kept.code === code ? kept.at : mesh.relays} />}
      {isWaiting && now.tries_left !== null && <Said tone="failed">The code was typed wrong at the other machine. It may be typed {times(now.tries_left)} more.</Said>}
      {isWaiting && !isShown && <p role="status">The code was taken. The other machine is waited for{left !== null && <>, for <b role="timer">{leftClock(left)}</b> more</>}.</p>}
      {isWaiting && now.says !== null && <p role="status"><Words of={now.says} /></p>}
      {!isWaiting && <End now={now} isOver={left === 0} />}
      {!isShown && !isTyping && <p>Show a code here and type it at the other machine, or the other way round. The mesh must be on at both.</p>}
      {!isTyping && invite.field}
      <div className={styles.buttons}>
        {!isTyping && <Button because={invite.isPending ? "Asking" : invite.missing} onClick={show}>{isShown ? "Show a new code" : "Show a code"}</Button>}
        {!isTyping && <Button onClick={() => setTyping(true)}>Type a code</Button>}
      </div>
      {invite.error !== null && <Failed error={invite.error} />}
      {isTyping && <Typed mesh={mesh} join={join} close={() => setTyping(false)} />}
    </>
  );
}

const times = (left: number) => (left === 1 ? "once" : `${left} times`);

/** The end of a pairing, in words. */
function End({ now, isOver }: { now: PairingState; isOver: boolean }) {
  if (now.state === "paired") return <Said tone="done">Paired with <Words of={now.name ?? "the other machine"} />. Both know each other, and either can withdraw the other.</Said>;
  if (now.state === "wrong_code" && (now.tries_left ?? 0) > 0) return <Said tone="failed">Nobody was paired: the code that was typed here is not the one that is shown. Read it again and type it once more: it may be typed {times(now.tries_left ?? 0)} more.</Said>;
  if (now.state === "wrong_code") return <Said tone="failed">Nobody was paired: the code was typed wrong three times, so it counts no more. Show a new code and type that.</Said>;
  if (now.state === "refused") return <Said tone="failed">Nobody was paired. <Words of={now.says ?? "One of both machines refused it."} /></Said>;
  if (now.state === "expired" || isOver) return <Said tone="failed">Nobody was paired: the code has expired. Show a new one.</Said>;
  return null;
}

function Shown({ code, left, at }: { code: string; left: number | null; at: readonly string[] }) {
  const elsewhere = at.length === 0 ? "" : ` ${at.map((one) => `--at ${one}`).join(" ")}`;
  return (
    <div className={styles.pairing} role="group" aria-label="Code for another machine">
      <p className={styles.code}><output aria-label="Code">{code.split("-").map((part, n) => <span key={n}>{n > 0 && <span className="visually-hidden">-</span>}{part}</span>)}</output></p>
      <Copyable text={code} />
      <p>On the other machine, open Machines, choose “Type a code” and write it there. Or run there:</p>
      <Copyable text={`hermit mesh pair ${code}${elsewhere}`} />
      {at.length > 0 && <p>Both meet at <Words of={at.join(", ")} />. On a machine that does not use any of these, type one of them with the code, under “Where both meet”.</p>}
      <p role="status">{left === null ? "It counts for one machine." : <>It counts for one machine, for <b role="timer">{leftClock(left)}</b> more.</>}</p>
      <p className={styles.note}>Type it only at a machine of yours: whoever types it first is paired.</p>
    </div>
  );
}

function Typed({ mesh, join, close }: { mesh: Mesh; join: BySaying<"mesh.join">; close: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState("");
  const code = typedCode(text);
  const because = join.isPending ? "Asking" : code === null ? "A code has 10 letters and digits" : mesh.relays.length === 0 && addressesIn(at).length === 0 ? "Say where both meet: this machine has no relay" : join.missing;
  const go = () => join.give({ code: code ?? "", at: addressesIn(at) }, close);
  return (
    <form className={styles.inner} aria-label="Code of another machine" onSubmit={(event) => { event.preventDefault(); if (because === null) go(); }}>
      <TextField label="Code that the other machine shows" mono value={text} autoComplete="off" spellCheck={false} placeholder="ABCD-EFGHJK" onChange={(event) => setText(event.target.value)} />
      <TextArea
        label="Where both meet (optional)" rows={2} value={at} spellCheck={false} placeholder={"wss://relay.example\n192.168.1.5:7447"}
        hint="Addresses that the other machine names with its code, one a line. The relays of this machine where nothing is said." onChange={(event) => setAt(event.target.value)}
      />
      {join.field}
      <div className={styles.buttons}>
        <Button look="person" type="submit" because={because}>Pair</Button>
        <Button look="link" onClick={close}>Cancel</Button>
      </div>
      {because !== null && !join.isPending && text !== "" && <p className={styles.note}>{because}.</p>}
      {join.error !== null && <Failed error={join.error} />}
    </form>
  );
}
