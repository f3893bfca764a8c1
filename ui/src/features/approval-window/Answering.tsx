// The card where it can be answered. Text nodes only; Enter decides nothing; what is typed while the card appears
// decides nothing; closing the window decides nothing.
import { useCallback, useEffect, useState } from "react";
import { Asker } from "~/features/approvals/Asker";
import { Command, Evidence, Side } from "~/features/approvals/Card";
import card from "~/features/approvals/Card.module.css";
import { Deny } from "~/features/approvals/Deny";
import { OnceOrAlways } from "~/features/approvals/OnceOrAlways";
import { useStandingGrant } from "~/features/approvals/StandingGrant";
import { Title } from "~/features/approvals/Title";
import { readPacket } from "~/features/approvals/packet";
import { approvalLook, capital, surfaceName } from "~/screen/words";
import type { Armed, Desk } from "~/host/desk";
import { type Refused, refusal } from "~/host/host";
import { useAsk, useNotices } from "~/ipc/client";
import type { Approval } from "~/ipc/generated/approvals";
import type { RiskBand } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { CommentsOn, useComments } from "~/primitives/Comments";
import { TextField } from "~/primitives/Field";
import { Hold } from "~/primitives/Hold";
import { Mark } from "~/primitives/Icon";
import { Answer, Failed, Said } from "~/primitives/States";
import { RiskTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./ApprovalWindow.module.css";
import { KeyFields, useSecurityKey, useTouch } from "./SecurityKey";
import { Unlocked } from "./Unlocked";

const AWAY_MS = 1600;

/** What was decided here. */
type Word = "allowed" | "first" | "lasting" | "denied";
const SAID: Record<Word, string> = {
  allowed: "Approved and signed with your key. The task continues.",
  first: "1 of 2: your yes is on record. It waits for another key to allow it, too.",
  lasting: "Approved, now and from now on. The task continues; you can revoke it under Policy.",
  denied: "Denied. The model is told.",
};

export function Answering({ id, desk }: { id: string; desk: Desk }) {
  useNotices();
  const asked = useAsk("approvals.show", { approval: id });
  return (
    <main className={styles.window}>
      <article className={card.card} aria-label="Approval">
        <Answer asked={asked} what="the card" lines={9}>
          {(approval) => <Whole key={approval.row.approval_id} approval={approval} desk={desk} />}
        </Answer>
      </article>
    </main>
  );
}

function Whole({ approval, desk }: { approval: Approval; desk: Desk }) {
  const packet = readPacket(approval);
  const { row } = approval;
  // What was decided here stays on the screen for a moment, in words.
  const [said, setSaid] = useState<Word | null>(null);
  const decided = useCallback((word: Word) => {
    setSaid(word);
    setTimeout(() => void desk.leave(), AWAY_MS);
  }, [desk]);
  const comments = useComments();
  return (
    <CommentsOn value={row.status === "pending" && said === null ? comments : null}>
      <header className={card.head}>
        <div className={card.first}>
          <RiskTag risk={row.risk} />
          <span className={card.of}><Words of={packet?.goal ?? "its task"} /></span>
          <span className={card.when}>
            Asked <Time at={row.requested_at} ago />{row.status === "pending" && <>, expires <Time at={row.expires_at} /></>}
          </span>
        </div>
        <Title approval={approval} />
        <Asker of={row} leads={false} />
        {approval.two_keys && <p className={card.note} role="status"><Words of={capital(approval.two_keys.says)} />.</p>}
        {packet !== null && <Command packet={packet} />}
      </header>
      <div className={card.body}>
        <Evidence approval={approval} packet={packet} />
        <Side approval={approval} packet={packet} />
      </div>
      {said !== null ? (
        <footer className={card.decided} role="status"><Mark name={said === "denied" ? "deny" : "done"} size={14} /><span>{SAID[said]}</span></footer>
      ) : row.status === "pending" ? (
        <Unlocked desk={desk}><Decide approval={approval} desk={desk} decided={decided} /></Unlocked>
      ) : (
        <footer className={card.decided} role="status">
          <Mark name={row.status === "granted" ? "done" : "deny"} size={14} />
          <span>{approvalLook(row.status).word}{row.surface !== null && <> {surfaceName(row.surface)}</>}{row.resolved_at !== null && <> <Time at={row.resolved_at} ago /></>}. Nothing is left to decide.</span>
          <Button onClick={() => void desk.leave()}>Close</Button>
        </footer>
      )}
    </CommentsOn>
  );
}

/** The card was shown: what it takes now. Coming back to the window, or another kind of yes, arms it anew. */
function useArmed(approval: Approval, desk: Desk, lasting: boolean): { armed: Armed | null; ready: boolean; error: Refused | null } {
  const [armed, setArmed] = useState<Armed | null>(null);
  const [ready, setReady] = useState(false);
  const [error, setError] = useState<Refused | null>(null);
  const { approval_id: id } = approval.row;
  const { packet_sha256: sha } = approval;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let turn = 0;
    const arm = () => {
      const mine = ++turn;
      clearTimeout(timer);
      setReady(false);
      desk.shown(id, sha, lasting).then(
        (found) => {
          if (mine !== turn) return;
          setArmed(found);
          setError(null);
          timer = setTimeout(() => setReady(true), found.arm_ms);
        },
        (thrown) => mine === turn && setError(refusal(thrown)),
      );
    };
    arm();
    window.addEventListener("focus", arm);
    return () => {
      turn += 1;
      clearTimeout(timer);
      window.removeEventListener("focus", arm);
    };
  }, [id, sha, desk, lasting]);
  return { armed, ready, error };
}

