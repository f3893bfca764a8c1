// What is remembered: by project and kind, on what it rests, which tasks were told of it, and what a person says themselves.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useFirst } from "~/screen/first";
import { type Pages, useAct, useAsk, usePages } from "~/ipc/client";
import type { Memory } from "~/ipc/generated/knowledge";
import { MEMORY_TYPE, type MemoryType } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { Check, Select, TextArea, TextField } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty, Failed } from "~/primitives/States";
import { useParts } from "~/primitives/Parts";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { capital, count, plain, said, trust } from "~/screen/words";
import { Meaning } from "~/features/settings/Embeddings";
import { Contexts } from "./Contexts";
import { EvidenceList, Refute } from "./Evidence";
import { NotTold } from "./NotTold";
import { Past, TimeSlider, usePoints } from "./Past";
import { Suggested } from "./Suggested";
import styles from "./Knowledge.module.css";

const LIMIT = 200;

/** The kind of a select's value; none of any other text. */
const kindOf = (value: string): MemoryType | null => MEMORY_TYPE.find((one) => one === value) ?? null;
const KINDS = MEMORY_TYPE.map((one) => ({ value: one, label: capital(one) }));

/** A folder that tasks worked in, and its project. */
type Folder = { folder: string; project: string | null };

/** Where a record holds. */
const place = (memory: Memory) => (memory.project === null ? "Every project" : said(memory.project.name, memory.project.hash.slice(0, 12)));

export function Memories() {
  const [kind, setKind] = useState<MemoryType | null>(null);
  const [folder, setFolder] = useState("");
  const [writes, setWrites] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const [byUse, setByUse] = useState(false);
  const points = usePoints();
  const folders = useAsk("workspaces.list", {});
  const meaning = useAsk("models.embedded", {});
  const asked = usePages("knowledge.memories", { status: "any", memory_type: kind, folder: folder === "" ? null : folder, limit: LIMIT });
  const named = (folders.data?.workspaces ?? []).map((one) => ({ folder: said(one.folder), project: one.project_hash })).filter((one) => one.folder !== "");
  return (
    <div className={styles.memories}>
      <div className={styles.filters}>
        <Select label="Project" value={folder} onChange={(event) => setFolder(event.target.value)} options={[{ value: "", label: "All projects" }, ...named.map((one) => ({ value: one.folder, label: one.folder }))]} />
        <Select label="Type" value={kind ?? ""} onChange={(event) => setKind(kindOf(event.target.value))} options={[{ value: "", label: "All types" }, ...KINDS]} />
        <Select label="Order" value={byUse ? "use" : "age"} onChange={(event) => setByUse(event.target.value === "use")} options={[{ value: "age", label: "Newest first" }, { value: "use", label: "Most helpful first" }]} />
        <Button onClick={() => setWrites(true)}>Add a memory</Button>
      </div>
      {meaning.data !== undefined && meaning.data.model !== null && <div className={styles.meaning}><Meaning state={meaning.data} /></div>}
      <TimeSlider points={points} at={at} choose={setAt} />
      {writes && <Remember folders={named} done={() => setWrites(false)} />}
      {at !== null && <Past number={at} kind={kind} folder={folder} />}
      {at === null && <Suggested />}
      {at === null && <Answer
        asked={asked} what="memory" isEmpty={(page) => page.rows.length === 0}
        empty={kind === null && folder === "" ? <Empty title="No memory yet">Tasks of a project are told what is remembered for it. Add something yourself, or allow it when an agent asks.</Empty> : <Empty title="Nothing is remembered here" small />}
      >
        {(page) => <MemoryTable page={page} further={asked.further} folders={named} byUse={byUse} />}
      </Answer>}
    </div>
  );
}

/** What helped more often than it was contradicted, then what models were told of most. */
const byTheirUse = (one: Memory, other: Memory) => (other.helped - other.contradicted) - (one.helped - one.contradicted) || other.uses - one.uses;

/** What came of a memory: how often it helped, was contradicted, and was told. */
function came(memory: Memory) {
  if (memory.uses === 0 && memory.contradicted === 0) return "never";
  const parts = [memory.helped > 0 && `helped ${memory.helped}`, memory.contradicted > 0 && `contradicted ${memory.contradicted}`].filter((part) => part !== false);
  return parts.length === 0 ? `told ${count(memory.uses, "time")}` : parts.join(", ");
}

