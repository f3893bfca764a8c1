// A trial that is begun from the page: the change, or several that race, on which tasks, and what each copy may use up, which is shown
// before. Rules and SOUL.md begin as they are in force. What was typed is kept by this browser until the trial has begun.
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { Previewed } from "~/ipc/generated/successor";
import { PROFILE } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { Check, Select, TextArea, TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { useDraftOf } from "~/screen/drafts";
import { textOf } from "~/screen/files";
import { capital, count, plain, profileName, said } from "~/screen/words";
import { begunFrom, budgetOf, type Draft, EMPTY, inForceNow, isReadByModels, KINDS, kept, type Kind, lacks, PARTS, patchesOf, PIECES, RIVALS_MAX, rivalsNow, textNow, tryOf } from "./draft";
import { MayUse } from "./MayUse";
import styles from "./Successor.module.css";

/** By which a browser keeps what was typed. */
export const DRAFT = "successor.try";
/** A change has no more bytes; a host says so of what is longer. */
const BYTES_MAX = 1024 * 1024 + 1;
/** How long nothing is typed before a host reads the change. */
const PAUSE_MS = 300;
/** Completed tasks that can be chosen by a click. */
const TASKS = 50;

const PROFILES = [
  { value: "", label: "As it is" },
  ...PROFILE.filter((value) => value !== "service").map((value) => ({ value, label: profileName(value) })),
];

const TEXT: Readonly<Record<Exclude<Kind, "model">, { label: string; hint: string }>> = {
  policy: { label: "Your rules, all of them, as they would be", hint: "Such as: deny FileDelete(**)" },
  words: { label: "Its whole text, as it would be", hint: "SOUL.md stands in every context. A signed skin, or the SKILL.md of a skill, takes the place of the one of its name. A playbook does again what the one of its name did." },
  code: { label: "Unified diff against the source of Hermit", hint: "As git writes it, with paths from the root of the source." },
  written: { label: "Change as JSON", hint: "With says, sources and change." },
};

/** The value once it has stayed the same for a moment. */
function useSettled<T>(value: T): T {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

export function NewTrial({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const [raw, keep] = useDraftOf(DRAFT);
  const typed = kept(raw);
  const write = (more: Partial<Draft>) => keep(JSON.stringify({ ...typed, ...more }));
  const rules = useAsk("policy.own_rules", {}, { enabled: typed.kind === "policy" });
  const identity = useAsk("identity.show", {}, { enabled: typed.kind === "words" });
  const inForce = { rules: rules.data?.text ?? "", soul: identity.data?.soul ?? "" };
  const draft = begunFrom(typed, inForce);
  const begins = inForceNow(draft, inForce);
  const version = useAsk("version.show", {});
  const source = version.data?.source_sha256 ?? null;
  const lack = lacks(draft, source, begins);
  const patches = lack === null ? patchesOf(draft, source) : null;
  const asks = JSON.stringify({ patches: patches ?? [], ...budgetOf(draft) });
  const settled = useSettled(asks);
  const isSettled = settled === asks;
  const read = useAsk("successor.preview", JSON.parse(settled) as { patches: string[] }, { enabled: settled === asks && patches !== null });
  const wrong = isSettled && patches !== null && read.error !== null ? capital(read.error.message) : null;
  const begin = useAct("successor.try_change");
  const because = begin.isPending ? "Beginning" : lack ?? (wrong !== null ? "Correct the change first" : !isSettled || read.data === undefined ? "Reading the change" : null);
  const send = () => {
    if (patches === null) return;
    begin.mutate(tryOf(draft, patches), {
      onSuccess: ({ trials }) => {
        keep("");
        close();
        const first = trials[0];
        if (first !== undefined) void navigate({ to: "/successor", search: { of: first.trial_id } });
      },
    });
  };
  return (
    <form className={styles.section} aria-label="New trial" onSubmit={(event) => { event.preventDefault(); if (because === null) send(); }}>
      <h2>Try a change</h2>
      <Select label="Kind of change" value={draft.kind} options={KINDS} onChange={(event) => write({ kind: KINDS.find((one) => one.value === event.target.value)?.value ?? EMPTY.kind })} />
      <OfKind draft={draft} typed={typed} write={write} source={source} wrong={wrong} begins={begins} />
      <Rivals draft={draft} typed={typed} write={write} />
      {isReadByModels(draft) && <TextField label="Model that is asked about it (optional)" value={draft.ask} placeholder="openai:http://127.0.0.1:8080/v1#name" hint="A model on this machine: it does the tasks with the words as they stand and with yours. Leave this empty for the one that did the tasks. Where none can be asked, the verdict is “same” at best." onChange={(event) => write({ ask: event.target.value })} />}
      <TextField label="What the change is to do" value={draft.about} placeholder="it asks less and breaks nothing" onChange={(event) => write({ about: event.target.value })} />
      {draft.kind !== "written" && (
        <>
          <TextField label="What it is for, in one line (optional)" value={draft.says} hint="What it is to do, where nothing is said." onChange={(event) => write({ says: event.target.value })} />
          <TextArea label="Where what is new in it comes from, one source a line" rows={2} value={draft.sources} placeholder="my own idea" onChange={(event) => write({ sources: event.target.value })} />
        </>
      )}
      <OnTasks draft={draft} write={write} />
      <details>
        <summary>What each copy may use up</summary>
        <div className={styles.section}>
          {PARTS.map(({ part, label }) => <TextField key={part} label={label} inputMode="numeric" value={draft.budget[part] ?? ""} hint="The standard, where nothing is said." onChange={(event) => write({ budget: { ...draft.budget, [part]: event.target.value } })} />)}
        </div>
      </details>
      <div role="status">{isSettled && patches !== null && read.data !== undefined && <Before of={read.data} />}</div>
      <div className={styles.head}>
        <Button look="person" type="submit" because={because}>{rivalsNow(draft).length === 0 ? "Begin the trial" : "Begin the race"}</Button>
        <Button look="link" onClick={close}>Close</Button>
        {raw !== "" && <Button look="link" onClick={() => { keep(""); begin.reset(); }}>Clear</Button>}
      </div>
      {because !== null && <p className={styles.note}>{because}.</p>}
      {begin.error !== null && <Failed error={begin.error} />}
    </form>
  );
}

/** `typed`: what the person typed of it, without what is in force. */
interface Part { draft: Draft; typed: Draft; write: (more: Partial<Draft>) => void }

/** The change itself, with what a host says of it beside. */
function OfKind({ draft, typed, write, source, wrong, begins }: Part & { source: string | null; wrong: string | null; begins: string | null }) {
  const { kind } = draft;
  const type = (text: string) => write({ texts: { ...typed.texts, [kind]: text } });
  const isOther = begins !== null && begins !== "" && typed.texts[kind] !== undefined && typed.texts[kind] !== begins;
  const anew = () => {
    const texts = { ...typed.texts };
    delete texts[kind];
    write({ texts });
  };
  if (kind === "model") return <TextField label="Address of the model" value={draft.address} error={wrong} placeholder="openai:http://127.0.0.1:8080/v1#name" hint="One on this machine: your past work does not leave it for a trial." onChange={(event) => write({ address: event.target.value })} />;
  return (
    <>
      {kind === "words" && <Select label="Which words" value={draft.piece} options={PIECES} onChange={(event) => write({ piece: event.target.value })} />}
      {kind === "words" && draft.piece !== "soul" && <TextField label="Its name" value={draft.name} onChange={(event) => write({ name: event.target.value })} />}
      <TextArea label={TEXT[kind].label} hint={TEXT[kind].hint} rows={8} spellCheck={false} value={textNow(draft)} error={wrong} onChange={(event) => type(event.target.value)} />
      {isOther && <div><Button look="link" onClick={anew}>Begin again from what is in force</Button></div>}
      <FromFile key={kind} take={type} />
      {kind === "policy" && <Select label="Standard profile, as it would be" value={draft.profile} options={PROFILES} hint="To see what it would do: a change of the profile cannot be adopted." onChange={(event) => write({ profile: event.target.value })} />}
      {kind === "code" && <TextField label="SHA-256 of the source that it applies to" mono value={draft.base} placeholder={source ?? ""} hint={source === null ? "As `hermit source` tells it." : "That of the running version, where nothing is said."} onChange={(event) => write({ base: event.target.value })} />}
    </>
  );
}

/** Further variants of the change, which race against it over the same tasks. */
function Rivals({ draft, typed, write }: Part) {
  const { kind } = draft;
  const rivals = rivalsNow(draft);
  const set = (all: readonly string[]) => write({ rivals: { ...typed.rivals, [kind]: all } });
  const type = (at: number, text: string) => set(rivals.map((one, other) => (other === at ? text : one)));
  return (
    <>
      {rivals.map((text, at) => (
        // A variant has nothing but its place.
        <div key={at} role="group" aria-label={`Variant ${at + 2}`}>
          {kind === "model"
            ? <TextField label={`Address of variant ${at + 2}`} value={text} onChange={(event) => type(at, event.target.value)} />
            : <TextArea label={`Variant ${at + 2}, all of it`} rows={8} spellCheck={false} value={text} onChange={(event) => type(at, event.target.value)} />}
          <Button look="link" onClick={() => set(rivals.filter((_, other) => other !== at))}>Take variant {at + 2} away</Button>
        </div>
      ))}
      <div><Button because={rivals.length < RIVALS_MAX - 1 ? null : `${RIVALS_MAX} changes race at most`} onClick={() => set([...rivals, kind === "model" ? "" : textNow(draft)])}>Race it against another variant</Button></div>
    </>
  );
}

function FromFile({ take }: { take: (text: string) => void }) {
  const id = useId();
  const [failed, setFailed] = useState<string | null>(null);
  const read = (file: File | undefined) => {
    setFailed(null);
    if (file !== undefined) textOf(file, BYTES_MAX).then(take, (error: unknown) => setFailed(error instanceof Error ? error.message : "the file cannot be read"));
  };
  return (
    <div>
      <label htmlFor={id}>Or from a file <input id={id} type="file" onChange={(event) => { read(event.target.files?.[0]); event.target.value = ""; }} /></label>
      {failed !== null && <Failed error={{ message: failed }} />}
    </div>
  );
}

/** Tasks that are drawn, and those that are played whatever is drawn. */
function OnTasks({ draft, write }: Omit<Part, "typed">) {
  const done = useAsk("task.list", { group: "done", limit: TASKS }, { keep: true });
  const turn = (id: string, isOn: boolean) => write({ tasks: isOn ? [...draft.tasks, id] : draft.tasks.filter((one) => one !== id) });
  const rows = done.data?.rows ?? [];
  // What was chosen and is not among the newest stays chosen, and is shown.
  const older = draft.tasks.filter((id) => !rows.some((row) => row.task_id === id));
  return (
    <>
      <TextField label="How many completed tasks are played (optional)" inputMode="numeric" value={draft.draw} placeholder="10" onChange={(event) => write({ draw: event.target.value })} />
      <TextField label="What the draw begins with (optional)" inputMode="numeric" value={draft.seed} hint="The same number draws the same tasks." onChange={(event) => write({ seed: event.target.value })} />
      <details>
        <summary>{draft.tasks.length === 0 ? "Name tasks that are played" : `${count(draft.tasks.length, "task")} named, the others are drawn`}</summary>
        {done.error !== null && <Failed error={done.error} />}
        {rows.map((row) => <Check key={row.task_id} label={<Words of={said(row.title)} />} checked={draft.tasks.includes(row.task_id)} onChange={(event) => turn(row.task_id, event.target.checked)} />)}
        {older.map((id) => <Check key={id} label={<Link to="/task/$id" params={{ id }}>An older task</Link>} checked onChange={() => turn(id, false)} />)}
        {done.data !== undefined && rows.length === 0 && <p className={styles.note}>No task was completed yet, so there is nothing to try a change on.</p>}
      </details>
    </>
  );
}

/** What a person knows before a trial begins. */
function Before({ of: { changes, budget } }: { of: Previewed }) {
  return (
    <>
      <MayUse of={budget} />
      {changes.length > 1 && <p>{count(changes.length, "change")} race over the same tasks at the same time, each with copies of its own: together they may use {changes.length} times as much.</p>}
      {[...new Set(changes.flatMap((one) => one.edited_tests))].map((file) => <p key={file} className={styles.note}>It edits, moves or removes tests in <Words of={file} />. You look at these before you adopt it.</p>)}
      {changes.filter((one) => one.constitutional.length > 0).map((one) => <p key={one.says} className={styles.bad}>It touches what checks every change: {one.constitutional.map(plain).join(", ")}.</p>)}
    </>
  );
}
