// Skills of a project and the person's own: what each says, how it stands, and asking to trust one.
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useFirst } from "~/screen/first";
import { useAct, useAsk } from "~/ipc/client";
import type { SkillRow, SkillShown } from "~/ipc/generated/skills";
import type { SkillPlace, SkillState } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { Facts } from "~/primitives/Facts";
import { Select } from "~/primitives/Field";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { capital, count, said, trust as trusted } from "~/screen/words";
import styles from "./Tools.module.css";

const LOOK: Readonly<Record<SkillState, { tone: "done" | "waiting" | "failed" | "mute"; mark: "done" | "waiting" | "deny" }>> = {
  trusted: { tone: "done", mark: "done" }, untrusted: { tone: "waiting", mark: "waiting" }, changed: { tone: "waiting", mark: "waiting" },
  shadowed: { tone: "mute", mark: "deny" }, broken: { tone: "failed", mark: "deny" },
};

const WHERE: Readonly<Record<SkillPlace, string>> = {
  project_hermit: ".hermit/skills of the project", project_agents: ".agents/skills of the project", project_claude: ".claude/skills of the project",
  own_hermit: "your own, with Hermit", own_agents: "your own, ~/.agents/skills", own_claude: "your own, ~/.claude/skills",
};

/** A skill by what tells it from others of its name. */
const keyOf = (row: SkillRow) => `${row.name} ${row.place}`;

export function Skills({ of }: { of?: string | undefined }) {
  const folders = useAsk("workspaces.list", {});
  const named = (folders.data?.workspaces ?? []).map((one) => said(one.folder)).filter((one) => one !== "");
  const [chosenFolder, setFolder] = useState<string | null>(null);
  const first = useFirst(named, (one) => one, null);
  const folder = chosenFolder ?? first ?? "";
  const asked = useAsk("skills.list", { folder: folder === "" ? null : folder }, { enabled: !folders.isPending });
  const chosen = useFirst(asked.data?.skills ?? [], keyOf, of);
  return (
    <Answer asked={asked} what="skills">
      {(found) => {
        return (
          <div className={styles.screen}>
            <nav aria-label="Skills" className={styles.servers}>
              <Select label="Project" value={folder} onChange={(event) => setFolder(event.target.value)} options={[{ value: "", label: "None: only your own" }, ...named.map((one) => ({ value: one, label: one }))]} />
              <ul>
                {found.skills.map((one) => (
                  <li key={keyOf(one)}>
                    <Link to="/tools" search={{ tab: "skills", of: keyOf(one) }} aria-current={one === chosen ? "true" : undefined}>
                      <b><Words of={one.name} /></b><State of={one} /><span>{WHERE[one.place]}</span>
                    </Link>
                  </li>
                ))}
              </ul>
              {found.left_out.map((why) => <p key={why} className={styles.note}><Words of={capital(why)} /></p>)}
              {found.playbooks.length > 0 && (
                <details className={styles.adding}>
                  <summary>{capital(count(found.playbooks.length, "playbook"))}</summary>
                  {found.playbooks.map((one) => <p key={one.name}><b><Words of={one.name} /></b> <Words of={one.about} /></p>)}
                </details>
              )}
              {folder !== "" && <Drafts key={folder} folder={folder} />}
              <Adding />
            </nav>
            {chosen === undefined
              ? <Empty title="No skills here">A skill is a folder with a SKILL.md: instructions that a model follows once you trust them.</Empty>
              : <One key={`${keyOf(chosen)} ${chosen.sha256 ?? ""}`} row={chosen} folder={folder === "" ? null : folder} />}
          </div>
        );
      }}
    </Answer>
  );
}

function State({ of }: { of: SkillRow }) {
  const look = lookUp(LOOK, of.state, LOOK.broken);
  return <StateTag tone={look.tone} mark={look.mark}>{capital(of.state)}</StateTag>;
}

/** Skills that what recurs in a project would make: read when somebody opens them, written when a person approves the card. */
function Drafts({ folder }: { folder: string }) {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const asked = useAsk("skills.drafts", { folder }, { enabled: isOpen });
  const adopt = useAct("skills.adopt");
  return (
    <details className={styles.adding} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Drafted from what recurs</summary>
      {isOpen && (
        <Answer asked={asked} what="drafted skills">
          {(found) => found.rows.length === 0
            ? <p>Nothing recurs here yet. A repair or an answer that you remember makes a draft when three tasks showed it.</p>
            : (
              <ul aria-label="Drafted skills">
                {found.rows.map((one) => (
                  <li key={one.name}>
                    <p><b><Words of={one.name} /></b> <span>Trust: {trusted(one.trust)}. From {count(one.tasks.length, "task")}.</span></p>
                    <pre aria-label={one.name}><Words of={one.text} /></pre>
                    <Button
                      look="person" because={adopt.isPending ? "Asking" : null}
                      onClick={() => adopt.mutate({ name: one.name, folder, channel: "app" }, { onSuccess: (made) => void navigate({ to: "/task/$id", params: { id: made.task_id } }) })}
                    >
                      Ask me to write it into the project
                    </Button>
                  </li>
                ))}
              </ul>
            )}
        </Answer>
      )}
      {adopt.error !== null && <Failed error={adopt.error} />}
    </details>
  );
}