/** How often something came about, and the task in which it last did. */
function Times({ times, last }: { times: number; last: string | null }) {
  return <>{count(times, "time")}{last !== null && <>, last in <Link to="/task/$id" params={{ id: last }}>this task</Link></>}</>;
}

function MemoryTable({ page, further, folders, byUse }: { page: Pages<Memory>; further: () => void; folders: readonly Folder[]; byUse: boolean }) {
  const [at, setAt] = useState<string | null>(null);
  const rows = byUse ? [...page.rows].sort(byTheirUse) : page.rows;
  const { shown, rest } = useParts(rows, { pages: { more: page.more, further } });
  const chosen = useFirst(rows, (row) => row.memory_id, at, byUse ? "use" : "time");
  return (
    <div className={styles.split}>
      <div className={styles.rows}>
        <table className={table.table}>
          <thead><tr><th>Claim</th><th>Type</th><th>Project</th><th>State</th><th className={table.right}>Used</th><th className={table.right}>Since</th></tr></thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.memory_id} tabIndex={0} aria-selected={row === chosen} onClick={() => setAt(row.memory_id)} onKeyDown={(event) => event.key === "Enter" && setAt(row.memory_id)}>
                <td className={table.main}><Words of={said(row.claim)} />{row.retention === "pinned" && <> <StateTag tone="mute">pinned</StateTag></>}<NotTold memory={row} /></td>
                <td>{row.memory_type === null ? "" : capital(row.memory_type)}</td>
                <td><Words of={place(row)} /></td>
                <td>{plain(row.status)}</td>
                <td className={table.right}>{came(row)}</td>
                <td className={table.right}><Time at={row.created_at} /></td>
              </tr>
            ))}
          </tbody>
        </table>
        {rest}
      </div>
      {chosen !== undefined && <OneMemory key={chosen.memory_id} memory={chosen} folders={folders} />}
    </div>
  );
}

/** For how long a record is kept, and what ends it. */
function Kept({ memory }: { memory: Memory }) {
  if (memory.expires_at !== null) return <>Until <Time at={memory.expires_at} clock /></>;
  const until = memory.invalidation === "source" ? "Until you say otherwise, or the belief it comes from ends" : "Until you say otherwise";
  return <>{memory.retention === "pinned" ? `${until}, and every task of the project is told of it` : until}</>;
}

function OneMemory({ memory, folders }: { memory: Memory; folders: readonly Folder[] }) {
  const invalidate = useAct("knowledge.invalidate");
  const forget = useAct("knowledge.forget");
  const [writes, setWrites] = useState(false);
  const part = said(memory.scope);
  return (
    <aside className={styles.detail} aria-label="Memory">
      <h2><Words of={said(memory.claim)} /></h2>
      <Facts wide rows={[
        memory.memory_type === null ? null : ["Type", capital(memory.memory_type)],
        ["Holds in", <Words key="place" of={place(memory)} />],
        part === "*" || part === "project" ? null : ["Holds for", <Words key="part" of={part} />],
        ["Reason", <Words key="reason" of={said(memory.reason)} />],
        ["Trust", trust(memory.trust)],
        ["Kept", <Kept key="kept" memory={memory} />],
        ["Models told", memory.uses === 0 ? "Never" : <>{count(memory.uses, "time")}{memory.last_used_at !== null && <>, last <Time at={memory.last_used_at} ago /></>}</>],
        memory.withheld ? ["From now on", "Not told to any task: it holds, or may hold, a value of a secret that a task looked into. Replace it in words without that value, or forget it."] : null,
        memory.helped === 0 ? null : ["Helped", <Times key="helped" times={memory.helped} last={memory.helped_in} />],
        memory.contradicted === 0 ? null : ["Contradicted", <Times key="against" times={memory.contradicted} last={memory.contradicted_in} />],
        ["Saved by", <Hash key="by" of={memory.promoted_by} what="principal" />],
        ["Task", <Link key="task" to="/task/$id" params={{ id: memory.task_id }}>Open the task</Link>],
        memory.supersedes === null ? null : ["Replaces", <Hash key="old" of={memory.supersedes} what="memory" />],
        memory.superseded_by === null ? null : ["Replaced by", <Hash key="new" of={memory.superseded_by} what="memory" />],
        memory.ended_at === null ? null : ["Ended", <><Time at={memory.ended_at} ago />{said(memory.end_reason, "") !== "" && <>: <Words of={said(memory.end_reason, "")} /></>}</>],
      ]} />
      {memory.uses > 0 && <Contexts key={memory.memory_id} of={memory.memory_id} />}
      <h3>Evidence</h3>
      <EvidenceList of={memory.evidence} />
      <p><Link to="/lineage" search={{ of: memory.memory_id }}>What depends on it</Link></p>
      {memory.status === "active" && (
        <>
          {writes ? <Remember folders={folders} replaces={memory} done={() => setWrites(false)} /> : <Button onClick={() => setWrites(true)}>Replace it</Button>}
          <Refute label="Why it is wrong" act="Mark as wrong" asked={invalidate} give={(reason) => invalidate.mutate({ memory: memory.memory_id, reason })} />
          <Refute label="Why it should not have been kept" act="Forget it" asked={forget} give={(reason) => forget.mutate({ memory: memory.memory_id, reason })} />
        </>
      )}
    </aside>
  );
}

