// The first two minutes. What is done is told by the store, not by this page: each step looks whether it is true.
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { Copyable } from "~/primitives/Copyable";
import { MakeKeysHere } from "~/features/keys/PageKeys";
import { FolderField } from "~/features/tasks/FolderField";
import { capital, count } from "~/screen/words";
import { useAct, useAsk, useHost } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Icon } from "~/primitives/Icon";
import { Arcs, Shell } from "~/primitives/Shell";
import { Answer, Failed } from "~/primitives/States";
import styles from "./FirstRun.module.css";

const PATH: readonly { at: string; what: string; you?: true }[] = [
  { at: "0:00", what: "Read and hash the folder" },
  { at: "0:25", what: "Propose what to change" },
  { at: "0:40", what: "You see the diff and decide", you: true },
  { at: "1:10", what: "Carry it out, with a receipt" },
  { at: "1:30", what: "You undo one part, to try it", you: true },
  { at: "2:00", what: "A proof you can send" },
];

/** `dropped`: a folder that was let fall onto this page. */
export function FirstRun({ dropped }: { dropped: string | undefined }) {
  const navigate = useNavigate();
  const host = useHost();
  const status = useAsk("host.status", {});
  const keys = useAsk("keys.list", {});
  const playbooks = useAsk("playbooks.list", {});
  const submit = useAct("task.submit");
  const [folder, setFolder] = useState(dropped ?? "");
  useEffect(() => { if (dropped !== undefined) setFolder(dropped); }, [dropped]);
  const [playbook, setPlaybook] = useState("tidy");
  const hasKeys = keys.data?.keys.some((key) => key.purpose === "approval") ?? false;
  const step = status.data === undefined ? 1 : !hasKeys ? 2 : folder.trim() === "" ? 3 : 4;
  const chosen = playbooks.data?.playbooks.find((one) => one.name === playbook);
  const because = folder.trim() === "" ? "Name a folder first" : submit.isPending ? "Starting" : null;
  const begin = () => submit.mutate(
    { workspace: folder.trim(), reasoner: { kind: "playbook", name: playbook }, channel: "app", idempotency_key: `first:${playbook}:${folder.trim()}:${Math.floor(Date.now() / 60_000)}` },
    { onSuccess: (made) => void navigate({ to: "/task/$id", params: { id: made.task_id } }) },
  );
  return (
    <div className={styles.first}>
      <div className={styles.left}>
        <div className={styles.brand}><Shell />Hermit</div>
        <div className={styles.arcs}><Arcs size={176} person /></div>
        <h1>Agents do the work.<br />You decide.</h1>
        <p className={styles.lead}>You see every change before it is made, and you can undo it and prove it.</p>
        <h2>The next two minutes</h2>
        <ol className={styles.path}>
          {PATH.map((one) => (
            <li key={one.at} data-you={one.you}><span>{one.at}</span><i /><span>{one.what}</span></li>
          ))}
        </ol>
        <p className={styles.quiet}>With a playbook, nothing leaves this computer.</p>
      </div>
      <main className={styles.right} id="main">
        <header><h2>Set up</h2><span>Step {step} of 4</span><Link to="/">Skip for now</Link></header>
        <Section number={1} state={status.data !== undefined ? "done" : "now"} title="A store">
          <Answer asked={status} what="the store" lines={1}>
            {(at) => <p><code>{at.dir}</code>, version {at.version}</p>}
          </Answer>
        </Section>
        <Section number={2} state={hasKeys ? "done" : step === 2 ? "now" : "later"} title="Keys and your approval passphrase">
          {hasKeys ? (
            <p>{count(keys.data?.keys.length ?? 0, "key")} in force. Yours needs the approval passphrase that only you know.</p>
          ) : (
            <>
              <p>With your approval passphrase you sign what you approve. No agent, web page or plugin can do that for you.</p>
              {host.openKeys !== undefined ? <div><Button icon="key" look={step === 2 ? "person" : "plain"} onClick={() => void host.openKeys?.()}>Make your keys</Button></div>
                : host.keys !== undefined ? <MakeKeysHere />
                : <Copyable text="hermit keys init" />}
            </>
          )}
        </Section>
        <Section number={3} state={folder.trim() !== "" ? "done" : step >= 3 ? "now" : "later"} title="Folder">
          <FolderField label="A folder to try it on" value={folder} onChange={setFolder} />
        </Section>
        <Section number={4} state={step === 4 ? "now" : "later"} title="Your first result">
          <Answer asked={playbooks} what="playbooks" lines={2}>
            {(found) => (
              <div className={styles.choices} role="radiogroup" aria-label="What to do">
                {found.playbooks.map((one) => (
                  <button key={one.name} type="button" role="radio" aria-checked={one.name === playbook} onClick={() => setPlaybook(one.name)}>
                    <Icon name="task" /><span><b>{capital(one.name)}</b><small>{one.about}</small></span>
                  </button>
                ))}
              </div>
            )}
          </Answer>
          {submit.error !== null && <Failed error={submit.error} />}
        </Section>
        <footer>
          <span>{chosen === undefined ? "" : `${capital(chosen.name)} proposes, you are asked before anything changes.`}</span>
          <Button loose onClick={() => void navigate({ to: "/tasks/new", search: { folder: folder.trim() } })}>A goal of your own</Button>
          <Button look={step === 2 ? "plain" : "person"} loose because={because} onClick={begin}>Begin</Button>
        </footer>
      </main>
    </div>
  );
}

function Section({ number, state, title, children }: { number: number; state: "done" | "now" | "later"; title: string; children: ReactNode }) {
  return (
    <section className={styles.section} data-state={state} aria-label={title}>
      <span className={styles.number}>{state === "done" ? <Icon name="ok" size={12} /> : number}</span>
      <div><h3>{title}</h3>{children}</div>
    </section>
  );
}