/** Where a skill is put so that it is found. */
function Adding() {
  return (
    <details className={styles.adding}>
      <summary>Add a skill</summary>
      <p>Put a folder with a SKILL.md into one of these folders of a project:</p>
      <Copyable text=".agents/skills" />
      <Copyable text=".claude/skills" />
      <p>No model is told of it before you trust it. Your approval is for exactly the bytes that you saw.</p>
    </details>
  );
}

function One({ row, folder }: { row: SkillRow; folder: string | null }) {
  const navigate = useNavigate();
  const [file, setFile] = useState<string | null>(null);
  const asked = useAsk("skills.show", { name: row.name, sha256: row.sha256, folder, file }, { enabled: row.sha256 !== null, keep: true });
  const trust = useAct("skills.trust");
  const untrust = useAct("skills.untrust");
  const failed = trust.error ?? untrust.error;
  const isOpen = row.state === "untrusted" || row.state === "changed";
  return (
    <section className={styles.one} aria-label={row.name}>
      <header>
        <h2><Words of={row.name} /></h2><State of={row} />
        <span className={styles.space} />
        {isOpen && (
          <Button
            look="person" because={trust.isPending ? "Asking" : null}
            onClick={() => trust.mutate({ name: row.name, sha256: row.sha256, folder, channel: "app" }, { onSuccess: (made) => void navigate({ to: "/task/$id", params: { id: made.task_id } }) })}
          >
            Ask me to trust it
          </Button>
        )}
        {row.state === "trusted" && <Button because={untrust.isPending ? "Taking it back" : null} onClick={() => untrust.mutate({ name: row.name, sha256: row.sha256, reason: "taken back on the page" })}>Trust it no more</Button>}
      </header>
      {failed !== null && <Failed error={failed} />}
      {row.why !== null && <p className={styles.why} role="status"><Words of={capital(row.why)} />.</p>}
      {isOpen && <p className={styles.why}>No model is told of it. Nothing changes until you approve the card with your passphrase.</p>}
      {row.notes.map((note) => <p key={note} className={styles.note}><Words of={capital(note)} /></p>)}
      {row.sha256 !== null && <Answer asked={asked} what="the skill" lines={6}>{(shown) => <Whole shown={shown} file={file} choose={setFile} />}</Answer>}
    </section>
  );
}

function Whole({ shown, file, choose }: { shown: SkillShown; file: string | null; choose: (file: string | null) => void }) {
  const { skill } = shown;
  return (
    <>
      {skill.description !== null && <p className={styles.words}><Words of={skill.description} /></p>}
      <Facts ruled rows={[
        ["Folder", <Words key="path" of={skill.path} />],
        ["All its bytes", skill.sha256 === null ? "" : <Hash key="sha256" of={skill.sha256} what="skill" />],
        shown.compatibility === null ? null : ["Needs", <Words key="needs" of={shown.compatibility} />],
        shown.license === null ? null : ["Licence", <Words key="licence" of={shown.license} />],
        shown.allowed_tools === null ? null : ["Asks for tools", <span key="tools"><code><Words of={shown.allowed_tools} /></code>, which allows nothing: each action is judged as always</span>],
        shown.versions.length === 0 ? null : ["Trusted", shown.versions.map((one) => (
          <div key={`${one.sha256} ${one.since}`} className={styles.pin}><Time at={one.since} /><Hash of={one.sha256} what="skill" />{one.untrusted !== null && <span>no more: <Words of={one.untrusted} /></span>}</div>
        ))],
      ]} />
      <h3>{capital(count(shown.files.length, "file"))}</h3>
      <ul className={styles.prompts} aria-label="Files">
        {shown.files.map((one) => (
          <li key={one.path}>
            <Button look="link" aria-pressed={file === one.path} onClick={() => choose(file === one.path || one.path === "SKILL.md" ? null : one.path)}><Words of={one.path} /></Button>
            <span>{one.byte_size} bytes</span><Hash of={one.sha256} what="file" />
          </li>
        ))}
      </ul>
      <div className={styles.tools}><pre aria-label={file ?? "SKILL.md"}><Words of={shown.file_text ?? shown.text} /></pre></div>
    </>
  );
}
