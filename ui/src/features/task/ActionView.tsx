import { capital, className, plain, result, said, sandboxName, verdict } from "~/screen/words";
import type { Action } from "~/ipc/generated/task";
import { Copyable } from "~/primitives/Copyable";
import { PolicyOverride } from "~/features/approvals/PolicyOverride";
import { useHost } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Empty } from "~/primitives/States";
import { RiskTag, StateWord } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import type { See } from "~/screen/see";
import { shortReceipt } from "./story";
import styles from "./Task.module.css";

export function ActionView({ action, onSee }: { action: Action | undefined; onSee: (see: See) => void }) {
  if (action === undefined) return <Empty title="This action is not listed" small>Its events are still in the timeline.</Empty>;
  const judged = action.verdict === null ? null : verdict(action.verdict);
  const came = action.result === null ? null : result(action.result, null, action.as_chosen);
  const receipt = action.receipt_id;
  const approval = action.approval_id;
  return (
    <>
      <div className={styles.heading}>{action.risk !== null && <RiskTag risk={action.risk} />}<h3><Words of={capital(said(action.summary))} /></h3></div>
      <Facts ruled rows={[
        ["Kind", capital(className(action.class))],
        ["Proposed", <><Time at={action.requested_at} ago /> with <code>{action.tool}</code></>],
        ["Policy said", judged === null ? "Nothing yet" : <StateWord key="verdict" tone={judged.tone} mark={judged.mark}>{judged.word}</StateWord>],
        action.instead_of === null ? null : ["Done instead of", <Hash key="asked" of={action.instead_of} what="identifier" />],
        action.instead_rules === null ? null : ["Because of", plain(action.instead_rules)],
        approval === null ? null : ["You", <button key="approval" type="button" className={styles.cite} onClick={() => onSee({ kind: "approval", id: approval })}>the card</button>],
        action.grant_id === null ? null : ["Grant", <Hash key="grant" of={action.grant_id} what="grant" />],
        ["Sandbox", action.sandbox === null ? "It has not run" : capital(sandboxName(action.sandbox))],
        ["Status", action.verdict === "deny" || action.result === "denied" ? "Denied, never started" : capital(plain(action.state))],
        came === null ? null : ["Result", <StateWord key="came" tone={came.tone} mark={came.mark}>{came.word}</StateWord>],
        action.trouble === null ? null : ["Problem", <Words key="trouble" of={said(action.trouble)} />],
        receipt === null ? null : ["Receipt", <button key="receipt" type="button" className={styles.cite} onClick={() => onSee({ kind: "receipt", id: receipt })}>{shortReceipt(receipt)}</button>],
        ["Request", <Hash key="id" of={action.action_request_id} what="identifier" />],
      ]} />
      {action.verdict === "deny" && <Denied act={action.action_request_id} />}
    </>
  );
}

/** What policy refuses a person may have asked about all the same. Where they sign it depends on the surface. */
function Denied({ act }: { act: string }) {
  const host = useHost();
  return (
    <div className={styles.denied}>
      <p>Policy denied this. You can override it for this one action and give your reason; you are then asked about it, at critical risk.</p>
      {host.pen !== undefined ? <PolicyOverride act={act} pen={host.pen} /> : host.openOverride === undefined
        ? <Copyable text={`hermit policy override ${act} --reason "..."`} />
        : <Button onClick={() => void host.openOverride?.(act)}>Override</Button>}
    </div>
  );
}
