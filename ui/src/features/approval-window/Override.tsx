// A denial that a person does not share: they read what policy said, give a reason, and sign that they are asked about
// this one act all the same. Nothing is allowed by it.
import { useState } from "react";
import { capital, profileName } from "~/screen/words";
import type { Desk, PreparedOverride } from "~/host/desk";
import { type Refused, refusal } from "~/host/host";
import { useAsk } from "~/ipc/client";
import type { Judged } from "~/ipc/generated/policy";
import { Button } from "~/primitives/Button";
import { TextArea, TextField } from "~/primitives/Field";
import { Hold } from "~/primitives/Hold";
import { Mark } from "~/primitives/Icon";
import { wholeUpTo } from "~/primitives/number";
import { Answer, Failed, sentence } from "~/primitives/States";
import { RiskTag } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import card from "~/features/approvals/Card.module.css";
import override from "~/features/approvals/Override.module.css";
import styles from "./ApprovalWindow.module.css";
import { Unlocked } from "./Unlocked";

const AWAY_MS = 2400;
const HOURS_MAX = 24;
const USES_MAX = 3;

export function Override({ act, desk }: { act: string; desk: Desk }) {
  const asked = useAsk("policy.explain", { about: act });
  const [isSigned, setSigned] = useState(false);
  const signed = () => {
    setSigned(true);
    setTimeout(() => void desk.leave(), AWAY_MS);
  };
  return (
    <main className={styles.window}>
      <article className={card.card} aria-label="Override of a denial">
        <Answer asked={asked} what="what policy said" lines={6}>
          {(denied) => (
            <>
              <header className={card.head}>
                <div className={card.first}><RiskTag risk={denied.risk} /><span className={card.of}>Denied under “{profileName(denied.profile)}”</span></div>
                <h2><Words of={capital(denied.summary)} /></h2>
              </header>
              <Why denied={denied} />
              {isSigned
                ? <footer className={card.decided} role="status"><Mark name="done" size={14} /><span>Signed. When this action is proposed again you are asked; retry the task to have it proposed.</span></footer>
                : <Unlocked desk={desk}><Sign act={act} desk={desk} signed={signed} /></Unlocked>}
            </>
          )}
        </Answer>
      </article>
    </main>
  );
}

function Why({ denied }: { denied: Judged }) {
  return (
    <div className={styles.why} tabIndex={0} role="region" aria-label="Why it was denied">
      <h3>Why policy denied it</h3>
      <ul>{denied.rules.map((rule) => <li key={rule.name}><Mark name="deny" size={14} /><div><b>{sentence(rule.reason === "" ? "no rule permits it" : rule.reason)}</b><small>{rule.name}</small></div></li>)}</ul>
      <h3>What is at risk</h3>
      <p><Words of={capital(denied.risk_summary)} />.</p>
      <h3>What an override does</h3>
      <p>It allows nothing. When exactly this action is proposed again, you are asked about it instead of it being refused, at critical risk. It stands in the log with your reason, and a receipt tells of it.</p>
    </div>
  );
}

function Sign({ act, desk, signed }: { act: string; desk: Desk; signed: () => void }) {
  const [reason, setReason] = useState("");
  const [hours, setHours] = useState("1");
  const [uses, setUses] = useState("1");
  const [read, setRead] = useState<PreparedOverride | null>(null);
  const [isReady, setReady] = useState(false);
  const [passphrase, setPassphrase] = useState("");
  const [isSigning, setSigning] = useState(false);
  const [error, setError] = useState<Refused | null>(null);
  const bounds = { hours: wholeUpTo(hours, HOURS_MAX), uses: wholeUpTo(uses, USES_MAX) };
  // Another word is another sentence: it is read anew.
  const change = (set: (text: string) => void) => (text: string) => {
    set(text);
    setRead(null);
    setReady(false);
  };
  const [setReasonAnew, setHoursAnew, setUsesAnew] = [change(setReason), change(setHours), change(setUses)];
  const draft = async () => {
    if (bounds.hours === null || bounds.uses === null) return;
    setError(null);
    try {
      const found = await desk.prepareOverride(act, reason.trim(), bounds.hours, bounds.uses);
      setRead(found);
      setTimeout(() => setReady(true), found.armed.arm_ms);
    } catch (thrown) {
      setError(refusal(thrown));
    }
  };
  const sign = async () => {
    if (read === null) return;
    setSigning(true);
    setError(null);
    try {
      await desk.allowOverride(act, read.words, passphrase);
      signed();
    } catch (thrown) {
      setError(refusal(thrown));
    } finally {
      setPassphrase("");
      setSigning(false);
    }
  };
  const undrafted = reason.trim() === "" ? "Say why first" : bounds.hours === null || bounds.uses === null ? "Correct hours and uses first" : null;
  const because = read === null ? "Read the sentence first"
    : !read.armed.has_key ? "There is no approval key yet"
    : isSigning ? "Being signed"
    : !isReady ? "The sentence was only just shown"
    : passphrase === "" ? "Type your approval passphrase first" : null;
  return (
    <footer className={styles.sign}>
      <section>
        <TextArea label="Why you override it" value={reason} rows={2} onChange={(event) => setReasonAnew(event.target.value)} />
        <div className={override.pair}>
          <TextField label="For so many hours" inputMode="numeric" value={hours} error={bounds.hours === null ? `1 to ${HOURS_MAX}` : null} onChange={(event) => setHoursAnew(event.target.value)} />
          <TextField label="So often" inputMode="numeric" value={uses} error={bounds.uses === null ? `1 to ${USES_MAX}` : null} onChange={(event) => setUsesAnew(event.target.value)} />
        </div>
        <div className={card.row}><Button because={undrafted} onClick={() => void draft()}>Show what I would sign</Button></div>
      </section>
      <section className={styles.yes}>
        {read === null
          ? <p className={card.note}>The sentence you would sign stands here before you sign it.</p>
          : <p className={override.sentence} role="status"><Words of={read.words} /></p>}
        <TextField
          label="Approval passphrase" type="password" autoComplete="off" spellCheck={false} value={passphrase}
          onChange={(event) => setPassphrase(event.target.value)} onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
        />
        <Hold
          ms={read?.armed.hold_ms ?? 2500} because={because} held={() => void sign()}
          begin={() => desk.press(true)} end={() => void desk.press(false).catch(() => undefined)}
        >
          {isSigning ? "Signing" : "Hold to override"}
        </Hold>
        <p className={card.note} role="status">{because ?? "Hold 2.5 s, with the pointer or the space bar. Enter decides nothing."}</p>
        {error !== null && <Failed error={error} />}
      </section>
    </footer>
  );
}
