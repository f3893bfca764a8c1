// How many reads of one answer of a model run at the same time.
import { useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { ReadsAtOnce } from "~/ipc/generated/models";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { Answer, Failed } from "~/primitives/States";
import styles from "./Settings.module.css";

export function Reads() {
  const asked = useAsk("models.reads", {});
  return (
    <section aria-labelledby="reads">
      <h2 id="reads">Reads at the same time</h2>
      <Answer asked={asked} what="how many reads run at the same time">{(told) => <Told of={told} changed={() => void asked.refetch()} />}</Answer>
    </section>
  );
}

function Told({ of, changed }: { of: ReadsAtOnce; changed: () => void }) {
  const set = useAct("models.set_reads");
  const [text, setText] = useState("");
  const keep = (at_once: number | null) => set.mutate({ at_once }, { onSuccess: () => { setText(""); changed(); } });
  const wanted = Number(text.trim());
  const isNumber = text.trim() !== "" && Number.isInteger(wanted) && wanted >= 1 && wanted <= of.most;
  return (
    <>
      <p>Files, pages and calls that only look, and that one answer of a model asks for together, run at the same time. What changes something runs alone.</p>
      <Facts wide rows={[["At the same time", of.is_set ? `${of.at_once}, set by you` : `${of.at_once}, the standard`]]} />
      <div className={styles.line}>
        <TextField label={`Number, 1 to ${of.most}`} mono inputMode="numeric" placeholder={String(of.standard)} value={text} onChange={(event) => setText(event.target.value)} />
        <Button because={isNumber ? (set.isPending ? "Saving" : null) : `Type a number from 1 to ${of.most}`} onClick={() => keep(wanted)}>Set</Button>
        {of.is_set && <Button because={set.isPending ? "Saving" : null} onClick={() => keep(null)}>Use the standard</Button>}
      </div>
      {set.error !== null && <Failed error={set.error} />}
    </>
  );
}
