// What models have cost, by day and by model, and what they may cost in a day.
import { useState } from "react";
import { Copyable } from "~/primitives/Copyable";
import { cost, count } from "~/screen/words";
import { useAct, useAsk, useHost } from "~/ipc/client";
import type { CostsBy } from "~/ipc/generated/models";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Facts, Meter } from "~/primitives/Facts";
import { Answer, Failed } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Settings.module.css";

export function Costs() {
  const asked = useAsk("models.costs", { days: 7 });
  return (
    <section aria-labelledby="costs">
      <h2 id="costs">What models cost</h2>
      <Answer asked={asked} what="what models cost">{(told) => <Told of={told} changed={() => void asked.refetch()} />}</Answer>
    </section>
  );
}

function Told({ of, changed }: { of: CostsBy; changed: () => void }) {
  return (
    <>
      {of.ceiling_micros !== null && <Meter label="Spent today" used={of.spent_micros} of={of.ceiling_micros} />}
      <Facts wide rows={[
        ["Today", of.ceiling_micros === null ? cost(of.spent_micros) : `${cost(of.spent_micros)} of ${cost(of.ceiling_micros)}`],
        of.aside_micros === 0 ? null : ["Set aside", `${cost(of.aside_micros)} for calls under way`],
        ["The day ends", <Time key="ends" at={of.ends_at} />],
      ]} />
      {of.models.length > 0 && (
        <ul className={styles.models} aria-label="By model, last 7 days">
          {of.models.map((on) => <li key={`${on.provider} ${on.model}`}><span /><span><Words of={on.model} /></span><span>{count(on.tokens, "token")}, {cost(on.cost_micros)}</span></li>)}
        </ul>
      )}
      {of.days.length > 1 && (
        <ul className={styles.models} aria-label="By day">
          {of.days.map((day) => <li key={day.day}><span /><span>{day.day}</span><span>{count(day.tokens, "token")}, {cost(day.cost_micros)}</span></li>)}
        </ul>
      )}
      <Ceiling changed={changed} />
    </>
  );
}

/** A page may lower the ceiling; what raises it is said at the process that holds the store. */
function Ceiling({ changed }: { changed: () => void }) {
  const host = useHost();
  const set = useAct("models.ceiling");
  const [dollars, setDollars] = useState("");
  const keep = () => set.mutate({ dollars: dollars.trim() }, { onSuccess: () => { setDollars(""); changed(); } });
  return (
    <>
      <p>Before a call that would go beyond the ceiling of a day, its task pauses, and goes on by itself when the day has ended. Only models whose price is known are counted.</p>
      <div className={styles.line}>
        <TextField label="Ceiling of a day, US dollars" mono inputMode="decimal" placeholder="5.00" value={dollars} onChange={(event) => setDollars(event.target.value)} />
        <Button because={dollars.trim() === "" ? "Type an amount" : set.isPending ? "Saving" : null} onClick={keep}>Set</Button>
      </div>
      {set.error !== null && <Failed error={set.error} />}
      {host.openProvider === undefined && <Copyable text="hermit models ceiling 5.00" />}
    </>
  );
}
