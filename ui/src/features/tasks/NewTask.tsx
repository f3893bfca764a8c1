// A goal, or a playbook, in a folder.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Screen } from "~/screen/Screen";
import { capital, profileName } from "~/screen/words";
import { useAct, useAsk, useHost } from "~/ipc/client";
import { PROFILE } from "~/ipc/generated/words";
import type { Playbook } from "~/ipc/generated/playbooks";
import type { Reasoner } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { Select, TextArea, TextField } from "~/primitives/Field";
import { Icon } from "~/primitives/Icon";
import { Answer, Failed } from "~/primitives/States";
import styles from "./Tasks.module.css";

const PROFILES = [
  { value: "", label: profileName("local_edit_allowed") },
  ...PROFILE.filter((value) => value !== "local_edit_allowed" && value !== "service").map((value) => ({ value, label: profileName(value) })),
];

const STANDARD = "standard";
const ADDRESS = "address";

export function NewTask({ folder, goal: given }: { folder?: string; goal?: string }) {
  const host = useHost();
  const navigate = useNavigate();
  const playbooks = useAsk("playbooks.list", {});
  const submit = useAct("task.submit");
  const [workspace, setWorkspace] = useState(folder ?? "");
  const [goal, setGoal] = useState(given ?? "");
  // A goal in words is for a model; a playbook knows its own.
  const [who, setWho] = useState<string>(given === undefined ? "playbook:tidy" : STANDARD);
  const [address, setAddress] = useState("");
  const [values, setValues] = useState<Record<string, string>>({});
  const [profile, setProfile] = useState("");
  const [title, setTitle] = useState("");
  const [constraint, setConstraint] = useState("");
  const [key] = useState(() => `window:${crypto.randomUUID()}`);
  const chosen = playbooks.data?.playbooks.find((one) => `playbook:${one.name}` === who);

  const because = workspace.trim() === ""
    ? "Name a folder first"
    : chosen === undefined && goal.trim() === "" ? "Write a goal"
    : who === ADDRESS && address.trim() === "" ? "Give the model's address" : null;

  const send = () => {
    const reasoner: Reasoner = chosen !== undefined
      ? { kind: "playbook", name: chosen.name, parameters: Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== "" && chosen.parameters.some((p) => p.name === name))) }
      : who === ADDRESS ? { kind: "address", address: address.trim() } : { kind: "standard" };
    submit.mutate(
      {
        goal: goal.trim(), workspace: workspace.trim(), reasoner,
        profile: profile === "" ? null : profile, title: title.trim() === "" ? null : title.trim(),
        constraints: constraint.trim() === "" ? [] : [constraint.trim()],
        idempotency_key: key, channel: "app",
      },
      { onSuccess: (made) => void navigate({ to: "/task/$id", params: { id: made.task_id } }) },
    );
  };
  return (
    <Screen title="New task" sub={<span>You see every change before it is made.</span>}>
      <form className={styles.new} onSubmit={(event) => { event.preventDefault(); if (because === null) send(); }}>
        <section>
          <h2>Where</h2>
          <div className={host.pick === undefined ? undefined : styles.withbutton}>
            <TextField
              label="Folder to work in" mono required value={workspace} placeholder="/home/you/Downloads"
              hint="An absolute path on the machine that runs Hermit. Nothing outside it is touched."
              onChange={(event) => setWorkspace(event.target.value)}
            />
            {host.pick !== undefined && <Button icon="folder" onClick={() => void host.pick?.("folder").then((path) => path !== null && setWorkspace(path))}>Choose</Button>}
          </div>
        </section>
        <section>
          <h2 id="who">Model or playbook</h2>
          <Answer asked={playbooks} what="playbooks" lines={3}>
            {(found) => (
              <div className={styles.choices} role="radiogroup" aria-labelledby="who">
                {found.playbooks.map((one) => (
                  <Choice key={one.name} icon="task" on={who === `playbook:${one.name}`} title={capital(one.name)} about={one.about} choose={() => setWho(`playbook:${one.name}`)} />
                ))}
                <Choice icon="chip" on={who === STANDARD} title="Default model" about="The one set in Settings" choose={() => setWho(STANDARD)} />
                <Choice icon="network" on={who === ADDRESS} title="A model by its address" about="llama.cpp, Ollama and others" choose={() => setWho(ADDRESS)} />
              </div>
            )}
          </Answer>
          {who === ADDRESS && <TextField label="Address" mono value={address} placeholder="openai:http://127.0.0.1:8080/v1#qwen" onChange={(event) => setAddress(event.target.value)} />}
          {chosen !== undefined && <Parameters of={chosen} values={values} set={(name, value) => setValues({ ...values, [name]: value })} />}
        </section>
        <section>
          <h2>Goal</h2>
          <TextArea
            label={chosen === undefined ? "Goal" : "Goal in your words (optional for a playbook)"} rows={3} value={goal}
            placeholder={chosen === undefined ? "Summarise what changed in these notes into SUMMARY.md" : ""}
            onChange={(event) => setGoal(event.target.value)}
          />
          <div className={styles.pair}>
            <Select label="Policy" options={PROFILES} value={profile} onChange={(event) => setProfile(event.target.value)} />
            <TextField label="Title" value={title} onChange={(event) => setTitle(event.target.value)} />
          </div>
          <TextField label="Rules it must follow" value={constraint} onChange={(event) => setConstraint(event.target.value)} />
        </section>
        <div className={styles.send}>
          <Button look="person" loose type="submit" because={submit.isPending ? "Starting" : because}>Begin</Button>
          {submit.error !== null && <Failed error={submit.error} />}
        </div>
      </form>
    </Screen>
  );
}

function Choice({ icon, on, title, about, choose }: { icon: "task" | "chip" | "network"; on: boolean; title: string; about: string; choose: () => void }) {
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
          key={one.name} label={capital(one.name)} hint={one.about} value={values[one.name] ?? ""} placeholder={one.standard ?? ""} required={one.standard === null}
          onChange={(event) => set(one.name, event.target.value)}
        />
      ))}
    </div>
  );
}
