// Prompts of servers and trusted skills below a field: a slash lists them, what one takes is asked for, and its words come into the field as the
// person's draft. Nothing is sent by it.
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { said } from "~/screen/words";
import { type ServerPrompt, WORDS_MAX, asksForPrompt, cameTo, meant, useServerPrompts, useTrustedSkills } from "./prompts";
import styles from "./Tools.module.css";

/** So many are listed; who types on finds the others. */
const LISTED_MAX = 8;

export function PromptPicker({ text, folder, draft }: { text: string; folder: string; draft: (text: string) => void }) {
  const asks = asksForPrompt(text);
  const prompts = useServerPrompts(asks);
  const skills = useTrustedSkills(folder.trim(), asks);
  const [chosen, setChosen] = useState<ServerPrompt | null>(null);
  const [cut, setCut] = useState(false);
  if (chosen !== null) {
    return <Fill prompt={chosen} folder={folder} text={text} close={() => setChosen(null)} draft={(words) => { setChosen(null); setCut([...words].length >= WORDS_MAX); draft(words); }} />;
  }
  const found = asks ? meant(prompts.data ?? [], text) : [];
  const known = asks ? meant(skills.data ?? [], text).slice(0, LISTED_MAX) : [];
  if (cut && text !== "" && !asks) return <p className={styles.asked} role="status">These are the first {WORDS_MAX} letters; the prompt has more.</p>;
  return (
    <>
      {known.length > 0 && (
        <ul className={styles.prompts} aria-label="Skills">
          {known.map((one) => (
            <li key={one.name}>
              <Button look="link" onClick={() => draft(`Use the skill ${one.name}: `)}>/<Words of={one.typed} /></Button>
              <span>Skill: <Words of={one.says} /></span>
            </li>
          ))}
        </ul>
      )}
      {found.length > 0 && (
        <ul className={styles.prompts} aria-label="Prompts of servers">
          {found.slice(0, LISTED_MAX).map((one) => (
            <li key={one.typed}>
              <Button look="link" onClick={() => setChosen(one)}>/<Words of={one.typed} /></Button>
              <span><Words of={one.says} /></span>
            </li>
          ))}
          {found.length > LISTED_MAX && <li>{found.length - LISTED_MAX} more; type on to find them</li>}
        </ul>
      )}
    </>
  );
}

function Fill({ prompt, folder, text, close, draft }: { prompt: ServerPrompt; folder: string; text: string; close: () => void; draft: (words: string) => void }) {
  const get = useAct("tools.prompt");
  const [before, setBefore] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const lacks = prompt.takes.find((one) => one.required && (values[one.name] ?? "").trim() === "");
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  const ask = () => {
    setBefore(text);
    get.mutate({ server: prompt.server, prompt: prompt.name, arguments: given, workspace: folder.trim(), channel: "app" });
  };
  return (
    <div className={styles.form} role="group" aria-label={`Prompt ${prompt.name} of ${prompt.server}`}>
      {prompt.takes.map((one) => (
        <TextField
          key={one.name} label={one.required ? one.name : `${one.name} (optional)`} hint={one.description ?? undefined} value={values[one.name] ?? ""}
          onChange={(event) => setValues({ ...values, [one.name]: event.target.value })}
          onKeyDown={(event) => { if (event.key === "Enter") event.preventDefault(); }}
        />
      ))}
      <div className={styles.buttons}>
        <Button onClick={ask} because={folder.trim() === "" ? "Name a folder first" : lacks !== undefined ? `Fill in ${lacks.name}` : get.isPending || get.data !== undefined ? "Getting it" : null}>Put it into the draft</Button>
        <Button onClick={close}>Cancel</Button>
      </div>
      {get.error !== null && <Failed error={get.error} />}
      {get.data !== undefined && <Coming task={get.data.task_id} isTouched={text !== before} draft={draft} />}
      <p className={styles.note}>The words are the server’s. Read them before you send them.</p>
    </div>
  );
}

/** The task that gets the words; once it has ended they are the draft, unless the person has written something meanwhile. */
function Coming({ task, isTouched, draft }: { task: string; isTouched: boolean; draft: (words: string) => void }) {
  const asked = useAsk("task.show", { task }, { refetchInterval: 500 });
  const ended = asked.data !== undefined && asked.data.row.ended_at !== null;
  const words = ended ? cameTo(said(asked.data?.summary)) : null;
  useEffect(() => {
    if (words !== null && !isTouched) draft(words);
    // It is put there once, when it has come.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [words]);
  if (asked.error !== null) return <Failed error={asked.error} />;
  if (words !== null && isTouched) {
    return <p className={styles.asked} role="status">You have written something meanwhile. <Button onClick={() => draft(words)}>Replace it with the prompt</Button></p>;
  }
  if (words !== null) return null;
  return (
    <p className={styles.asked} role="status">
      {ended ? <Words of={said(asked.data?.summary, "There is no result.")} /> : asked.data?.waits_for?.kind === "approval" ? "Hermit asks you to approve this first." : "Getting the words…"}{" "}
      <Link to="/task/$id" params={{ id: task }}>Show the task</Link>
    </p>
  );
}
