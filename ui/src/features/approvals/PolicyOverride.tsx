// A denial that a person at a browser does not share: they give a reason, read the sentence they would sign, and sign it
// with the passphrase. Nothing is allowed by it; when exactly this act is proposed again, they are asked.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Denial, type Pen, type Refused, refusal } from "~/host/host";
import { Button } from "~/primitives/Button";
import { TextArea, TextField } from "~/primitives/Field";
import { Hold } from "~/primitives/Hold";
import { wholeUpTo } from "~/primitives/number";
import { Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { deaf, useTicket } from "./ticket";
import styles from "./Card.module.css";
import override from "./Override.module.css";

const HOLD_MS = 1200;
const HOURS_MAX = 24;
const USES_MAX = 3;

export function PolicyOverride({ act, pen }: { act: string; pen: Pen }) {
  const [isOpen, setOpen] = useState(false);
  const [isSigned, setSigned] = useState(false);
  if (isSigned) return <Said tone="done">Signed. When this action is proposed again you are asked; retry the task to have it proposed.</Said>;
  if (!isOpen) return <Button onKeyDown={deaf} onClick={() => setOpen(true)}>Override</Button>;
  return <Form act={act} pen={pen} signed={() => setSigned(true)} close={() => setOpen(false)} />;
}

function Form({ act, pen, signed, close }: { act: string; pen: Pen; signed: () => void; close: () => void }) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const [hours, setHours] = useState("1");
  const [uses, setUses] = useState("1");
  /** What is read; another word is another sentence, and is read anew. */
  const [asked, setAsked] = useState<{ reason: string; hours: number; uses: number } | null>(null);
  const [word, setWord] = useState("");
  const [passphrase, setPassphrase] = useState("");
  const [isGoing, setGoing] = useState(false);
  const [failed, setFailed] = useState<Refused | null>(null);
  const bounds = { hours: wholeUpTo(hours, HOURS_MAX), uses: wholeUpTo(uses, USES_MAX) };
  const { ticket, isArmed, trouble } = useTicket<Denial>(asked !== null, JSON.stringify(asked), () => pen.prepareOverride(act, asked?.reason ?? "", asked?.hours ?? 1, asked?.uses ?? 1));
  const anew = (set: (text: string) => void) => (text: string) => { set(text); setAsked(null); };
  const [reasonAnew, hoursAnew, usesAnew] = [anew(setReason), anew(setHours), anew(setUses)];
  const undrafted = reason.trim() === "" ? "Say why first" : bounds.hours === null || bounds.uses === null ? "Correct hours and uses first" : null;
  const because = isGoing ? "It is being signed"
    : ticket === null ? "Read the sentence first"
    : !isArmed ? "The sentence has only just been shown"
    : word.trim() !== ticket.word ? `Type ${ticket.word} first`
    : passphrase === "" ? "Type the passphrase first"
    : null;
  const sign = () => {
    if (ticket === null) return;
    const given = passphrase;
    setPassphrase("");
    setGoing(true);
    setFailed(null);
    pen.allowOverride(ticket, given, ticket.word).then(
      () => { signed(); return client.invalidateQueries(); },
      (thrown: unknown) => setFailed(refusal(thrown)),
    ).finally(() => setGoing(false));
  };
  return (
    <div className={styles.allow} role="group" aria-label="Override of a denial">
      <TextArea label="Why you override it" value={reason} rows={2} onChange={(event) => reasonAnew(event.target.value)} />
      <div className={override.pair}>
        <TextField label="For so many hours" inputMode="numeric" value={hours} error={bounds.hours === null ? `1 to ${HOURS_MAX}` : null} onKeyDown={deaf} onChange={(event) => hoursAnew(event.target.value)} />
        <TextField label="So often" inputMode="numeric" value={uses} error={bounds.uses === null ? `1 to ${USES_MAX}` : null} onKeyDown={deaf} onChange={(event) => usesAnew(event.target.value)} />
      </div>
      {ticket === null ? (
        <div className={styles.row}>
          <Button because={undrafted} onClick={() => bounds.hours !== null && bounds.uses !== null && setAsked({ reason: reason.trim(), hours: bounds.hours, uses: bounds.uses })}>Show what I would sign</Button>
          <Button onClick={close}>Cancel</Button>
        </div>
      ) : (
        <>
          <p className={override.sentence} role="status"><Words of={ticket.words} /></p>
          <TextField label={`It allows nothing, and asks you at critical risk. Type ${ticket.word} to sign it`} value={word} autoComplete="off" spellCheck={false} onKeyDown={deaf} onChange={(event) => setWord(event.target.value)} />
          <TextField label="Approval passphrase" type="password" value={passphrase} autoComplete="off" onKeyDown={deaf} onChange={(event) => setPassphrase(event.target.value)} />
          <div className={styles.row}>
            <Hold ms={HOLD_MS} because={because} begin={() => Promise.resolve()} end={() => undefined} held={sign}>Hold to override</Hold>
            <Button onClick={() => { setPassphrase(""); close(); }}>Cancel</Button>
          </div>
          {because !== null && !isGoing && <p className={styles.note}>{because}.</p>}
        </>
      )}
      {(failed ?? trouble) !== null && <Failed error={(failed ?? trouble) as Refused} />}
    </div>
  );
}
