// "From now on": the narrowest that would have answered, where and how long it is to hold, and what it would have meant.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApprovalRow } from "~/ipc/generated/approvals";
import { capital, count, said } from "~/screen/words";
import { type Lasting, type Offer, type Offers, type Refused, type Scope, refusal } from "~/host/host";
import { Segmented } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { wholeUpTo } from "~/primitives/number";
import { Answer, Empty } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./StandingGrant.module.css";

/** As the kernel bounds them; it refuses what is more by itself. */
const DAYS_MAX = 92;
const USES_MAX = 10_000;
/** Past questions that are shown under a rule. */
const PAST_MAX = 4;

const SCOPES: readonly { value: Scope; label: string }[] = [
  { value: "task", label: "This task" },
  { value: "project", label: "This project" },
  { value: "user", label: "Every project" },
];

/** In a run of a schedule no other standing grant answers. */
const SCHEDULED: typeof SCOPES = [{ value: "schedule", label: "Each run of this schedule" }];

export interface Choosing {
  /** What would be signed; null while nothing whole is chosen. */
  choice: Lasting | null;
  panel: React.ReactNode;
}

export function useStandingGrant(from: Offers, row: ApprovalRow, isOn: boolean): Choosing {
  const approval = row.approval_id;
  const isScheduled = row.origin === "scheduler";
  const [scope, setScope] = useState<Scope>(isScheduled ? "schedule" : "project");
  const [days, setDays] = useState("7");
  const [uses, setUses] = useState("50");
  const [number, setNumber] = useState<number | null>(null);
  const bounds = { days: wholeUpTo(days, DAYS_MAX), uses: wholeUpTo(uses, USES_MAX) };
  const isWhole = bounds.days !== null && bounds.uses !== null;
  const asked = useQuery<Offer[], Refused>({
    queryKey: ["offers", approval, scope, bounds.days, bounds.uses],
    queryFn: () => from.offers(approval, scope, bounds.days, bounds.uses).catch((thrown: unknown) => { throw refusal(thrown); }),
    enabled: isOn && isWhole,
    placeholderData: keepPreviousData,
  });
  const offer = number === null || asked.isPlaceholderData || !isWhole ? undefined : asked.data?.[number];
  const choice = offer === undefined || number === null || bounds.days === null || bounds.uses === null
    ? null
    : { scope, number, days: bounds.days, uses: bounds.uses, words: offer.words };
  if (!isOn) return { choice: null, panel: null };
  const panel = (
    <section className={styles.lasting} aria-label="From now on">
      <div className={styles.bounds}>
        <Segmented<Scope> label="Where it holds" value={scope} onChange={(to) => { setScope(to); setNumber(null); }} options={isScheduled ? SCHEDULED : SCOPES} />
        <TextField label="Days" inputMode="numeric" value={days} error={bounds.days === null ? `1 to ${DAYS_MAX}` : null} onChange={(event) => setDays(event.target.value)} />
        <TextField label="Uses" inputMode="numeric" value={uses} error={bounds.uses === null ? `1 to ${USES_MAX}` : null} onChange={(event) => setUses(event.target.value)} />
      </div>
      <Answer asked={asked} what="what could be allowed" lines={3} isEmpty={(found) => found.length === 0} empty={<Empty title="No safe rule covers this" small>You will be asked each time. You can approve it once.</Empty>}>
        {(found) => (
          <div className={styles.offers} role="radiogroup" aria-label="What you approve from now on, narrowest first">
            {found.map((one, at) => (
              <div key={at}>
                <button type="button" role="radio" aria-checked={number === at} onClick={() => setNumber(at)}><Words of={capital(one.words)} /></button>
                {number === at && <Past of={one} />}
              </div>
            ))}
          </div>
        )}
      </Answer>
    </section>
  );
  return { choice, panel };
}

/** What the rule would have meant so far. */
function Past({ of }: { of: Offer }) {
  const { answered, refused, questions, rows } = of.rehearsed;
  const more = answered - Math.min(rows.length, PAST_MAX);
  return (
    <div className={styles.past}>
      <p>It would have answered {answered} of {count(questions, "question")} so far{refused === 0 && ", none that you denied"}.</p>
      {refused > 0 && <p className={styles.grave}>{count(refused, "of them", "of them")} you had denied.</p>}
      <ul>
        {rows.slice(0, PAST_MAX).map((row) => (
          <li key={row.action_request_id}><Time at={row.at} ago /> <Words of={capital(said(row.summary))} />{row.answered !== null && <span>, you {row.answered} it</span>}</li>
        ))}
      </ul>
      {more > 0 && rows.length > 0 && <p>And {more} more.</p>}
    </div>
  );
}
