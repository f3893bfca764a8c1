// A yes in a browser: the approval passphrase each time, for the card as it is shown, once or for the like of it from now
// on. Enter decides nothing here.
import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useState } from "react";
import { type Pen, type Refused, type Seat, refusal } from "~/host/host";
import type { Approval } from "~/ipc/generated/approvals";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Hold } from "~/primitives/Hold";
import { Failed } from "~/primitives/States";
import { capital } from "~/screen/words";
import styles from "./Card.module.css";
import { Deny } from "./Deny";
import { OnceOrAlways } from "./OnceOrAlways";
import { useStandingGrant } from "./StandingGrant";

/** A critical act, and whatever lasts, is allowed by a hand that stays. */
const HOLD_MS = 1200;

/** Typing for something else may be under way when a card appears: a line break is never a yes. */
export const deaf = (event: KeyboardEvent) => {
  if (event.key === "Enter") event.preventDefault();
};

/** A ticket for what is shown, once it is armed; asked for anew when what is shown is other. */
export function useTicket<T extends { arms_in: number }>(isOn: boolean, about: string, ask: () => Promise<T>): { ticket: T | null; isArmed: boolean; trouble: Refused | null } {
  const [ticket, setTicket] = useState<T | null>(null);
  const [isArmed, setArmed] = useState(false);
  const [trouble, setTrouble] = useState<Refused | null>(null);
  useEffect(() => {
    setTicket(null);
    setArmed(false);
    setTrouble(null);
    if (!isOn) return;
    let armed: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    ask().then(
      (given) => {
        if (isGone) return;
        setTicket(given);
        armed = setTimeout(() => setArmed(true), given.arms_in);
      },
      (thrown: unknown) => { if (!isGone) setTrouble(refusal(thrown)); },
    );
    return () => {
      isGone = true;
      clearTimeout(armed);
    };
    // What is asked for is told by `about`; the function is another at every drawing.
  }, [isOn, about]);
  return { ticket, isArmed, trouble };
}

/** The decision of a card on a page of a host: how far, a no, or a yes with the passphrase. */
export function Allow({ approval, pen }: { approval: Approval; pen: Pen }) {
  const id = approval.row.approval_id;
  const [isLasting, setLasting] = useState(false);
  const lasting = useStandingGrant(pen, approval.row, isLasting);
  return (
    <footer className={styles.decide} data-lasting={isLasting || undefined}>
      {lasting.panel}
      <section><OnceOrAlways approval={approval} lasting={isLasting} set={setLasting} /></section>
      <Deny id={id} />
      <section>
        <h3>Your approval</h3>
        <Yes key={String(isLasting)} approval={approval} pen={pen} isLasting={isLasting} choice={lasting.choice} />
      </section>
    </footer>
  );
}

function Yes({ approval, pen, isLasting, choice }: { approval: Approval; pen: Pen; isLasting: boolean; choice: ReturnType<typeof useStandingGrant>["choice"] }) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [passphrase, setPassphrase] = useState("");
  const [word, setWord] = useState("");
  const [isGoing, setGoing] = useState(false);
  const [failed, setFailed] = useState<Refused | null>(null);
  const { ticket: seat, isArmed, trouble } = useTicket<Seat>(isOpen, `${approval.row.approval_id}:${approval.packet_sha256}`, () => pen.sit(approval.row.approval_id));
  const isStale = seat !== null && seat.packet_sha256 !== approval.packet_sha256;

  const allow = () => {
    if (seat === null) return;
    const given = passphrase;
    setPassphrase("");
    setGoing(true);
    setFailed(null);
    pen.allow(seat, given, seat.word, choice).then(
      () => client.invalidateQueries(),
      (thrown: unknown) => setFailed(refusal(thrown)),
    ).finally(() => setGoing(false));
  };

  if (!isOpen) {
    return (
      <>
        <Button look="person" loose onKeyDown={deaf} onClick={() => setOpen(true)}>{isLasting ? "Approve from now on" : "Approve with passphrase"}</Button>
        <p className={styles.note}>You need your approval passphrase each time.</p>
      </>
    );
  }
  const needed = seat?.word ?? null;
  const because = isGoing ? "Signing"
    : isLasting && choice === null ? "Choose what to allow from now on"
    : isStale ? "The action changed; read the card again"
    : !isArmed ? "The card was only just shown"
    : needed !== null && word.trim() !== needed ? `Type ${needed} first`
    : passphrase === "" ? "Type the passphrase first"
    : null;
  const isHeld = isLasting || approval.row.risk === "critical";
  return (
    <div className={styles.allow}>
      {needed !== null && (
        <TextField label={`${capital(needed)} risk. Type ${needed} to confirm`} value={word} autoComplete="off" spellCheck={false} onKeyDown={deaf} onChange={(event) => setWord(event.target.value)} />
      )}
      <TextField label="Approval passphrase" type="password" value={passphrase} autoComplete="off" onKeyDown={deaf} onChange={(event) => setPassphrase(event.target.value)} />
      <div className={styles.row}>
        {isHeld
          ? <Hold ms={HOLD_MS} because={because} begin={() => Promise.resolve()} end={() => undefined} held={allow}>{isLasting ? "Hold to approve from now on" : "Hold to approve"}</Hold>
          : <Button look="person" loose because={because} onKeyDown={deaf} onClick={allow}>Approve</Button>}
        <Button onClick={() => { setPassphrase(""); setWord(""); setFailed(null); setOpen(false); }}>Cancel</Button>
      </div>
      {because !== null && !isGoing && <p className={styles.note}>{because}.</p>}
      {isStale && <p className={styles.note} role="status">The action has changed since you read this card. Nothing was decided.</p>}
      {(failed ?? trouble) !== null && <Failed error={(failed ?? trouble) as Refused} />}
    </div>
  );
}
