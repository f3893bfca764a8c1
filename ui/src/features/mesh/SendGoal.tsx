// A goal for another machine: it works on it in a folder of its own, under its own policy, and asks there.
import { useState } from "react";
import { useAct } from "~/ipc/client";
import type { Node } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Select, TextArea, TextField } from "~/primitives/Field";
import { Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Mesh.module.css";
import { nodeName } from "./words";

const newKey = () => `window:${crypto.randomUUID()}`;

/** `conversation`: the one that it belongs to, and its folder with it; a new one where none is named. */
export function SendGoal({ node, conversation, close }: { node: Pick<Node, "node" | "name" | "folders" | "here_until">; conversation?: string; close: () => void }) {
  const send = useAct("mesh.send");
  const [text, setText] = useState("");
  const [folder, setFolder] = useState(node.folders[0] ?? "");
  const [typed, setTyped] = useState("");
  // The same goal is sent once, however often the button is pressed.
  const [key, setKey] = useState(newKey);
  const name = nodeName(node);
  const isNew = conversation === undefined;
  // A folder that it told of before and tells of no more is none.
  const told = node.folders.includes(folder) ? folder : node.folders[0] ?? "";
  // Of a machine that nothing is heard of, nobody here knows which folders it has.
  const isHeard = node.here_until !== null;
  const chosen = isHeard ? told : told === "" ? typed.trim() : told;
  const because = send.isPending ? "Sending" : isNew && isHeard && chosen === "" ? "It takes no goals: it names no folder for them" : text.trim() === "" ? "Write a goal" : null;
  const go = () => send.mutate(
    { to: node.node, folder: isNew && chosen !== "" ? chosen : null, conversation: conversation ?? null, text: text.trim(), idempotency_key: key },
    { onSuccess: () => { setText(""); setKey(newKey()); } },
  );
  return (
    <form className={styles.inner} aria-label={isNew ? `Goal for ${name}` : `More for ${name}`} onSubmit={(event) => { event.preventDefault(); if (because === null) go(); }}>
      {isNew && node.folders.length > 0 && <Select label="Folder there" value={chosen} options={node.folders.map((one) => ({ value: one, label: one }))} onChange={(event) => setFolder(event.target.value)} />}
      {isNew && node.folders.length === 0 && isHeard && <p><Words of={name} /> takes no goals: it names no folder that they may be sent to. Add one on its page Machines, or run there <code>hermit mesh on --folder ALIAS=PATH</code>.</p>}
      {isNew && node.folders.length === 0 && !isHeard && <TextField label="Folder there (optional)" value={typed} spellCheck={false} hint="By the name that it has for your other machines; its only one where nothing is said. It is not heard now, so nobody here knows which it has." onChange={(event) => setTyped(event.target.value)} />}
      <TextArea label={isNew ? "Goal" : "What you add"} rows={3} value={text} onChange={(event) => setText(event.target.value)} />
      <p className={styles.note}>It runs there, under the policy of that machine. What needs a yes is asked there.</p>
      <div className={styles.buttons}>
        <Button look="person" type="submit" because={because}>{isNew ? "Send the goal" : "Send it"}</Button>
        <Button look="link" onClick={close}>Close</Button>
      </div>
      {send.error !== null && <Failed error={send.error} />}
      {send.data !== undefined && !send.isPending && text === "" && <Said tone="note">It is on record here. How far it has come stands under Messages.</Said>}
    </form>
  );
}
