// A yes to the card in sight: with the approval passphrase, or signed by a passkey that belongs to this page's address. Enter
// decides nothing here.
import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { type Pen, type Refused, type Seat, refusal } from "~/host/host";
import type { Approval } from "~/ipc/generated/approvals";
import { useHost } from "~/ipc/client";
import { usePasskeysHere } from "~/ipc/elsewhere";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Hold } from "~/primitives/Hold";
import { Failed } from "~/primitives/States";
import { capital } from "~/screen/words";
import styles from "./Card.module.css";
import { HOLD_MS, RiskWord, lacks } from "./RiskWord";
import { deaf, useTicket } from "./ticket";
import type { useStandingGrant } from "./StandingGrant";

type Way = "passphrase" | "passkey";

interface Given {
  approval: Approval;
  pen: Pen;
  isLasting: boolean;
  choice: ReturnType<typeof useStandingGrant>["choice"];
  /** On a phone: held, and said in few words. */
  isPhone?: boolean;
  /** Told when a person has begun to answer, or left it. */
  begun?: (is: boolean) => void;
}

export function Yes({ approval, pen, isLasting, choice, isPhone = false, begun }: Given) {
  const { passkeys } = useHost();
  const hasPasskey = usePasskeysHere().length > 0 && passkeys !== undefined && !isLasting;
  const [way, setWay] = useState<Way | null>(null);
  const go = (next: Way | null) => { setWay(next); begun?.(next !== null); };
  if (way === null) {
    return (
      <>
        <div className={styles.ways}>
          {hasPasskey && <Button look="person" {...(isPhone ? {} : { icon: "key" as const })} loose onKeyDown={deaf} onClick={() => go("passkey")}>Approve with passkey</Button>}
          <Button look={hasPasskey ? "plain" : "person"} loose onKeyDown={deaf} onClick={() => go("passphrase")}>{isLasting ? "Approve from now on" : "Approve with passphrase"}</Button>
        </div>
        {!isPhone && <p className={styles.note}>You need your {hasPasskey ? "passkey or your " : ""}approval passphrase each time.</p>}
      </>
    );
  }
  return <Answering key={way} way={way} approval={approval} pen={pen} isLasting={isLasting} choice={choice} isPhone={isPhone} close={() => go(null)} />;
}

function Answering({ way, approval, pen, isLasting, choice, isPhone, close }: Given & { way: Way; close: () => void }) {
  const client = useQueryClient();
  const { passkeys } = useHost();
  const [passphrase, setPassphrase] = useState("");
  const [word, setWord] = useState("");
  const [isGoing, setGoing] = useState(false);
  const [failed, setFailed] = useState<Refused | null>(null);
  const [isEntered, setEntered] = useState(false);
  const id = approval.row.approval_id;
  const { ticket: seat, isArmed, trouble } = useTicket<Seat>(true, `${id}:${approval.packet_sha256}`, () => pen.sit(id));
  const isStale = seat !== null && seat.packet_sha256 !== approval.packet_sha256;

  const allow = () => {
    if (seat === null) return;
    const given = passphrase;
    setPassphrase("");
    setGoing(true);
    setFailed(null);
    // What a passkey signs holds the time of the decision, so it is asked for at this moment.
    const signed = way === "passkey" && passkeys !== undefined
      ? passkeys.ask(seat).then((asked) => passkeys.allow(seat, asked, seat.word))
      : pen.allow(seat, given, seat.word, choice);
    signed.then(
      () => client.invalidateQueries(),
      (thrown: unknown) => setFailed(refusal(thrown)),
    ).finally(() => setGoing(false));
  };

  // Whoever presses Enter after a passphrase expects something of it.
  const hear = (event: KeyboardEvent) => {
    deaf(event);
    if (event.key === "Enter") setEntered(true);
  };
  const needed = seat?.word ?? null;
  const because = isGoing ? (way === "passkey" ? "Use your passkey now" : "Signing")
    : isLasting && choice === null ? "Choose what to allow from now on"
    : isStale ? "The action changed; read the card again"
    : !isArmed ? "The card was only just shown"
    : lacks(needed, word) ?? (way === "passphrase" && passphrase === "" ? "Type the passphrase first" : null);
  // Whatever lasts is held, and so is whatever a thumb allows with a passkey.
  const isHeld = isLasting || approval.row.risk === "critical" || (isPhone === true && way === "passkey");
  const says = isLasting ? "approve from now on" : way === "passkey" ? "approve with passkey" : "approve";
  return (
    <div className={styles.allow}>
      <RiskWord needed={needed} value={word} onKeyDown={deaf} onChange={setWord} />
      {way === "passphrase" && <TextField label="Approval passphrase" type="password" value={passphrase} autoComplete="off" onKeyDown={hear} onChange={(event) => setPassphrase(event.target.value)} />}
      <div className={styles.row}>
        {isHeld
          ? <Hold ms={HOLD_MS} because={because} begin={() => Promise.resolve()} end={() => undefined} held={allow}>Hold to {says}</Hold>
          : <Button look="person" loose because={because} onKeyDown={deaf} onClick={allow}>{capital(says)}</Button>}
        <Button onClick={close}>Cancel</Button>
      </div>
      {because !== null && (!isGoing || way === "passkey") && <p className={styles.note}>{because}.</p>}
      {isEntered && because === null && failed === null && <p className={styles.note} role="status">No key approves: {isHeld ? "hold" : "press"} the button.</p>}
      {isStale && <p className={styles.note} role="status">The action has changed since you read this card. Nothing was decided.</p>}
      {(failed ?? trouble) !== null && <Failed error={(failed ?? trouble) as Refused} />}
    </div>
  );
}