function Decide({ approval, desk, decided }: { approval: Approval; desk: Desk; decided: (word: Word) => void }) {
  const [lasting, setLasting] = useState(false);
  const { armed, ready, error: unready } = useArmed(approval, desk, lasting);
  const { choice, panel } = useStandingGrant(desk, approval.row, lasting);
  const [passphrase, setPassphrase] = useState("");
  const [signing, setSigning] = useState(false);
  const [error, setError] = useState<Refused | null>(null);
  const { approval_id: id } = approval.row;
  const key = useSecurityKey(desk, lasting);
  const wantsTouch = useTouch(desk, signing && key.isOn);
  const needs = (armed?.needs_passphrase ?? false) && !key.isOn;
  const because = unready !== null ? unready.message
    : armed !== null && !armed.has_key ? "There is no approval key yet"
    : signing ? (wantsTouch ? "Touch your security key now" : key.isOn ? "Waiting for your security key" : "Signing")
    : !ready ? "The card was only just shown"
    : lasting && choice === null ? "Choose what to allow from now on"
    : key.isOn ? key.because
    : needs && passphrase === "" ? "Type your approval passphrase first" : null;
  const sign = async () => {
    setSigning(true);
    setError(null);
    try {
      const done = key.isOn && key.place !== null
        ? await desk.grantByKey(id, approval.packet_sha256, key.pin, key.place)
        : await desk.grant(id, approval.packet_sha256, needs ? passphrase : null, choice);
      if (done.accepted) decided(done.status === "pending" ? "first" : choice === null ? "allowed" : "lasting");
      else setError(refusal(new Error(`it is ${done.status} already`)));
    } catch (thrown) {
      setError(refusal(thrown));
    } finally {
      setPassphrase("");
      key.type("");
      setSigning(false);
    }
  };
  const hold = armed?.hold_ms ?? 2500;
  return (
    <footer className={card.decide}>
      {panel}
      <section>
        <OnceOrAlways approval={approval} lasting={lasting} set={setLasting} />
      </section>
      <Deny id={id} denied={() => decided("denied")} />
      <section className={styles.yes}>
        {choice !== null && <p className={styles.sentence} role="status">You approve this, and from now on: <Words of={choice.words} /></p>}
        {armed?.needs_passphrase === false && !key.isOn && <p className={card.note}>Your key is still unlocked. At high and critical risk you are asked for the passphrase each time.</p>}
        {needs && (
          <TextField
            label="Approval passphrase" type="password" autoComplete="off" spellCheck={false} value={passphrase}
            onChange={(event) => { setPassphrase(event.target.value); setError(null); }} onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
          />
        )}
        {key.isOn && <KeyFields of={key} />}
        {key.isThere && !signing && <div><Button look="link" onClick={() => key.turn(!key.isOn)}>{key.isOn ? "Use the approval passphrase" : "Use security key"}</Button></div>}
        <Hold
          ms={hold} because={because} held={() => void sign()}
          begin={() => desk.press(true)} end={() => void desk.press(false).catch(() => undefined)}
        >
          {signing ? "Signing" : lasting ? "Hold to approve from now on" : "Hold to approve"}
        </Hold>
        <p className={card.note} role="status">
          {error !== null || unready !== null ? null : because ?? `Hold ${(hold / 1000).toLocaleString("en")} s${held(approval.row.risk, lasting)}, with the pointer or the space bar. Enter does nothing.`}
        </p>
        {signing && key.isOn && <div><Button onClick={() => void desk.leaveKey().catch(() => undefined)}>Cancel</Button></div>}
        {error !== null && <Failed error={error} />}
        {error === null && unready !== null && <Said tone="failed">{capital(unready.message)}. {capital(unready.hint)}</Said>}
      </section>
    </footer>
  );
}

/** Why it is held longer. */
function held(risk: RiskBand, lasting: boolean): string {
  if (risk === "critical" || risk === "high") return `, because it is of ${risk} risk`;
  return lasting ? ", because it lasts" : "";
}
