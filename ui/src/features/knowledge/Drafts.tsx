// Playbooks that Hermit drafted because the same was done several times: what each would do, on which recorded tasks it gives
// the same result, and what a person does about it. Nothing is adopted here: that is a card, which a person approves.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { Draft, Trial } from "~/ipc/generated/playbooks";
import type { PlaybookState, PlaybookTrialOutcome } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { capital, count, trust } from "~/screen/words";
import styles from "./Knowledge.module.css";

const TONE: Readonly<Record<PlaybookState, "waiting" | "done" | "mute">> = { draft: "waiting", adopted: "done", off: "mute", rejected: "mute", withdrawn: "mute" };
const CAME: Readonly<Record<PlaybookTrialOutcome, string>> = { same: "Same result", differs: "Another result", not_tried: "Cannot be tried" };

export function Drafts() {
  const asked = useAsk("playbooks.drafts", { name: null });
  const rows = asked.data?.rows ?? [];
  const over = rows.filter((row) => row.state === "rejected" || row.state === "withdrawn");
  const open = rows.filter((row) => !over.includes(row));
  if (rows.length === 0) return null;
  return (
    <>
      {open.map((row) => <OneDraft key={row.artifact_id} draft={row} />)}
      {over.length > 0 && (
        <details className={styles.over}>
          <summary>{capital(count(over.length, "draft"))} that you rejected, or that lost what they rested on</summary>
          {over.map((row) => <OneDraft key={row.artifact_id} draft={row} />)}
        </details>
      )}
    </>
  );
}

function OneDraft({ draft }: { draft: Draft }) {
  const adopt = useAct("playbooks.adopt");
  const off = useAct("playbooks.turn_off");
  const attempt = useAct("playbooks.try_draft");
  const [reads, setReads] = useState(false);
  const now = attempt.data ?? draft;
  const last = draft.versions.at(-1);
  const task = adopt.data?.task_id ?? draft.task_id;
  return (
    <div className={styles.card} role="group" aria-label={`Playbook ${draft.name}`}>
      <h2>{draft.state === "draft" ? "Suggested playbook " : "Playbook "}<Words of={draft.name} /> <StateTag tone={TONE[draft.state]}>{draft.state}</StateTag></h2>
      <p>{draft.state === "adopted" ? "You adopted it. Each of its acts is asked about as always." : "Hermit found that the same was done several times. It has no effect until you adopt it, and gives no permission then."}</p>
      <Facts wide rows={[
        ["Tried", `Same result on ${now.same} of ${count(now.of, "recorded task")}`],
        draft.project === null ? null : ["Project", <Words key="project" of={draft.project} />],
        draft.trust === null ? null : ["Trust", capital(trust(draft.trust))],
        draft.narrowest === null ? null : ["Narrowest standing grant", <Words key="narrowest" of={draft.narrowest} />],
        draft.why === null ? null : ["Note", <Words key="why" of={capital(draft.why)} />],
        last === undefined ? null : ["Version", <>{last.version}, adopted <Time at={last.since} ago />{last.off !== null && <>, turned off: <Words of={last.off} /></>}</>],
      ]} />
      <details>
        <summary>Recorded tasks</summary>
        <ul className={styles.evidence}>{now.trials.map((trial) => <OneTrial key={trial.task_id} trial={trial} />)}</ul>
      </details>
      {draft.text !== null && (
        <details open={reads} onToggle={(event) => setReads(event.currentTarget.open)}>
          <summary>Its text, word for word</summary>
          {reads && <pre className={styles.text} tabIndex={0} aria-label={`Text of ${draft.name}`}>{draft.text.split("\n").map((line, at) => <div key={at}><Words of={line} /></div>)}</pre>}
        </details>
      )}
      <div className={styles.buttons}>
        {draft.state === "draft" && task !== null && <Link to="/task/$id" params={{ id: task }}>Review the card</Link>}
        {(draft.state === "off" || (draft.state === "draft" && task === null)) && adopt.data === undefined && <Button because={adopt.isPending ? "Asking" : null} onClick={() => adopt.mutate({ name: draft.playbook_sha256, channel: "app" })}>Ask me to adopt it</Button>}
        {draft.state === "off" && adopt.data !== undefined && <Link to="/task/$id" params={{ id: adopt.data.task_id }}>Review the card</Link>}
        {draft.state === "adopted" && <Button because={off.isPending ? "Turning it off" : null} onClick={() => off.mutate({ name: draft.playbook_sha256, reason: null })}>Turn it off</Button>}
        <Button look="link" because={attempt.isPending ? "Trying" : null} onClick={() => attempt.mutate({ name: draft.playbook_sha256 })}>Try it again on the record</Button>
      </div>
      {[adopt.error, off.error, attempt.error].map((error, at) => error !== null && <Failed key={at} error={error} />)}
    </div>
  );
}

function OneTrial({ trial }: { trial: Trial }) {
  const values = Object.entries(trial.parameters).map(([name, value]) => `${name} ${value}`).join(", ");
  return (
    <li data-trust={trial.outcome === "same" ? undefined : "untrusted"}>
      <Link to="/task/$id" params={{ id: trial.task_id }} search={trial.receipts[0] === undefined ? {} : { see: trial.receipts[0] }}>{CAME[trial.outcome]}</Link>
      <Words of={[values, trial.why].filter((one) => one !== null && one !== "").join(": ")} />
    </li>
  );
}
