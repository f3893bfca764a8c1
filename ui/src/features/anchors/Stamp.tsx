// Stamping: what is given to which clocks. Each clock is asked by a task of its own, which puts it to the person.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { ClockSettings } from "~/ipc/generated/anchors";
import type { AnchorClock } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { Check, Select } from "~/primitives/Field";
import { Answer, Failed, Said } from "~/primitives/States";
import styles from "./Anchors.module.css";
import { CLOCKS, clockAbout, clockName, isSet } from "./words";

const HEAD = "head";

export function Stamp() {
  const asked = useAsk("anchors.clocks", {});
  return (
    <section className={styles.section} aria-labelledby="stamp">
      <h2 id="stamp">Stamp now</h2>
      <Answer asked={asked} what="the clocks" lines={3}>{(by) => <Choice by={by} />}</Answer>
    </section>
  );
}

function Choice({ by }: { by: ClockSettings }) {
  const stamp = useAct("anchors.stamp");
  const links = useAsk("identity.show", {}).data?.graph.links ?? [];
  const [chosen, setChosen] = useState<ReadonlySet<AnchorClock> | null>(null);
  const [what, setWhat] = useState(HEAD);
  const set = CLOCKS.filter((clock) => isSet(clock, by));
  // What costs nothing is chosen until the person chooses.
  const clocks = set.filter((clock) => (chosen === null ? clock !== "op_return" : chosen.has(clock)));
  const newest = links.at(-1);
  const turn = (clock: AnchorClock) => {
    const next = new Set(clocks);
    if (!next.delete(clock)) next.add(clock);
    setChosen(next);
  };
  const because = set.length === 0 ? "No clock is set" : stamp.isPending ? "Asking" : clocks.length === 0 ? "Choose a clock" : null;
  const send = () => stamp.mutate({ clocks, link: what === HEAD || newest === undefined ? null : newest.number, channel: "app" });
  return (
    <>
      {set.length === 0
        ? <p>No clock is set, so there is nobody to ask. Set one under Clocks; each asking is then put to you on a card.</p>
        : <p>A clock gets 32 bytes, the digest of what you stamp, and nothing of what is in your log. A task of its own asks each clock, and a card asks you first.</p>}
      {newest !== undefined && set.length > 0 && (
        <Select label="What is stamped" value={what} options={[{ value: HEAD, label: "The newest head of your log" }, { value: "link", label: `Link ${newest.number} of the identity, the newest` }]} onChange={(event) => setWhat(event.target.value)} />
      )}
      {set.length > 0 && (
        <fieldset className={styles.choice}>
          <legend>Clocks</legend>
          {CLOCKS.map((clock) => (
            <Check
              key={clock} checked={clocks.includes(clock)} disabled={!set.includes(clock)} onChange={() => turn(clock)}
              label={<>{clockName(clock)}: {set.includes(clock) ? clockAbout(clock) : "not set"}</>}
            />
          ))}
        </fieldset>
      )}
      <div className={styles.buttons}><Button look="person" because={because} onClick={send}>Stamp now</Button></div>
      {stamp.error !== null && <Failed error={stamp.error} />}
      {stamp.data !== undefined && <Said tone="done">Asked for. Each clock has a task of its own: see <Link to="/task/$id" params={{ id: stamp.data.task_id }}>the first</Link>, or answer them in the <Link to="/">inbox</Link>.</Said>}
    </>
  );
}
