// What a person says that a tool may do. It takes effect when they approve it.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { capital, className, said } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { ActionClass } from "~/ipc/generated/words";
import type { Tool, Words as ToolWords } from "~/ipc/generated/tools";
import { Button } from "~/primitives/Button";
import { Check, Select, TextArea, TextField } from "~/primitives/Field";
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

type Part = "nothing" | "paths" | "hosts" | "amounts";
const PARTS: readonly Part[] = ["nothing", "paths", "hosts", "amounts"];

export function Classify({ server, tool, words, done }: { server: string; tool: Tool; words: ToolWords; done: () => void }) {
  const folders = useAsk("workspaces.list", {});
  const classify = useAct("tools.classify");
  const [kind, setKind] = useState<ActionClass>(tool.class ?? "external_effect");
  const [parts, setParts] = useState<Readonly<Record<string, Part>>>(() => ({ ...pointing(tool.paths, "paths"), ...pointing(tool.hosts, "hosts"), ...pointing(tool.amounts, "amounts") }));
  const [here, setHere] = useState(tool.only_in !== null);
  const examples = (matches: boolean) => tool.examples.filter((one) => one.matches === matches).map((one) => one.arguments).join("\n");
  const [fit, setFit] = useState(() => examples(true));
  const [misfit, setMisfit] = useState(() => examples(false));
  const [repeatable, setRepeatable] = useState(tool.repeatable);
  const [trusted, setTrusted] = useState(tool.trusted);
  const [limit, setLimit] = useState(tool.time_limit_s === null ? "" : `${tool.time_limit_s}`);
  const [typed, setFolder] = useState<string | null>(null);
  const schema = words.input_schema;
  const texts = textsOf(schema);
  const pointers = [...texts, ...numbersOf(schema)].slice(0, 16);
  // What changes files has no network.
  const isFiles = kind === "write_local";
  // What holds in one folder is said of that folder again, unless another is named.
  const folder = typed ?? said(tool.only_in ?? folders.data?.workspaces[0]?.folder);
  const named = (of: Part) => Object.entries(parts).filter(([, part]) => part === of).map(([pointer]) => pointer);
  const seconds = limit.trim() === "" ? null : Number(limit);
  const isOdd = seconds !== null && (!Number.isInteger(seconds) || seconds < 1 || seconds > 3600);
  const send = () => classify.mutate({ server, tool: tool.name, class: kind, paths: named("paths"), hosts: isFiles ? [] : named("hosts"), amounts: named("amounts"), here, matches: lines(fit), no_matches: lines(misfit), repeatable, trusted, time_limit_s: seconds, workspace: folder.trim(), channel: "app" });
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
      {words.says_of_itself.length > 0 && (
        <p className={styles.note}>
          The server says that it is {words.says_of_itself.join(", ")}; nobody has checked that.{" "}
          {words.proposes !== null && words.proposes !== kind && <Button look="link" onClick={() => setKind(words.proposes ?? kind)}>Believe it: {className(words.proposes)}</Button>}
        </p>
      )}
      {pointers.map((pointer) => (
        <Select
          key={pointer} label={`Its argument ${pointer.slice(1)}`} value={parts[pointer] ?? "nothing"}
          onChange={(event) => setParts({ ...parts, [pointer]: PARTS.find((one) => one === event.target.value) ?? "nothing" })}
          options={[
            { value: "nothing", label: "is just a value" },
            ...(texts.includes(pointer) ? [{ value: "paths", label: "is a path in the folder" }, ...(isFiles ? [] : [{ value: "hosts", label: "is a host" }])] : []),
            { value: "amounts", label: "is an amount" },
          ]}
        />
      ))}
      <Check label="A call may be repeated when nobody saw how it ended" checked={repeatable} onChange={(event) => setRepeatable(event.target.checked)} />
      <Check label="Its answers are trusted (they can then lead to actions without further questions)" checked={trusted} onChange={(event) => setTrusted(event.target.checked)} />
      <TextField label="Seconds that a call may take" inputMode="numeric" value={limit} placeholder="120" hint="1 to 3600. A call that takes longer is ended, with its server." onChange={(event) => setLimit(event.target.value)} />
      <TextArea label="Arguments of calls that are to be judged so" rows={2} value={fit} placeholder={'{"path": "notes.txt"}'} hint="One JSON object on each line. Each is tried before you are asked." onChange={(event) => setFit(event.target.value)} />
      <TextArea label="Arguments of calls that are to be refused" rows={2} value={misfit} placeholder={'{"path": "../secret"}'} onChange={(event) => setMisfit(event.target.value)} />
      <Check label="Only in the folder below, not in every folder" checked={here} onChange={(event) => setHere(event.target.checked)} />
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

function pointing(pointers: readonly string[], part: Part): Record<string, Part> {
  return Object.fromEntries(pointers.map((pointer) => [pointer, part]));
}

function lines(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

/** Whether a schema is that of one of these types, or of a list of them. */
function isOf(of: unknown, types: readonly string[]): boolean {
  if (typeof of !== "object" || of === null) return false;
  const type: unknown = "type" in of ? of.type : undefined;
  const all: readonly unknown[] = Array.isArray(type) ? type : [type];
  return all.some((one) => typeof one === "string" && types.includes(one));
}

/** JSON pointers to the members of a schema that are texts, or lists of texts. */
export function textsOf(schema: string): string[] {
  return members(schema, (of) => isOf(of, ["string"]) || (isOf(of, ["array"]) && typeof of === "object" && of !== null && "items" in of && isOf(of.items, ["string"])));
}

/** JSON pointers to the members of a schema that are numbers. */
function numbersOf(schema: string): string[] {
  return members(schema, (of) => isOf(of, ["number", "integer"]) && !isOf(of, ["string"]));
}

function members(schema: string, fits: (of: unknown) => boolean): string[] {
  try {
    const whole: unknown = JSON.parse(schema);
    const all = typeof whole === "object" && whole !== null && "properties" in whole ? whole.properties : undefined;
    if (typeof all !== "object" || all === null) return [];
    return Object.entries(all).filter(([, of]) => fits(of)).map(([name]) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).slice(0, 16);
  } catch {
    return [];
  }
}
