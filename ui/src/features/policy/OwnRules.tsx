// A person's own rules: what each means, what it decided lately, and a change of them, which a card asks about.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { count } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { OwnRule, RulesDraft } from "~/ipc/generated/policy";
import { Button } from "~/primitives/Button";
import { Select, TextField } from "~/primitives/Field";
import { Answer, Empty, Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { Told } from "./Rules";
import styles from "./Policy.module.css";

const DAYS = 30;
const ANSWERS = [
  { value: "ask", label: "Always ask before" }, { value: "deny", label: "Never allow" }, { value: "allow", label: "Allow without asking" },
  { value: "look", label: "Only look, instead of" }, { value: "draft", label: "Only keep a draft, instead of" },
];
/** Kinds of rules, what each speaks of, and an example of its pattern. */
const KINDS = [
  { value: "FileEdit", label: "creating or changing files", hint: "docs/** or *.md" },
  { value: "FileDelete", label: "deleting files", hint: "** for any file" },
  { value: "FileRead", label: "reading files", hint: "private/**" },
  { value: "Bash", label: "running commands", hint: "git push:* for all that begin so, or a whole command" },
  { value: "Net", label: "reaching hosts", hint: "host:example.org or host:*.example.org" },
  { value: "Mcp", label: "calling tools of a server", hint: "server__tool or server__*" },
];

/** A rule in its parts. Examples that stand below it stay with it. */
export interface Parts { answer: string; kind: string; pattern: string; because: string; examples: readonly string[] }
const NEW: Parts = { answer: "ask", kind: "FileEdit", pattern: "", because: "", examples: [] };

export function apart(text: string): Parts {
  const [first = "", ...below] = text.split("\n").map((line) => line.trim());
  const found = /^(\w+)\s+(\w+)\((.*)\)$/.exec(first);
  const because = below.find((line) => line.startsWith("because ")) ?? "";
  return {
    answer: found?.[1] ?? NEW.answer, kind: found?.[2] ?? NEW.kind, pattern: found?.[3] ?? first,
    because: because.slice("because ".length), examples: below.filter((line) => line !== because),
  };
}

export function written({ answer, kind, pattern, because, examples }: Parts): string {
  const below = because.trim() === "" ? examples : [...examples, `because ${because.trim()}`];
  return [`${answer} ${kind}(${pattern.trim()})`, ...below.map((line) => `  ${line}`)].join("\n");
}

type Editing = { line: number | null; parts: Parts; removes: boolean };

export function OwnRules() {
  const asked = useAsk("policy.own_rules", {}, { keep: true });
  const counted = useAsk("policy.own_rules", { days: DAYS }, { keep: true });
  const [editing, setEditing] = useState<Editing | null>(null);
  const decided = (rule: OwnRule) => counted.data?.rows.find((one) => one.scope === rule.scope && one.line === rule.line && one.text === rule.text)?.decided ?? null;
  return (
    <div className={styles.own}>
      <div className={styles.tools}>
        <Button look={editing === null ? "person" : "plain"} onClick={() => setEditing({ line: null, parts: NEW, removes: false })}>Add a rule</Button>
        <p>Your rules hold in every folder. Deny overrides ask, and ask overrides allow. Each change is asked about on a card.</p>
      </div>
      <Answer asked={asked} what="your rules">
        {(found) => (
          <>
            {editing !== null && <Editor key={`${editing.line}${editing.removes}`} editing={editing} was={found.sha256} close={() => setEditing(null)} />}
            {found.rows.length === 0
              ? <Empty title="You have no rules of your own" small>A rule says what to ask about, what never to allow, and what not to ask about.</Empty>
              : (
                <ul className={styles.mine} aria-label="Your rules">
                  {found.rows.map((rule) => (
                    <li key={`${rule.scope}${rule.line}${rule.text}`}>
                      <div className={styles.meaning}>
                        <b><Words of={rule.words} /></b>
                        <pre>{rule.text}</pre>
                        <span className={table.faint}>{lately(decided(rule))}{rule.scope !== "signed" && ", from the file policy.rules in the store's folder: change it there"}</span>
                      </div>
                      {rule.scope === "signed" && (
                        <div className={styles.if}>
                          <Button onClick={() => setEditing({ line: rule.line, parts: apart(rule.text), removes: false })}>Change</Button>
                          <Button onClick={() => setEditing({ line: rule.line, parts: apart(rule.text), removes: true })}>Remove</Button>
                        </div>
                      )}
                    </li>
                  ))}
                </ul>
              )}
          </>
        )}
      </Answer>
    </div>
  );
}

function lately(decided: number | null): string {
  return decided === null ? "Counting what it decided" : decided === 0 ? `Decided nothing in ${DAYS} days` : `Decided ${count(decided, "action")} in ${DAYS} days`;
}

/** One change: the rule, what it would have changed of the last actions, and the question. */
function Editor({ editing, was, close }: { editing: Editing; was: string; close: () => void }) {
  const navigate = useNavigate();
  const [parts, setParts] = useState(editing.parts);
  const [drafted, setDrafted] = useState<{ rule: string | null; draft: RulesDraft } | null>(null);
  const draft = useAct("policy.draft_rules");
  const change = useAct("policy.change_rules");
  const rule = editing.removes ? null : written(parts);
  const put = (part: Partial<Parts>) => setParts({ ...parts, ...part });
  const params = { line: editing.line, rule, was_sha256: was };
  const shown = drafted !== null && drafted.rule === rule ? drafted.draft : null;
  const kind = KINDS.find((one) => one.value === parts.kind);
  const title = editing.line === null ? "A new rule" : editing.removes ? "Remove this rule" : "Change this rule";
  return (
    <section className={styles.editor} aria-label={title}>
      <h2>{title}</h2>
      {editing.removes
        ? <pre>{written(parts)}</pre>
        : (
          <>
            <div className={styles.fields}>
              <Select label="Answer" value={parts.answer} options={ANSWERS} onChange={(event) => put({ answer: event.target.value })} />
              <Select label="What" value={parts.kind} options={KINDS} onChange={(event) => put({ kind: event.target.value })} />
              <TextField label="Pattern" mono hint={kind?.hint ?? ""} value={parts.pattern} onChange={(event) => put({ pattern: event.target.value })} />
              <TextField label="Reason (optional)" value={parts.because} onChange={(event) => put({ because: event.target.value })} />
            </div>
            <pre aria-label="The rule as it is written">{rule}</pre>
          </>
        )}
      {draft.error !== null && shown === null && <Failed error={draft.error} />}
      {change.error !== null && <Failed error={change.error} />}
      {shown !== null && (
        <div className={styles.drafted}>
          {shown.before !== null && <p>Until now: <Words of={shown.before} /></p>}
          <p>From now on: <b>{shown.after === null ? "without this rule" : <Words of={shown.after} />}</b></p>
          <p>In the last {DAYS} days:</p>
          <Told told={shown.told} />
        </div>
      )}
      <div className={styles.if}>
        {shown === null
          ? (
            <Button look="person" because={draft.isPending ? "Testing against history" : !editing.removes && parts.pattern.trim() === "" ? "Write a pattern first" : null}
              onClick={() => draft.mutate({ ...params, days: DAYS, limit: 10 }, { onSuccess: (found) => setDrafted({ rule, draft: found }) })}>
              Show what it changes
            </Button>
          )
          : (
            <Button look="person" because={change.isPending ? "Asking" : null}
              onClick={() => change.mutate({ ...params, channel: "app" }, { onSuccess: (made) => void navigate({ to: "/task/$id", params: { id: made.task_id } }) })}>
              Ask for approval
            </Button>
          )}
        <Button onClick={close}>Cancel</Button>
      </div>
      <p className={styles.note}>Nothing changes until you approve the card with your passphrase.</p>
    </section>
  );
}
