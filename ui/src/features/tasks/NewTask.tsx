// A goal, or a playbook, in a folder.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { agentOf } from "~/screen/agent";
import { Screen } from "~/screen/Screen";
import { brief, capital, channelName, count, plain, profileName, said } from "~/screen/words";
import { useAct, useAsk, useHost } from "~/ipc/client";
import { PROFILE, STEP_KIND } from "~/ipc/generated/words";
import type { Playbook } from "~/ipc/generated/playbooks";
import type { Part, Reasoner, Task } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { Select, TextArea, TextField } from "~/primitives/Field";
import { Icon } from "~/primitives/Icon";
import { Answer, Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { type Attached, Attachments, pathsOf } from "./Attachments";
import { Dictate } from "~/features/enclosing/Dictate";
import { type Chain, Fallbacks, behind } from "./Fallbacks";
import { FolderField } from "./FolderField";
import { type Form, useForm } from "./form";
import { GoalField } from "./GoalField";
import { ModelChoice, proposed } from "./ModelChoice";
import { type OwnPlaybook, OwnPlaybookField } from "./OwnPlaybook";
import { PromptPicker } from "../tools/PromptPicker";
import styles from "./Tasks.module.css";

const PROFILES = [
  { value: "", label: profileName("local_edit_allowed") },
  ...PROFILE.filter((value) => value !== "local_edit_allowed" && value !== "service").map((value) => ({ value, label: profileName(value) })),
];

const MODEL = "model";
/** Open messages among which the one is looked for. */
const MESSAGES_MAX = 200;
const OWN = "own";

/** `like` is a task whose folder, goal, rules and model are taken over; `message` an open message whose words are the goal. */
export function NewTask({ folder, goal: given, like, message }: { folder?: string; goal?: string; like?: string; message?: string }) {
  const host = useHost();
  const client = useQueryClient();
  const navigate = useNavigate();
  const playbooks = useAsk("playbooks.list", {});
  // Agents that are not here are told of in the terminal (`hermit agents list`), with how they are installed.
  const agents = useAsk("guests.list", {}).data?.agents.filter((one) => one.program !== null) ?? [];
  const submit = useAct("task.submit");
  const { form, isBegun, write, propose, forget } = useForm(JSON.stringify({ folder, goal: given, like, message }), { workspace: folder ?? "", goal: given ?? "", isSet: like !== undefined });
  const { workspace, goal, isSpoken, who, model, values, profile, title, constraint, criteria, plan } = form;
  const open = useAsk("conversations.undecided", { limit: MESSAGES_MAX }, { enabled: message !== undefined });
  const words = open.data?.rows.find((one) => one.message_id === message) ?? null;
  // With the last of the words the mark that some were spoken is gone.
  const setGoal = (to: string, spoken = isSpoken) => write({ goal: to, isSpoken: spoken && to.trim() !== "" });
  const [attached, setAttached] = useState<readonly Attached[]>([]);
  const [unsent, setUnsent] = useState<{ message: string } | null>(null);
  const [sending, setSending] = useState(false);
  const [elsewhere, setElsewhere] = useState(false);
  const chain: Chain = { models: form.chain, elsewhere };
  const steps = who === MODEL ? plan.split("\n").map((line) => line.trim()).filter(Boolean) : [];
  const [mine, setMine] = useState<OwnPlaybook | null>(null);
  const chosen = who === OWN ? mine?.playbook : playbooks.data?.playbooks.find((one) => `playbook:${one.name}` === who);
  // A playbook does what is said of it, whatever the goal says.
  const isPlaybook = chosen !== undefined || who === OWN;
  const agent = agents.find((one) => `guest:${one.name}` === who);
  const models = useAsk("models.find", { ports: [] }, { enabled: who === MODEL, staleTime: 30_000 });
  const address = model ?? (models.data === undefined ? null : proposed(models.data));

  const before = useAsk("task.show", { task: like ?? "" }, { enabled: like !== undefined });
  const example = before.data;
  useEffect(() => {
    if (example !== undefined) propose(takenOver(example));
  }, [example]);

  // What the last task in the folder was set to is proposed; what a person has set here stays.
  const folders = useAsk("workspaces.list", {});
  const lastId = folders.data?.workspaces.find((one) => said(one.folder) === workspace.trim())?.last_task_id ?? null;
  const last = useAsk("task.show", { task: lastId ?? "" }, { enabled: lastId !== null && !form.isSet }).data;
  const usual = form.isSet || last === undefined || last.row.task_id !== lastId || isOfOthers(last) ? null : last;
  useEffect(() => {
    if (usual !== null) propose({ profile: profileOf(usual), constraint: usual.constraints.join("\n"), model: agentOf(usual) === "Model" ? usual.reasoner : null });
  }, [usual]);

  const because = workspace.trim() === "" ? "Name a folder first"
    : who === OWN && chosen === undefined ? "Choose the file of your playbook"
    : message !== undefined && words === null ? (open.data === undefined ? "The message is not read yet" : "The message is no longer open")
    : message === undefined && chosen === undefined && goal.trim() === "" && steps.length === 0 ? "Write a goal"
    : agent !== undefined ? (agent.has_secret ? null : `Set its key first: hermit secret set ${agent.secret} --host ${agent.hosts[0] ?? ""}`)
    : chosen === undefined && address === null ? "Choose a model, or a playbook"
    : chosen === undefined && address?.trim() === "" ? "Give the model's address" : null;

  const send = async () => {
    const reasoner: Reasoner = chosen !== undefined
      ? { kind: "playbook", name: chosen.name, ...(who === OWN && mine !== null ? { text: mine.text } : {}), parameters: Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== "" && chosen.parameters.some((p) => p.name === name))) }
      : agent !== undefined ? { kind: "guest", agent: agent.name }
      : { kind: "address", address: address?.trim() ?? "" };
    const fallbacks = reasoner.kind === "address" ? behind(chain, reasoner.address) : [];
    setUnsent(null);
    setSending(true);
    try {
      const attachments = await pathsOf(attached, host.files);
      const made = await submit.mutateAsync({
        ...(message === undefined ? { goal: isPlaybook ? "" : goal.trim() } : { message }), workspace: workspace.trim(), reasoner, attachments, ...(steps.length === 0 ? {} : { steps: steps.map(stepOf) }),
        profile: profile === "" ? null : profile, title: title.trim() === "" ? null : title.trim(),
        constraints: constraint.split("\n").map((rule) => rule.trim()).filter(Boolean),
        done_when: criteria.split("\n").map((line) => line.trim()).filter(Boolean), idempotency_key: form.key, channel: "app", ask_at_limit: host.kind === "tauri", ...(isSpoken && !isPlaybook ? { spoken: true } : {}), ...(fallbacks.length === 0 ? {} : { fallbacks, fallback_remote: chain.elsewhere }),
      });
      // A model that was used is one to choose from now on.
      void client.invalidateQueries({ queryKey: ["models.find"] });
      await navigate({ to: "/task/$id", params: { id: made.task_id } });
      forget();
    } catch (thrown) {
      setUnsent(thrown instanceof Error ? thrown : { message: String(thrown) });
    } finally {
      setSending(false);
    }
  };
  return (
    <Screen title="New task" sub={<span>You see every change before it is made.</span>}>
      <form className={styles.new} onSubmit={(event) => { event.preventDefault(); if (because === null && !sending) void send(); }}>
        <section>
          <h2>Where</h2>
          <FolderField label="Folder to work in" value={workspace} hint="On the machine that runs Hermit. Nothing outside it is touched." onChange={(to) => write({ workspace: to })} />
        </section>
        <section>
          <h2>What</h2>
          {message !== undefined && (
            <Answer asked={open} what="the message" lines={2}>
              {() => words === null ? <p className={styles.about}>The message is no longer open: somebody said what it is about, or it was erased.</p> : (
                <>
                  <p><Words of={said(words.text)} /></p>
                  <p className={styles.about}>
                    The words of a message that came {channelName(words.channel)}. They stay the words of whoever sent them{words.trust === "untrusted" && ", whom nobody confirms: policy treats what follows from them as untrusted"}.
                  </p>
                </>
              )}
            </Answer>
          )}
          {message === undefined && isPlaybook && (
            <p className={styles.about}>A playbook reads no goal: it does what is said of it below.{goal.trim() !== "" && " The goal that you wrote is not sent; choose a model to use it."}</p>
          )}
          {message === undefined && !isPlaybook && (
            <>
              <GoalField label="Goal" folder={workspace} value={goal} onChange={(to) => setGoal(to)} />
              {example !== undefined && isOfOthers(example) && <p className={styles.about}>The goal and rules of that task are not taken over: {example.row.origin === "agent" ? "the agent of another task" : "another program or a sender whom nobody confirms"} wrote them. Write your own.</p>}
              <div className={styles.dictate}>
                <Dictate text={goal} onSpoken={(spoken) => setGoal(spoken, true)} />
                {isSpoken && <p className={styles.about}>Marked as spoken: read it through before you begin.</p>}
              </div>
              <PromptPicker text={goal} folder={workspace} draft={(prompted) => setGoal(prompted, false)} />
            </>
          )}
        </section>
        <section>
          <h2 id="who">{agents.length > 0 ? "Model, playbook or agent" : "Model or playbook"}</h2>
          <Answer asked={playbooks} what="playbooks" lines={3}>
            {(found) => (
              <div className={styles.choices} role="radiogroup" aria-labelledby="who">
                <Choice icon="chip" on={who === MODEL} title="Model" about="Works towards your goal" choose={() => write({ who: MODEL })} />
                {found.playbooks.map((one) => (
                  <Choice key={one.name} icon="task" on={who === `playbook:${one.name}`} title={capital(one.name)} about={one.about} choose={() => write({ who: `playbook:${one.name}` })} />
                ))}
                {agents.map((one) => (
                  <Choice key={one.name} icon="chip" on={who === `guest:${one.name}`} title={one.title} about="Another program's agent, on a copy of the folder" choose={() => write({ who: `guest:${one.name}` })} />
                ))}
                <Choice icon="file" on={who === OWN} title="Your own playbook" about="From a file" choose={() => write({ who: OWN })} />
              </div>
            )}
          </Answer>
          {who === OWN && <OwnPlaybookField value={mine} onChange={setMine} />}
          {agent !== undefined && <p className={styles.about}>It works on a copy of the folder and reaches {agent.hosts.join(", ")} and nothing else. You are asked before it begins, and shown all that it changed before any of it is in the folder.</p>}
          {chosen === undefined && who !== OWN && agent === undefined && <ModelChoice value={address} onChange={(to) => write({ model: to, isSet: true })} />}
          {chosen !== undefined && <p className={styles.about}>{chosen.description}</p>}
          {chosen !== undefined && <Parameters of={chosen} values={values} set={(name, value) => write({ values: { ...values, [name]: value } })} />}
        </section>
        <section>
          <h2>More</h2>
          {usual !== null && <p className={styles.about}>As in the last task here: <Words of={brief(said(usual.row.title))} />.</p>}
          <div className={styles.pair}>
            <Select label="Policy" options={PROFILES} value={profile} onChange={(event) => write({ profile: event.target.value, isSet: true })} />
            <TextField label="Title (optional)" value={title} onChange={(event) => write({ title: event.target.value })} />
          </div>
          <TextField label="Rules it must follow (optional)" placeholder="Do not touch the folder archive" value={constraint} onChange={(event) => write({ constraint: event.target.value, isSet: true })} />
          <TextArea label="Must hold at the end (optional): one a line" rows={2} value={criteria} placeholder="file: report.md" hint="Checked when it says that it is done: file: PATH, no file: PATH, text: PATH: WORDS, command: WORDS. Other words you judge." onChange={(event) => write({ criteria: event.target.value })} />
          {who === MODEL && address !== null && address !== "" && <Fallbacks first={address} value={chain} onChange={(next) => { setElsewhere(next.elsewhere); write({ chain: next.models }); }} />}
          {who === MODEL && <TextArea label="Plan (optional): one step a line" rows={3} value={plan} placeholder={"inspect: the notes\nawait approval: the summary is right\nedit: write it down"} hint={`Each step begins when the one before it has succeeded. A kind before a colon allows a step no more than that: ${KINDS}.`} onChange={(event) => write({ plan: event.target.value })} />}
          {message === undefined && <Attachments value={attached} onChange={(files) => { setAttached(files); write({ attached: files.length }); }} />}
          {message === undefined && form.attached > attached.length && <p className={styles.about} role="status">The page was loaded again, without the {count(form.attached, "file that was", "files that were")} attached. Attach {form.attached === 1 ? "it" : "them"} again.</p>}
        </section>
        <div className={styles.send}>
          <Button look="person" loose type="submit" because={sending ? "Starting" : because}>Begin</Button>
          {because !== null && <p>{because}.</p>}
          {isBegun && !sending && <Button look="link" onClick={() => { forget(); setAttached([]); setMine(null); setElsewhere(false); setUnsent(null); }}>Discard what I wrote</Button>}
          {unsent !== null && <Failed error={unsent} />}
        </div>
      </form>
    </Screen>
  );
}

