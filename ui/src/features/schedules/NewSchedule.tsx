// A new schedule: when, as words, with how they are read; what; where. Nothing is kept here: that is a card, which a person approves.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { FolderField } from "~/features/tasks/FolderField";
import { ModelChoice, proposed } from "~/features/tasks/ModelChoice";
import { useAct, useAsk } from "~/ipc/client";
import type { Reasoner } from "~/ipc/generated/task";
import { type CatchUpKind, CONDITION, type Overlap } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { Check, Select, TextArea, TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { capital } from "~/screen/words";
import { limitsOf, NAME_IS, NOTHING, onlyInWords, OVERLAP, type Written, wrongName, wrongOf } from "./limits";
import styles from "./Schedules.module.css";
import { watches } from "./triggers";

const MODEL = "";
const OVERLAPS: readonly { value: Overlap; label: string }[] = [
  { value: "skip", label: OVERLAP.skip }, { value: "queue", label: OVERLAP.queue }, { value: "end_older", label: OVERLAP.end_older },
];

export function NewSchedule({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const keep = useAct("schedules.keep");
  const playbooks = useAsk("playbooks.list", {}).data?.playbooks ?? [];
  const [time, setTime] = useState("");
  const [goal, setGoal] = useState("");
  const [folder, setFolder] = useState("");
  const [who, setWho] = useState(MODEL);
  const [name, setName] = useState("");
  const [model, setModel] = useState<string | null>(null);
  const [globs, setGlobs] = useState("");
  const [quiet, setQuiet] = useState("");
  const [missed, setMissed] = useState<CatchUpKind>("newest");
  const [news, setNews] = useState(false);
  const [limits, setLimits] = useState<Written>(NOTHING);
  const write = (more: Partial<Written>) => setLimits((before) => ({ ...before, ...more }));
  const [key] = useState(() => `window:${crypto.randomUUID()}`);
  const said = time.trim();
  const seconds = quiet.trim() === "" ? null : Number(quiet);
  const read = useAsk("schedules.preview", { said, zone: null }, { enabled: said.length > 2, keep: false });
  const models = useAsk("models.find", { ports: [] }, { enabled: who === MODEL, staleTime: 30_000 });
  const address = model ?? (models.data === undefined ? null : proposed(models.data));
  const because = said === "" ? "Say when first"
    : read.data === undefined ? "Say the time so that it is understood"
    : folder.trim() === "" ? "Name a folder"
    : who === MODEL && goal.trim() === "" ? "Write a goal"
    : who === MODEL && (address === null || address.trim() === "") ? "Choose a model, or a playbook"
    : seconds !== null && (!Number.isSafeInteger(seconds) || seconds < 1) ? "Write the seconds as a whole number from 1" : wrongOf(limits) ?? wrongName(name.trim());
  const on = read.data?.waits_for ?? null;

  const send = () => {
    const reasoner: Reasoner = who === MODEL ? { kind: "address", address: address?.trim() ?? "" } : { kind: "playbook", name: who, parameters: {} };
    keep.mutate(
      { name: name.trim() === "" ? null : name.trim(), said, zone: null, globs: on?.kind === "files" ? globs.split(",").map((one) => one.trim()).filter((one) => one !== "") : [], quiet_seconds: on?.kind === "files" ? seconds : null, goal: goal.trim(), workspace: folder.trim(), reasoner, catch_up: missed, catch_up_most: null, grace_minutes: null, limits: limitsOf(limits), conversation: null, quiet: news, profile: null, channel: "app", idempotency_key: key },
      { onSuccess: (made) => void navigate({ to: "/task/$id", params: { id: made.task_id } }) },
    );
  };
  return (
    <form className={styles.card} aria-label="New schedule" onSubmit={(event) => { event.preventDefault(); if (because === null && !keep.isPending) send(); }}>
      <h2>New schedule</h2>
      <TextField label="When" value={time} placeholder="every weekday at 8:30" hint="In plain English, or a cron expression. Or what it waits for: when a file lands here, when main moves, when the hook deploy is called, when the resource docs://rates of the server notes changes, when the machine laptop is silent for 30 minutes, after another schedule by its name." onChange={(event) => setTime(event.target.value)} />
      <div role="status" className={styles.read}>
        {on !== null && said !== "" && <><p>Read as {read.data?.rule}.</p><ul className={styles.times}>{watches(on).map(([what, text]) => <li key={what}>{what}: <Words of={text} /></li>)}</ul></>}
        {read.data !== undefined && on === null && said !== "" && <><p>Read as {read.data.rule}, time zone {read.data.zone}. Next:</p><ol className={styles.times}>{read.data.next.map((due) => <li key={due.at}>{due.text}</li>)}</ol></>}
        {read.data !== undefined && (read.data.only.length > 0 || read.data.battery_above != null) && said !== "" && <p>A run begins only {onlyInWords(read.data.only, read.data.battery_above)}.</p>}
        {read.error !== null && said.length > 2 && <p>{capital(read.error.message)}</p>}
      </div>
      <TextArea label={who === MODEL ? "What is to be done each time" : "A note to yourself (a playbook reads no goal)"} rows={2} value={goal} onChange={(event) => setGoal(event.target.value)} />
      <FolderField label="Folder to work in" value={folder} hint="On the machine that runs Hermit. Nothing outside it is touched." onChange={setFolder} />
      {on?.kind === "files" && (
        <>
          <TextField label="Which files (optional)" value={globs} placeholder="*.pdf, scans/**" hint="Below the folder, with commas between. All of them where nothing is said." onChange={(event) => setGlobs(event.target.value)} />
          <TextField label="Seconds that a file must have been left alone (optional)" inputMode="numeric" value={quiet} hint="2 where nothing is said. What is still being written does not count yet." onChange={(event) => setQuiet(event.target.value)} />
        </>
      )}
      <Select label="Model or playbook" value={who} options={[{ value: MODEL, label: "A model works towards the goal" }, ...playbooks.map((one) => ({ value: one.name, label: `${capital(one.name)}: ${one.about}` }))]} onChange={(event) => setWho(event.target.value)} />
      {who === MODEL && <ModelChoice value={address} onChange={setModel} />}
      {on === null && <Select label="Times that are missed while Hermit is not open" value={missed} options={[{ value: "newest", label: "Make up for the newest" }, { value: "skip", label: "Skip them" }]} onChange={(event) => setMissed(event.target.value === "skip" ? "skip" : "newest")} />}
      <details>
        <summary>Limits</summary>
        <div className={styles.limits}>
          <Select label="When a time comes while a run is not over" value={limits.overlap} options={OVERLAPS} onChange={(event) => write({ overlap: OVERLAPS.find((one) => one.value === event.target.value)?.value ?? "skip" })} />
          <TextField label="End each run after (minutes)" inputMode="numeric" value={limits.endsAfter} hint="What was done by then stays, with its receipts." onChange={(event) => write({ endsAfter: event.target.value })} />
          <TextField label="Runs within an hour, at most" inputMode="numeric" value={limits.perHour} onChange={(event) => write({ perHour: event.target.value })} />
          <TextField label="Runs in a day, at most" inputMode="numeric" value={limits.dayRuns} onChange={(event) => write({ dayRuns: event.target.value })} />
          <TextField label="Cost of models in a day, at most (US dollars)" inputMode="decimal" value={limits.dayCost} onChange={(event) => write({ dayCost: event.target.value })} />
          <TextField label="Hours in which a run begins" value={limits.hours} placeholder="8-18" hint="By the clock of the time zone above." onChange={(event) => write({ hours: event.target.value })} />
          <TextField label="Begin up to so many minutes later" inputMode="numeric" value={limits.jitter} hint="So that not everything begins at once. The delay stays the same." onChange={(event) => write({ jitter: event.target.value })} />
          <TextField label="Begin a run only when the battery is above (per cent)" inputMode="numeric" value={limits.battery} placeholder="30" onChange={(event) => write({ battery: event.target.value })} />
          {CONDITION.map((one) => <Check key={one} label={`Begin a run only ${onlyInWords([one])}`} checked={limits.only.includes(one)} onChange={(event) => write({ only: CONDITION.filter((other) => (other === one ? event.target.checked : limits.only.includes(other))) })} />)}
        </div>
      </details>
      <Check label="Report only runs that changed something, asked, were denied something or failed. The others stay on record." checked={news} onChange={(event) => setNews(event.target.checked)} />
      <TextField label="Name" value={name} spellCheck={false} hint={`Optional. ${NAME_IS}. A schedule that has this name already is changed.`} onChange={(event) => setName(event.target.value)} />
      <div className={styles.buttons}>
        <Button look="person" type="submit" because={keep.isPending ? "Asking" : because}>Ask me to keep it</Button>
        <Button look="link" onClick={close}>Cancel</Button>
      </div>
      {because !== null && <p className={styles.read}>{because}.</p>}
      {keep.error !== null && <Failed error={keep.error} />}
    </form>
  );
}
