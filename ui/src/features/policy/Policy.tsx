// What may happen without being asked, what is asked, and what never happens; and the authority that was given.
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { Screen } from "~/screen/Screen";
import { approvalLook, brief, capital, className, count, plain, said } from "~/screen/words";
import { type Pages, useAct, usePages } from "~/ipc/client";
import type { Grant } from "~/ipc/generated/grants";
import type { ApprovalRow } from "~/ipc/generated/approvals";
import { Button, Segmented } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { useParts } from "~/primitives/Parts";
import { Answer, Empty, Failed } from "~/primitives/States";
import { RiskMark, StateWord } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { VirtualRows } from "~/primitives/VirtualRows";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { OwnRules } from "./OwnRules";
import { Rules } from "./Rules";
import { Standing } from "./Standing";
import { TryAct } from "./TryAct";
import styles from "./Policy.module.css";

const TABS = ["profiles", "own", "try", "grants", "history"] as const;
type Tab = (typeof TABS)[number];

export function Policy({ at }: { at?: string | undefined }) {
  const navigate = useNavigate();
  const tab: Tab = TABS.find((one) => one === at) ?? "profiles";
  const setTab = (to: Tab) => void navigate({ to: "/policy", search: { tab: to }, replace: true });
  return (
    <Screen
      title="Policy"
      sub={
        <Segmented<Tab>
          label="Which" value={tab} onChange={setTab}
          options={[{ value: "profiles", label: "Rules" }, { value: "own", label: "Your rules" }, { value: "try", label: "Test" }, { value: "grants", label: "Standing approvals" }, { value: "history", label: "History" }]}
        />
      }
    >
      {tab === "profiles" && <Rules />}
      {tab === "own" && <OwnRules />}
      {tab === "try" && <TryAct />}
      {tab === "grants" && <><Standing /><Grants /></>}
      {tab === "history" && <History />}
    </Screen>
  );
}

function Grants() {
  const asked = usePages("grants.list", { limit: 200 });
  const revoke = useAct("grants.revoke");
  return (
    <Answer asked={asked} what="single permissions" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="No single permissions" small>When you approve an action, Hermit makes a permission for that action alone and uses it up. Unused ones are listed here.</Empty>}>
      {(page) => (
        <>
          {revoke.error !== null && <Failed error={revoke.error} />}
          <GrantTable page={page} further={asked.further} revoke={(grant) => revoke.mutate({ grant, reason: "revoked from the window" })} />
        </>
      )}
    </Answer>
  );
}

function GrantTable({ page, further, revoke }: { page: Pages<Grant>; further: () => void; revoke: (grant: string) => void }) {
  const { shown, rest } = useParts(page.rows, { pages: { more: page.more, further } });
  return (
    <>
      <table className={table.table}>
        <caption className={table.faint}>Single permissions, each for one action</caption>
        <thead><tr><th>Class</th><th>Grant</th><th>State</th><th className={table.right}>Used</th><th>From</th><th className={table.right}>Ends</th><th /></tr></thead>
        <tbody>{shown.map((row) => (
          <tr key={row.grant_id}>
            <td className={table.main}>{className(row.action_class)}</td>
            <td><Hash of={row.grant_id} what="grant" /></td>
            <td>{plain(row.state)}</td>
            <td className={table.right}>{row.uses} of {row.max_uses}</td>
            <td>{row.approval_id === null ? "policy" : <Link to="/" search={{ at: row.approval_id }}>your approval</Link>}</td>
            <td className={table.right}><Time at={row.expires_at} /></td>
            <td className={table.right}>{row.state === "active" && <Button onClick={() => revoke(row.grant_id)}>Revoke</Button>}</td>
          </tr>
        ))}</tbody>
      </table>
      {rest}
    </>
  );
}

const keyOf = (row: ApprovalRow) => row.approval_id;
const DAY = 86_400_000;
const DAYS = 30;

function History() {
  const asked = usePages("approvals.list", { status: "any", limit: 500 });
  return (
    <Answer asked={asked} what="the history" isEmpty={(page) => page.rows.length === 0} empty={<Empty title="Nothing was asked yet">Every question and its answer is listed here.</Empty>}>
      {(page) => (
        <div className={styles.history}>
          <Days page={page} />
          <div className={styles.asked} role="table" aria-label="Questions and answers" aria-rowcount={page.more ? -1 : page.rows.length + 1}>
            <div className={styles.headrow} role="row">
              {["What", "Class", "Risk", "Answer", "Where", "When"].map((head) => <span key={head} role="columnheader">{head}</span>)}
            </div>
            <VirtualRows rows={page.rows} height={33} measured rowKey={keyOf} role="rowgroup" onEnd={asked.further}>
              {(row, at, stop) => (
                <div className={styles.one} role="row" aria-rowindex={at + 2}>
                  <span role="cell" className={styles.what}>
                    <Link to="/" search={{ at: row.approval_id }} tabIndex={stop}><Words of={brief(capital(said(row.summary)))} /></Link>
                    {row.feedback !== null && <span className={table.faint}><Words of={said(row.feedback)} /></span>}
                  </span>
                  <span role="cell">{className(row.action_class)}</span>
                  <span role="cell" className={styles.risk}><RiskMark risk={row.risk} />{row.risk}</span>
                  <span role="cell"><StateWord tone={approvalLook(row.status).tone} mark={approvalLook(row.status).mark}>{approvalLook(row.status).word}</StateWord></span>
                  <span role="cell">{row.surface === null ? "" : plain(row.surface)}</span>
                  <span role="cell"><Time at={row.resolved_at ?? row.requested_at} clock /></span>
                </div>
              )}
            </VirtualRows>
          </div>
        </div>
      )}
    </Answer>
  );
}

/** How often a person was asked, by day. */
function Days({ page }: { page: Pages<ApprovalRow> }) {
  const days = useMemo(() => {
    const begin = Math.floor(Date.now() / DAY) - (DAYS - 1);
    const days = Array.from({ length: DAYS }, () => ({ asked: 0, denied: 0 }));
    for (const row of page.rows) {
      const day = days[Math.floor(row.requested_at / DAY) - begin];
      if (day === undefined) continue;
      day.asked += 1;
      if (row.status === "denied") day.denied += 1;
    }
    return days;
  }, [page.rows]);
  // The list begins with the newest: where it goes on, days may lie behind what was read of it.
  const isPart = page.more && (page.rows.at(-1)?.requested_at ?? 0) > Date.now() - DAYS * DAY;
  const most = Math.max(1, ...days.map((day) => day.asked));
  const sum = days.reduce((all, day) => all + day.asked, 0);
  return (
    <figure className={styles.days}>
      <figcaption><b>Asked {isPart && "at least "}{count(sum, "time")}</b> in {DAYS} days, {days.reduce((all, day) => all + day.denied, 0)} denied</figcaption>
      <svg viewBox={`0 0 ${DAYS} 40`} preserveAspectRatio="none" role="img" aria-label={`Asked ${isPart ? "at least " : ""}${sum} times in ${DAYS} days`}>
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