/** What a person wants remembered. The kernel asks them, as for every act. */
function Remember({ folders, replaces, done }: { folders: readonly Folder[]; replaces?: Memory; done: () => void }) {
  const remember = useAct("knowledge.remember");
  const [claim, setClaim] = useState(replaces === undefined ? "" : said(replaces.claim));
  const [kind, setKind] = useState<MemoryType | null>(replaces?.memory_type ?? null);
  const [typed, setFolder] = useState<string | null>(null);
  const [everywhere, setEverywhere] = useState(replaces !== undefined && replaces.project === null);
  const [pinned, setPinned] = useState(replaces?.retention === "pinned");
  const [days, setDays] = useState("");
  const own = folders.find((one) => one.project === replaces?.project?.hash);
  const folder = typed ?? own?.folder ?? folders[0]?.folder ?? "";
  const number = days.trim() === "" ? null : Number(days);
  const isBad = number !== null && !(Number.isInteger(number) && number >= 1 && number <= 36500);
  const send = () => remember.mutate({
    claim: claim.trim(), everywhere, pinned: pinned && number === null, days: number, memory_type: kind,
    scope: replaces === undefined || everywhere ? null : said(replaces.scope), reason: null, replaces: replaces?.memory_id ?? null, workspace: folder.trim(), channel: "app",
  });
  if (remember.data !== undefined) {
    return (
      <p className={styles.asked} role="status">
        Hermit asks you to approve this before it is remembered. <Link to="/task/$id" params={{ id: remember.data.task_id }}>Review it</Link> <Button look="link" onClick={done}>Close</Button>
      </p>
    );
  }
  const missing = claim.trim() === "" ? "Say what to remember first" : folder.trim() === "" ? "Name a folder of the project first" : isBad ? "Days go from 1 to 36500" : null;
  return (
    <form className={styles.form} aria-label={replaces === undefined ? "Add a memory" : "Replace a memory"} onSubmit={(event) => { event.preventDefault(); if (missing === null) send(); }}>
      <TextArea label="What to remember" rows={2} autoFocus value={claim} onChange={(event) => setClaim(event.target.value)} />
      <Select label="Type" value={kind ?? ""} hint="Tasks are always told of corrections and preferences; of the others when their words fit." onChange={(event) => setKind(kindOf(event.target.value))} options={[{ value: "", label: "None" }, ...KINDS]} />
      <TextField label="Folder of the project" mono value={folder} onChange={(event) => setFolder(event.target.value)} />
      <Check label="It holds in every project" checked={everywhere} onChange={(event) => setEverywhere(event.target.checked)} />
      <Check label="Tell every task of the project" checked={pinned} onChange={(event) => setPinned(event.target.checked)} />
      <TextField label="For how many days" inputMode="numeric" hint="Leave it empty to keep it until you say otherwise." value={days} onChange={(event) => setDays(event.target.value)} />
      <div className={styles.buttons}>
        <Button type="submit" because={missing ?? (remember.isPending ? "Asking" : null)}>Ask me to approve this</Button>
        <Button onClick={done}>Cancel</Button>
      </div>
      {remember.error !== null && <Failed error={remember.error} />}
    </form>
  );
}
