// What may happen without being asked, what is asked, and what never happens; and the authority that was given.
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Screen } from "~/app/Screen";
import { count, plain, said } from "~/features/words";
import { useAct, useAsk } from "~/ipc/client";
import type { Grant } from "~/ipc/generated/grants";
import type { ApprovalRow } from "~/ipc/generated/approvals";
import { Button, Segmented } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty, Failed } from "~/primitives/States";
import { RiskMark, StateWord, asRisk } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { Rules } from "./Rules";
import { Standing } from "./Standing";
import { TryAct } from "./TryAct";
import styles from "./Policy.module.css";

const TABS = ["profiles", "try", "grants", "history"] as const;
type Tab = (typeof TABS)[number];

export function Policy({ at }: { at?: string | undefined }) {
  const [tab, setTab] = useState<Tab>(TABS.find((one) => one === at) ?? "profiles");
  return (
    <Screen
      title="Policy"
      sub={
        <Segmented<Tab>
          label="Which" value={tab} onChange={setTab}
          options={[{ value: "profiles", label: "Rules" }, { value: "try", label: "Try an act" }, { value: "grants", label: "Grants in force" }, { value: "history", label: "What was asked" }]}
        />
      }
    >
      {tab === "profiles" && <Rules />}
      {tab === "try" && <TryAct />}
      {tab === "grants" && <><Standing /><Grants /></>}
      {tab === "history" && <History />}
    </Screen>
  );
}

function Grants() {
  const asked = useAsk("grants.list", { limit: 200 });
  const revoke = useAct("grants.revoke");
  return (
    <Answer asked={asked} what="grants" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="No authority is in force">A grant is made for one act after your yes, and is used up by it. Unused ones would be listed here, to be taken back.</Empty>}>
      {(page) => (
        <>
          {revoke.error !== null && <Failed error={revoke.error} />}
          <table className={table.table}>
            <thead><tr><th>Class</th><th>Grant</th><th>State</th><th className={table.right}>Used</th><th>From</th><th className={table.right}>Ends</th><th /></tr></thead>
            <tbody>{page.rows.map((row: Grant) => (
              <tr key={row.grant_id}>
                <td className={table.main}>{plain(row.action_class)}</td>
                <td><Hash of={row.grant_id} what="grant" /></td>
                <td>{plain(row.state)}</td>
                <td className={table.right}>{row.uses} of {row.max_uses}</td>
                <td>{row.approval_id === null ? "policy" : <Link to="/" search={{ at: row.approval_id }}>your yes</Link>}</td>
                <td className={table.right}><Time at={row.expires_at} /></td>
                <td className={table.right}>{row.state === "active" && <Button onClick={() => revoke.mutate({ grant: row.grant_id, reason: "revoked from the window" })}>Revoke</Button>}</td>
              </tr>
            ))}</tbody>
          </table>
        </>
      )}
    </Answer>
  );
}

const DAY = 86_400_000;
const DAYS = 30;

function History() {
  const asked = useAsk("approvals.list", { status: "any", limit: 500 });
  return (
    <Answer asked={asked} what="what was asked" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="You were never asked">Every question and its answer is kept, and will be listed here.</Empty>}>
      {(page) => (
        <div className={styles.history}>
          <Days rows={page.rows} />
          <table className={table.table}>
            <thead><tr><th>What</th><th>Class</th><th>Risk</th><th>Answer</th><th>Where</th><th className={table.right}>When</th></tr></thead>
            <tbody>{page.rows.map((row) => (
              <tr key={row.approval_id}>
                <td className={table.main}><Link to="/" search={{ at: row.approval_id }}><Words of={said(row.summary)} /></Link>{row.feedback !== null && <div className={table.faint}><Words of={said(row.feedback)} /></div>}</td>
                <td>{plain(row.action_class)}</td>
                <td><span className={styles.risk}><RiskMark risk={row.risk} />{asRisk(row.risk) ?? row.risk}</span></td>
                <td><StateWord tone={row.status === "granted" ? "done" : row.status === "pending" ? "waiting" : row.status === "denied" ? "failed" : "mute"} mark={row.status === "granted" ? "done" : row.status === "pending" ? "waiting" : "deny"}>{plain(row.status)}</StateWord></td>
                <td>{row.surface === null ? "" : plain(row.surface)}</td>
                <td className={table.right}><Time at={row.resolved_at ?? row.requested_at} clock /></td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      )}
    </Answer>
  );
}

/** How often a person was asked, by day. */
function Days({ rows }: { rows: readonly ApprovalRow[] }) {
  const days = useMemo(() => {
    const today = Math.floor(Date.now() / DAY);
    return Array.from({ length: DAYS }, (_, at) => {
      const of = rows.filter((row) => Math.floor(row.requested_at / DAY) === today - (DAYS - 1 - at));
      return { asked: of.length, denied: of.filter((row) => row.status === "denied").length };
    });
  }, [rows]);
  const most = Math.max(1, ...days.map((day) => day.asked));
  const sum = days.reduce((all, day) => all + day.asked, 0);
  return (
    <figure className={styles.days}>
      <figcaption><b>Asked {count(sum, "time")}</b> in {DAYS} days, {days.reduce((all, day) => all + day.denied, 0)} denied</figcaption>
      <svg viewBox={`0 0 ${DAYS} 40`} preserveAspectRatio="none" role="img" aria-label={`Asked ${sum} times in ${DAYS} days`}>
        {days.map((day, at) => {
          const height = (day.asked / most) * 38;
          return (
            <g key={at}>
              <rect x={at + 0.12} width={0.76} y={40 - height} height={height} className={styles.bar} />
              <rect x={at + 0.12} width={0.76} y={40 - (day.denied / most) * 38} height={(day.denied / most) * 38} className={styles.denied} />
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
