// A yes in a browser: the approval passphrase each time, for the card as it is shown. Enter decides nothing here.
import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { type Refused, type Seat, refusal } from "~/host/host";
import { useHost } from "~/ipc/client";
import type { Approval } from "~/ipc/generated/approvals";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import styles from "./Card.module.css";

/** A critical act is allowed by a hand that stays. */
const HOLD_MS = 1200;

/** Typing for something else may be under way when a card appears: a line break is never a yes. */
const deaf = (event: KeyboardEvent) => {
  if (event.key === "Enter") event.preventDefault();
};

export function Allow({ approval }: { approval: Approval }) {
  const host = useHost();
  const client = useQueryClient();
  const id = approval.row.approval_id;
  const [isOpen, setOpen] = useState(false);
  const [seat, setSeat] = useState<Seat | null>(null);
  const [isArmed, setArmed] = useState(false);
  const [passphrase, setPassphrase] = useState("");
  const [word, setWord] = useState("");
  const [isGoing, setGoing] = useState(false);
  const [trouble, setTrouble] = useState<Refused | null>(null);
  const isStale = seat !== null && seat.packet_sha256 !== approval.packet_sha256;

  useEffect(() => {
    if (!isOpen || host.sit === undefined) return;
    let armed: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    setSeat(null);
    setArmed(false);
    host.sit(id).then(
      (given) => {
        if (isGone) return;
        setSeat(given);
        armed = setTimeout(() => setArmed(true), given.arms_in);
      },
      (thrown: unknown) => { if (!isGone) setTrouble(refusal(thrown)); },
    );
    return () => {
      isGone = true;
      clearTimeout(armed);
    };
  }, [isOpen, id, approval.packet_sha256, host]);

  const allow = () => {
    if (seat === null || host.allow === undefined) return;
    const given = passphrase;
    setPassphrase("");
    setGoing(true);
    setTrouble(null);
    host.allow(seat, given, seat.word).then(
      () => client.invalidateQueries(),
      (thrown: unknown) => setTrouble(refusal(thrown)),
    ).finally(() => setGoing(false));
  };

  if (!isOpen) {
    return (
      <>
        <Button look="person" loose onKeyDown={deaf} onClick={() => setOpen(true)}>Allow with passphrase</Button>
        <p className={styles.note}>Nothing is decided yet. A yes needs your approval passphrase, each time.</p>
      </>
    );
  }
  const needed = seat?.word ?? null;
  const because = isGoing ? "It is being signed"
    : isStale ? "What is asked has changed; read the card again"
    : !isArmed ? "The card has only just been shown"
    : needed !== null && word.trim() !== needed ? `Type ${needed} first`
    : passphrase === "" ? "Type the passphrase first"
    : null;
  return (
    <div className={styles.allow}>
      {needed !== null && (
        <TextField label={`This is of ${needed} risk. Type ${needed} to allow it all the same`} value={word} autoComplete="off" spellCheck={false} onKeyDown={deaf} onChange={(event) => setWord(event.target.value)} />
      )}
      <TextField label="Approval passphrase" type="password" value={passphrase} autoComplete="off" onKeyDown={deaf} onChange={(event) => setPassphrase(event.target.value)} />
      <div className={styles.row}>
        {approval.row.risk === "critical"
          ? <Hold because={because} held={allow}>Hold to allow this once</Hold>
          : <Button look="person" loose because={because} onKeyDown={deaf} onClick={allow}>Allow this once</Button>}
        <Button onClick={() => { setPassphrase(""); setWord(""); setTrouble(null); setOpen(false); }}>Not now</Button>
      </div>
      {isStale && <p className={styles.note} role="status">What is asked has changed since this card was read. Nothing was decided.</p>}
      {trouble !== null && <Failed error={trouble} />}
    </div>
  );
}

/** Pressed and held, with a pointer or the space bar; let go too early it does nothing. */
function Hold({ because, held, children }: { because: string | null; held: () => void; children: string }) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [isDown, setDown] = useState(false);
  const stop = () => {
    clearTimeout(timer.current);
    setDown(false);
  };
  const start = () => {
    if (because !== null || isDown) return;
    setDown(true);
    timer.current = setTimeout(() => { setDown(false); held(); }, HOLD_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <Button
      look="person" loose because={because} data-held={isDown || undefined} className={styles.hold}
      onPointerDown={start} onPointerUp={stop} onPointerLeave={stop} onBlur={stop}
      onKeyDown={(event) => { if (event.key === " " && !event.repeat) start(); deaf(event); }}
      onKeyUp={(event) => { if (event.key === " ") stop(); }}
    >
      {children}
    </Button>
  );
}
