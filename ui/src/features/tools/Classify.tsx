// What a person says that a tool may do. It takes effect when they approve it.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { capital, className, said } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { ActionClass } from "~/ipc/generated/words";
import type { Tool } from "~/ipc/generated/tools";
import { Button } from "~/primitives/Button";
import { Check, Select, TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Tools.module.css";

/** Classes that a tool of a server can have. The host knows the same. */
const CLASSES: readonly { value: ActionClass; says: string }[] = [
  { value: "external_effect", says: "You are asked each time." },
  { value: "read_local", says: "It only looks at files of the folder. The rules for reading files apply." },
  { value: "write_local", says: "It changes files of the folder. It works in a copy, without the network; you see what it changed there before any of it is done." },
  { value: "network_read", says: "It only reads from the network. The rules for reading from the network apply." },
  { value: "network_write", says: "It sends or changes something elsewhere." },
  { value: "credentialed_api_call", says: "It uses one of your accounts." },
  { value: "publication", says: "It makes something public." },
  { value: "payment", says: "It spends money." },
];

type Part = "nothing" | "paths" | "hosts";

export function Classify({ server, tool, schema, done }: { server: string; tool: Tool; schema: string; done: () => void }) {
  const folders = useAsk("workspaces.list", {});
  const classify = useAct("tools.classify");
  const [kind, setKind] = useState<ActionClass>(tool.class ?? "external_effect");
  const [parts, setParts] = useState<Readonly<Record<string, Part>>>({});
  const [repeatable, setRepeatable] = useState(tool.repeatable);
  const [trusted, setTrusted] = useState(tool.trusted);
  const [limit, setLimit] = useState(tool.time_limit_s === null ? "" : `${tool.time_limit_s}`);
  const [typed, setFolder] = useState<string | null>(null);
  // What changes files has no network.
  const isFiles = kind === "write_local";
  const folder = typed ?? said(folders.data?.workspaces[0]?.folder);
  const named = (of: Part) => Object.entries(parts).filter(([, part]) => part === of).map(([pointer]) => pointer);
  const seconds = limit.trim() === "" ? null : Number(limit);
  const isOdd = seconds !== null && (!Number.isInteger(seconds) || seconds < 1 || seconds > 3600);
  const send = () => classify.mutate({ server, tool: tool.name, class: kind, paths: named("paths"), hosts: isFiles ? [] : named("hosts"), repeatable, trusted, time_limit_s: seconds, workspace: folder.trim(), channel: "app" });
  if (classify.data !== undefined) {
    return (
      <p className={styles.asked} role="status">
        Hermit asks you to approve this before it counts. <Link to="/task/$id" params={{ id: classify.data.task_id }}>Review it</Link> <Button look="link" onClick={done}>Close</Button>
      </p>
    );
  }
  return (
    <form className={styles.form} onSubmit={(event) => { event.preventDefault(); send(); }} aria-label={`What may ${tool.name} do?`}>
      <Select
        label="What it does" value={kind} hint={CLASSES.find((one) => one.value === kind)?.says}
        onChange={(event) => setKind(CLASSES.find((one) => one.value === event.target.value)?.value ?? kind)}
        options={CLASSES.map((one) => ({ value: one.value, label: capital(className(one.value)) }))}
      />
      {textsOf(schema).map((pointer) => (
        <Select
          key={pointer} label={`Its argument ${pointer.slice(1)}`} value={parts[pointer] ?? "nothing"}
          onChange={(event) => setParts({ ...parts, [pointer]: event.target.value === "paths" ? "paths" : event.target.value === "hosts" ? "hosts" : "nothing" })}
          options={[{ value: "nothing", label: "is just a value" }, { value: "paths", label: "is a path in the folder" }, ...(isFiles ? [] : [{ value: "hosts", label: "is a host" }])]}
        />
      ))}
      <Check label="A call may be repeated when nobody saw how it ended" checked={repeatable} onChange={(event) => setRepeatable(event.target.checked)} />
      <Check label="Its answers are trusted (they can then lead to actions without further questions)" checked={trusted} onChange={(event) => setTrusted(event.target.checked)} />
      <TextField label="Seconds that a call may take" inputMode="numeric" value={limit} placeholder="120" hint="1 to 3600. A call that takes longer is ended, with its server." onChange={(event) => setLimit(event.target.value)} />
      <TextField label="Folder in which you are asked" mono value={folder} onChange={(event) => setFolder(event.target.value)} />
      <div className={styles.buttons}>
        <Button type="submit" because={isOdd ? "Write 1 to 3600 seconds, or nothing" : folder.trim() === "" ? "Name a folder first" : classify.isPending ? "Asking" : null}>Ask me to approve this</Button>
        <Button onClick={done}>Cancel</Button>
      </div>
      {classify.error !== null && <Failed error={classify.error} />}
      <p className={styles.note}>This holds for <b><Words of={tool.name} /></b> as the server describes it now. If the server changes a word of it, you are asked again.</p>
    </form>
  );
}

/** JSON pointers to the members of a schema that are texts, or lists of texts. */
export function textsOf(schema: string): string[] {
  const isText = (of: unknown): boolean => {
    if (typeof of !== "object" || of === null) return false;
    const type: unknown = "type" in of ? of.type : undefined;
    return type === "string" || (Array.isArray(type) && type.includes("string")) || (type === "array" && "items" in of && isText(of.items));
  };
  try {
    const whole: unknown = JSON.parse(schema);
    const members = typeof whole === "object" && whole !== null && "properties" in whole ? whole.properties : undefined;
    if (typeof members !== "object" || members === null) return [];
    return Object.entries(members).filter(([, of]) => isText(of)).map(([name]) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).slice(0, 16);
  } catch {
    return [];
  }
}