/** Kinds that a person gives to a step, as they are written. */
const PLANNED = STEP_KIND.filter((kind) => !["pursue", "rollback", "observe", "ingest", "promote"].includes(kind));
const KINDS = PLANNED.map((kind) => plain(kind)).join(", ");

/** A line of a plan: what the step is for, where it begins with a kind and a colon, and its words. */
function stepOf(line: string): Part {
  const [, written = "", rest = ""] = /^([a-z_ ]+):(.*)$/i.exec(line) ?? [];
  const kind = PLANNED.find((one) => one === written.trim().toLowerCase().replaceAll(" ", "_"));
  return kind === undefined || rest.trim() === "" ? { objective: line } : { objective: rest.trim(), kind };
}

/** The policy of a task as the choice spells it. */
const profileOf = (task: Task) => (task.row.profile === "local_edit_allowed" || task.row.profile === "service" ? "" : task.row.profile);

/** What another task was asked, so that it can be asked again or changed. */
function takenOver(task: Task): Partial<Form> {
  const isOwn = !isOfOthers(task);
  const goal = { goal: isOwn ? said(task.goal) : "", isSpoken: false };
  const [kind, name] = task.reasoner.split(":", 2);
  return {
    workspace: said(task.workspace),
    ...(kind === "playbook" && name !== undefined ? { who: `playbook:${name}` } : kind === "guest" && name !== undefined ? { ...goal, who: `guest:${name}` } : { ...goal, model: task.reasoner }),
    ...(isOwn ? { profile: profileOf(task), constraint: task.constraints.join("\n") } : {}),
  };
}

/** Whether the words of a task are somebody else's: sent again from here they would count as the person's own. */
const isOfOthers = (task: Task) => task.row.origin === "program" || task.row.origin === "agent";

function Choice({ icon, on, title, about, choose }: { icon: "task" | "chip" | "file"; on: boolean; title: string; about: string; choose: () => void }) {
  return (
    <button type="button" role="radio" aria-checked={on} className={styles.choice} onClick={choose}>
      <Icon name={icon} />
      <span><b>{title}</b><small>{about}</small></span>
    </button>
  );
}

function Parameters({ of, values, set }: { of: Playbook; values: Record<string, string>; set: (name: string, value: string) => void }) {
  if (of.parameters.length === 0) return null;
  return (
    <div className={styles.pair}>
      {of.parameters.map((one) => (
        <TextField
          key={one.name} label={capital(one.name.replaceAll("_", " "))} hint={one.about} value={values[one.name] ?? ""} placeholder={one.standard ?? ""} required={one.standard === null}
          onChange={(event) => set(one.name, event.target.value)}
        />
      ))}
    </div>
  );
}
