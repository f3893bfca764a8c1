// What policy would say to an act that nobody proposed, and why it said what it said to one that was.
import { useState } from "react";
import { capital, plain, profileName, verdict } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import { PROFILE, type Profile } from "~/ipc/generated/words";
import { oneOf } from "~/ipc/words";
import type { Act, Judged } from "~/ipc/generated/policy";
import { Button, Segmented } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Check, Select, TextField } from "~/primitives/Field";
import { Answer, Empty } from "~/primitives/States";
import { RiskTag, StateTag } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import styles from "./Policy.module.css";

type Kind = Act["kind"];
const KINDS: readonly { value: Kind; label: string }[] = [
  { value: "read", label: "Read" }, { value: "write", label: "Write" }, { value: "delete", label: "Delete" },
  { value: "move", label: "Move" }, { value: "command", label: "Command" }, { value: "fetch", label: "Server" },
];

/** Words of a command as a shell would split them, quotes and all; nothing is run. */
export function words(line: string): string[] {
  const found: string[] = [];
  for (const part of line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)) found.push(part[1] ?? part[2] ?? part[3] ?? "");
  return found;
}

export function TryAct() {
  const profiles = useAsk("policy.profiles", {});
  const [profile, setProfile] = useState<Profile>("local_edit_allowed");
  const [kind, setKind] = useState<Kind>("write");
  const [path, setPath] = useState("notes.txt");
  const [to, setTo] = useState("archive/notes.txt");
  const [line, setLine] = useState("cargo test");
  const [url, setUrl] = useState("https://example.org/");
  const [untrusted, setUntrusted] = useState(false);
  const [flag, setFlag] = useState(false);
  const [about, setAbout] = useState("");
  const [explained, setExplained] = useState<string | null>(null);
  const act: Act = kind === "command" ? { kind, argv: words(line), network: flag }
    : kind === "write" ? { kind, path, replaces: flag }
    : kind === "move" ? { kind, from: path, to }
    : kind === "fetch" ? { kind, url, method: flag ? "POST" : "GET" }
    : { kind, path };
  const isWhole = kind === "command" ? words(line).length > 0 : kind === "fetch" ? URL.canParse(url) : path.trim() !== "" && (kind !== "move" || to.trim() !== "");
  const judged = useAsk("policy.test", { profile, act, untrusted }, { enabled: isWhole, keep: true });
  const why = useAsk("policy.explain", { about: explained ?? "" }, { enabled: explained !== null });
  return (
    <div className={styles.trying}>
      <section aria-label="What would policy say?">
        <h2>What would policy say?</h2>
        <p className={styles.note}>Nothing runs and nothing is recorded. This is the answer the action would get.</p>
        <Select label="Profile" value={profile} onChange={(event) => setProfile(oneOf(PROFILE, event.target.value) ?? profile)}
          options={(profiles.data?.rows ?? [{ profile }]).map((one) => ({ value: one.profile, label: profileName(one.profile) }))} />
        <Segmented<Kind> label="Action" value={kind} options={KINDS} onChange={setKind} />
        {kind === "command"
          ? <TextField label="Command" mono value={line} onChange={(event) => setLine(event.target.value)} />
          : kind === "fetch"
          ? <TextField label="Address" mono value={url} onChange={(event) => setUrl(event.target.value)} />
          : <TextField label={kind === "move" ? "From" : "Path, from the folder"} mono value={path} onChange={(event) => setPath(event.target.value)} />}
        {kind === "move" && <TextField label="To" mono value={to} onChange={(event) => setTo(event.target.value)} />}
        {kind === "command" && <Check label="Uses the network" checked={flag} onChange={(event) => setFlag(event.target.checked)} />}
        {kind === "fetch" && <Check label="Sends data" checked={flag} onChange={(event) => setFlag(event.target.checked)} />}
        {kind === "write" && <Check label="Replaces an existing file" checked={flag} onChange={(event) => setFlag(event.target.checked)} />}
        <Check label="The model had read untrusted files" checked={untrusted} onChange={(event) => setUntrusted(event.target.checked)} />
        {isWhole
          ? <Answer asked={judged} what="the answer" lines={4}>{(answer) => <Said judged={answer} />}</Answer>
          : <p className={styles.note}>Describe the action above.</p>}
      </section>
      <section aria-label="Why did it say that?">
        <h2>Why did it say that?</h2>
        <p className={styles.note}>Name an approval, a receipt or an action by its identifier, or by the end of it.</p>
        <TextField label="Identifier" mono placeholder="apr_…, rcp_…, act_…" value={about} onChange={(event) => setAbout(event.target.value)} />
        <div><Button because={about.trim() === "" ? "Name one first" : null} onClick={() => setExplained(about.trim())}>Explain</Button></div>
        {explained === null
          ? <Empty title="Nothing to explain yet" small />
          : <Answer asked={why} what="the reasons" lines={4}>{(answer) => <Said judged={answer} />}</Answer>}
      </section>
    </div>
  );
}

function Said({ judged }: { judged: Judged }) {
  const said = verdict(judged.verdict);
  return (
    <div className={styles.told} role="status">
      <div className={styles.if}><StateTag tone={said.tone} mark={said.mark}>{said.word}</StateTag><RiskTag risk={judged.risk} /></div>
      <b><Words of={capital(judged.summary)} /></b>
      <Facts rows={[
        ["Class", judged.classes.map(plain).join(", ")],
        ["Profile", profileName(judged.profile)],
        ["Risk", <Words key="risk" of={capital(judged.risk_summary)} />],
        ["Reasons", <Words key="reasons" of={capital(judged.reasons)} />],
      ]} />
      <ul>{judged.rules.map((rule) => <li key={rule.name}><code>{rule.name}</code><span>{rule.effect}: <Words of={rule.reason} /></span></li>)}</ul>
    </div>
  );
}
