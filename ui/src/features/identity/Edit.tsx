// A change of SOUL.md. What is typed is kept by this browser until it is SOUL.md, whatever becomes of the page or the question.
import { useState } from "react";
import { useAct } from "~/ipc/client";
import type { Identity } from "~/ipc/generated/identity";
import { Button } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { TextArea } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { useDraftOf } from "~/screen/drafts";
import styles from "./Identity.module.css";
import { Difference } from "./Versions";
import type { Waiting } from "./waiting";
import { SOUL_BYTES_MAX, sizeOf } from "./words";

const EXAMPLE = `# Ada

You look after the letters of our harbour office.

You value: care before speed, plain words.
You never: throw a letter away, write to anybody outside the office.`;

interface Props { of: Identity; draft: string; keep: (text: string) => void; waiting: Waiting; close: () => void }

export function Edit({ of, draft, keep, waiting, close }: Props) {
  const write = useAct("identity.write");
  const [kept, keepBase] = useDraftOf("identity.base");
  const [text, setText] = useState(draft === "" ? of.soul ?? "" : draft);
  const [started] = useState(of.version);
  // A change belongs to the version that it was begun from, also when the page was left in between.
  const base = draft !== "" && /^\d+$/.test(kept) ? Number(kept) : started;
  const [isCompared, setCompared] = useState(false);
  const isStale = base !== of.version;
  const size = sizeOf(text);
  const type = (next: string) => {
    setText(next);
    if (draft === "") keepBase(String(of.version));
    keep(next === (of.soul ?? "") ? "" : next);
  };
  const because = write.isPending ? "Asking"
    : waiting.is === "waits" ? "A change waits for your answer"
    : text.trim() === "" ? "Write who this instance is"
    : size > SOUL_BYTES_MAX ? `Shorten it to ${SOUL_BYTES_MAX / 1024} KB`
    : text === of.soul ? "Nothing is changed yet"
    : isStale ? "Look at what was changed meanwhile" : null;
  const send = () => write.mutate({ text, replaces: base }, { onSuccess: (made) => waiting.sent(made.task_id) });
  const giveUp = () => {
    keep("");
    keepBase("");
    close();
  };
  return (
    <form className={styles.edit} aria-label="Change of SOUL.md" onSubmit={(event) => { event.preventDefault(); if (because === null) send(); }}>
      {isStale && (
        <div className={styles.stale} role="status">
          <p>SOUL.md became version {of.version} while you wrote; you began from {base === 0 ? "nothing" : `version ${base}`}. Nothing that you wrote is lost.</p>
          <div className={styles.buttons}>
            {base > 0 && of.version > base && <Button aria-expanded={isCompared} onClick={() => setCompared(!isCompared)}>What was changed meanwhile</Button>}
            <Button onClick={() => { if (draft === "") keep(text); keepBase(String(of.version)); }}>Replace version {of.version} with what I wrote</Button>
          </div>
          {isCompared && <Difference from={base} to={of.version} />}
        </div>
      )}
      <TextArea
        label="Who this instance is" rows={16} value={text} placeholder={EXAMPLE} spellCheck
        hint={`Its name, its purpose, its values and its limits, in your words. ${bytes(size)} of ${SOUL_BYTES_MAX / 1024} KB.`}
        error={size > SOUL_BYTES_MAX ? `This is longer than ${SOUL_BYTES_MAX / 1024} KB. Shorten it: all of it is part of what every model is told.` : null}
        onChange={(event) => type(event.target.value)}
      />
      <p className={styles.note}>Nothing changes until you approve the card, which shows every word and what differs. No program and no model may write it.</p>
      <div className={styles.buttons}>
        <Button look="person" type="submit" because={because}>Save</Button>
        <Button onClick={close}>Close</Button>
        {draft !== "" && waiting.is !== "waits" && <Button look="link" onClick={giveUp}>Discard what I wrote</Button>}
      </div>
      {because !== null && !write.isPending && <p className={styles.note}>{because}.</p>}
      {write.error !== null && <Failed error={write.error} />}
    </form>
  );
}
