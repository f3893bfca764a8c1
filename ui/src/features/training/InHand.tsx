// The run in hand: how far it is, its loss, and what a person says to it. It is asked again as long as it is at work.
import { useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { DatasetRow, LiveRun, RunStands } from "~/ipc/generated/training";
import { Button } from "~/primitives/Button";
import { Check, Select, TextField } from "~/primitives/Field";
import { Hash } from "~/primitives/Hash";
import { Answer, Failed, Said, sentence } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { Curve } from "./Curve";
import styles from "./Training.module.css";
import { isAtWork, loss, stateName } from "./words";

const LOOK_MS = 1_000;

export function InHand({ dataset }: { dataset: DatasetRow | null }) {
  const first = useAsk("training.stands", {});
  const busy = first.data?.run != null && isAtWork(first.data.run.state);
  const asked = useAsk("training.stands", {}, { refetchInterval: busy ? LOOK_MS : false });
  return (
    <section className={styles.section} aria-labelledby="in-hand">
      <h2 id="in-hand">Current run</h2>
      <Answer asked={asked} what="the current run" lines={4}>
        {(now) => (
          <>
            {now.run === null ? <p>No model is learning now. Keep a dataset, choose a model, and train it.</p> : <Live run={now.run} />}
            {now.invitations.map((one) => (
              <Said key={`${one.node} ${one.name}`} tone="note">
                <Words of={one.from} /> asks whether this machine learns <Words of={one.name} /> together with it, in {one.rounds} rounds of {one.steps} steps. You say yes at a terminal: <code>hermit train join</code>.
              </Said>
            ))}
            {now.trouble !== null && <Said tone="note">{sentence(now.trouble)}</Said>}
            {!busy && <Begin dataset={dataset} now={now} />}
          </>
        )}
      </Answer>
    </section>
  );
}

function Live({ run }: { run: LiveRun }) {
  const pause = useAct("training.pause");
  const stop = useAct("training.stop");
  const goOn = useAct("training.run");
  const last = run.losses.at(-1);
  const error = pause.error ?? stop.error ?? goOn.error;
  return (
    <div className={styles.card}>
      <header><strong>{stateName(run.state)}</strong><span><Hash of={run.run_id} what="training run" />, on <Words of={run.base} /></span></header>
      <progress aria-label="Steps" max={run.steps} value={run.step} />
      <p>Step {run.step} of {run.steps}{last !== undefined && <>, loss {loss(last.micros)}</>}{run.checkpoint !== null && <>; newest checkpoint at step {run.checkpoint}</>}</p>
      {run.ran_on.map((where) => <p key={where}>Runs on <Words of={where} /></p>)}
      <Curve of={run.losses} />
      {run.together !== null && (
        <p>
          Together with {run.together.machines.length === 0 ? "nobody yet" : <Words of={run.together.machines.join(", ")} />}: {run.together.round} of {run.together.rounds} rounds, {run.together.counted} machines counted in the last one. Sent {run.together.sent_bytes} bytes; plain averaging would have sent {run.together.plain_bytes}.
        </p>
      )}
      {run.words !== null && <p role="status"><Words of={run.words} /></p>}
      <div className={styles.buttons}>
        {run.state === "learning" && <Button onClick={() => pause.mutate({})}>Pause</Button>}
        {run.state === "paused" && <Button onClick={() => goOn.mutate({ resume: run.run_id })}>Continue</Button>}
        {isAtWork(run.state) && <Button look="quiet" because={stop.isPending ? "Stopping" : null} onClick={() => stop.mutate({})}>Stop</Button>}
      </div>
      {error !== null && <Failed error={error} />}
    </div>
  );
}

function Begin({ dataset, now }: { dataset: DatasetRow | null; now: RunStands }) {
  const box = useAsk("models.in_box", {}).data?.models.filter((model) => model.state === "here") ?? [];
  const run = useAct("training.run");
  const [base, setBase] = useState("");
  const [steps, setSteps] = useState("200");
  const [always, setAlways] = useState(false);
  const chosen = base === "" ? (box[0]?.name ?? "") : base;
  const many = Number(steps);
  const because = run.isPending
    ? "Beginning"
    : now.trouble !== null
      ? "The program that trains is not here"
      : dataset === null
        ? "Keep a dataset first"
        : chosen === ""
          ? "Get a small model first, in the settings"
          : !Number.isInteger(many) || many < 1
            ? "Name a number of steps"
            : null;
  return (
    <>
      {box.length > 0 && <Select label="Model to begin with" value={chosen} options={box.map((model) => ({ value: model.name, label: model.name }))} onChange={(event) => setBase(event.target.value)} />}
      <TextField label="Steps" inputMode="numeric" value={steps} onChange={(event) => setSteps(event.target.value)} />
      <Check label="Also on battery, and while I am at this machine" checked={always} onChange={() => setAlways(!always)} />
      <div className={styles.buttons}>
        <Button look="person" because={because} onClick={() => run.mutate({ base: chosen, steps: many, always })}>Train</Button>
        {because !== null && !run.isPending && <span>{because}.</span>}
        {now.resumable.map((id) => <Button key={id} look="quiet" onClick={() => run.mutate({ resume: id })}>Continue {id}</Button>)}
      </div>
      {run.error !== null && <Failed error={run.error} />}
    </>
  );
}
