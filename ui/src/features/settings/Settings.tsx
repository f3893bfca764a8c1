// The machine, the store, copies of it, and how this window looks.
import { useDeferredValue, useState, useSyncExternalStore } from "react";
import { Background } from "./Background";
import { Desktop } from "./Desktop";
import { Chats } from "./Chats";
import { Instance } from "./Instance";
import { Costs } from "./Costs";
import { Models } from "./Models";
import { Devices } from "./Devices";
import { Notifications } from "./Notifications";
import { Passkeys } from "./Passkeys";
import { Reads } from "./Reads";
import { DiskUsage } from "./DiskUsage";
import { KeysHere } from "~/features/keys/PageKeys";
import { Screen } from "~/screen/Screen";
import { contrast, setContrast, setTheme, theme } from "~/screen/theme";
import { Copyable } from "~/primitives/Copyable";
import { capital, count, plain } from "~/screen/words";
import type { Files } from "~/host/host";
import { useAct, useAsk, useHost, useLink, useMake } from "~/ipc/client";
import { Button, Segmented } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { TextField } from "~/primitives/Field";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Mark } from "~/primitives/Icon";
import { Answer, Failed, Said, sentence } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Prose } from "~/primitives/Words";
import styles from "./Settings.module.css";

export function Settings() {
  // The second column stands beside or below the first: it comes a moment later and moves nothing that could be pressed.
  const isSecond = useDeferredValue(true, false);
  return (
    <Screen title="Settings" sub={<span>This machine, keys, models and storage</span>}>
      <div className={styles.settings}>
        <div>
          <Models />
          <Costs />
          <Reads />
          <KeysHere />
          <Instance />
          <Chats />
          <Passkeys />
          <Devices />
          <Look />
          <Notifications />
          <Desktop />
        </div>
        <div>
          {isSecond && (
            <>
              <Machine />
              <Background />
              <Store />
              <DiskUsage />
              <Copies />
              <Diagnostics />
            </>
          )}
        </div>
      </div>
    </Screen>
  );
}

const LEVEL = { fine: "done", note: "idle", trouble: "failed" } as const;

function Machine() {
  const asked = useAsk("host.doctor", {});
  return (
    <section aria-labelledby="machine">
      <h2 id="machine">This machine</h2>
      <Answer asked={asked} what="the machine" lines={10}>
        {(found) => (
          <ul className={styles.facts}>
            {found.facts.map((fact, at) => (
              <li key={at} data-level={fact.level}>
                <Mark name={LEVEL[fact.level]} />
                <b>{capital(fact.name)}</b>
                <div><Told of={fact.value} />{fact.advice !== "" && <p>{sentence(fact.advice)}</p>}</div>
              </li>
            ))}
          </ul>
        )}
      </Answer>
    </section>
  );
}

/** What a fact says, its digests short. */
function Told({ of }: { of: string }) {
  return <>{of.split(/\b([0-9a-f]{32,64})\b/).map((part, at) => (at % 2 === 1 ? <Hash key={at} of={part} /> : <Prose key={at} of={part} />))}</>;
}

function Store() {
  const asked = useAsk("host.status", {});
  const host = useHost();
  const link = useLink();
  return (
    <section aria-labelledby="store">
      <h2 id="store">Store</h2>
      <Answer asked={asked} what="the store">
        {(at) => (
          <Facts wide rows={[
            ["Folder", <code key="dir">{at.dir}</code>],
            ["Identifier", <Hash key="id" of={at.store_id} what="store" />],
            ["Version", at.version],
            ["Source", <Source key="source" />],
            ["Used by", at.held_by === null ? "No process" : <>process {at.held_by.pid}, <Time at={at.held_by.since} ago /></>],
            ["This window", `${host.kind === "tauri" ? "in the app" : "in a browser"}, ${link === "live" ? "live" : link === "lost" ? "not live, trying again" : link === "ended" ? "not live, its session has ended" : "opening"}`],
          ]} />
        )}
      </Answer>
    </section>
  );
}

function Copies() {
  const { files } = useHost();
  return files === undefined ? <CopiesHere /> : <CopyDown files={files} />;
}

/** In a browser a copy is downloaded; it is put back at a terminal. */
function CopyDown({ files }: { files: Files }) {
  const backup = useMake("store.backup");
  return (
    <section aria-labelledby="copies">
      <h2 id="copies">Backup and restore</h2>
      <p>One file with everything that was said and done. To restore it, unzip it and run <code>hermit restore</code>.</p>
      <div><Button because={backup.isPending ? "Copying" : null} onClick={() => backup.mutate(() => files.download("store.backup", {}, "hermit-backup.zip"))}>Download a backup</Button></div>
      {backup.data !== undefined && <Said tone="done">{count(backup.data.files, "file")}, {bytes(backup.data.byte_size)}, fingerprint <Hash of={backup.data.manifest_sha256} /></Said>}
      {backup.error !== null && <Failed error={backup.error} />}
    </section>
  );
}

function CopiesHere() {
  const backup = useAct("store.backup");
  const restore = useAct("store.restore");
  const [to, setTo] = useState("");
  const [from, setFrom] = useState("");
  const [into, setInto] = useState("");
  return (
    <section aria-labelledby="copies">
      <h2 id="copies">Backup and restore</h2>
      <div className={styles.line}>
        <TextField label="Back up to" mono value={to} placeholder="/backup/hermit-2026-11" hint="A new folder. You can keep working meanwhile." onChange={(event) => setTo(event.target.value)} />
        <Button because={to.trim() === "" ? "Name the folder first" : backup.isPending ? "Copying" : null} onClick={() => backup.mutate({ to: to.trim() })}>Back up</Button>
      </div>
      {backup.data !== undefined && <Said tone="done">{count(backup.data.files, "file")}, {bytes(backup.data.byte_size)}, fingerprint <Hash of={backup.data.manifest_sha256} /></Said>}
      {backup.error !== null && <Failed error={backup.error} />}
      <div className={styles.line3}>
        <TextField label="Restore from" mono value={from} onChange={(event) => setFrom(event.target.value)} />
        <TextField label="To an empty folder" mono value={into} onChange={(event) => setInto(event.target.value)} />
        <Button because={from.trim() === "" || into.trim() === "" ? "Name both folders" : restore.isPending ? "Restoring and checking" : null} onClick={() => restore.mutate({ from: from.trim(), to: into.trim() })}>Restore</Button>
      </div>
      {restore.data !== undefined && <Said tone="done">{capital(restore.data.verdict)}: {restore.data.reason}. Use it with <code>HERMIT_HOME={restore.data.to}</code>.</Said>}
      {restore.error !== null && <Failed error={restore.error} />}
    </section>
  );
}

const listeners = new Set<() => void>();
function useLooks() {
  return useSyncExternalStore((heard) => { listeners.add(heard); return () => listeners.delete(heard); }, () => `${theme()} ${contrast()}`);
}

function Look() {
  useLooks();
  const tell = () => listeners.forEach((heard) => heard());
  return (
    <section aria-labelledby="look">
      <h2 id="look">Appearance</h2>
      <div className={styles.pair}>
        <span>Theme</span>
        <Segmented label="Theme" value={theme()} onChange={(next) => { setTheme(next); tell(); }} options={[{ value: "system", label: "System" }, { value: "light", label: "Light" }, { value: "dark", label: "Dark" }]} />
        <span>Contrast</span>
        <Segmented label="Contrast" value={contrast()} onChange={(next) => { setContrast(next); tell(); }} options={[{ value: "system", label: "System" }, { value: "more", label: "More" }, { value: "standard", label: "Standard" }]} />
      </div>
    </section>
  );
}

/** The source that this version was made of, which every program of Hermit carries. */
function Source() {
  const { data } = useAsk("version.show", {});
  if (data === undefined) return null;
  if (data.source_sha256 === null) return "Not in this program";
  return <><Hash of={data.source_sha256} what="source" /> {bytes(data.source_bytes)}, saved by <code>hermit source DIR</code></>;
}

/** Facts for somebody who helps: nothing of tasks, no words, no secrets. */
function Diagnostics() {
  const doctor = useAsk("host.doctor", {});
  const stats = useAsk("ledger.stats", {});
  const status = useAsk("host.status", {});
  const version = useAsk("version.show", {});
  const [shown, setShown] = useState(false);
  const text = JSON.stringify({ version: status.data?.version, source_sha256: version.data?.source_sha256, facts: doctor.data?.facts.map(({ name, level, value }) => ({ name: plain(name), level, value })), counts: stats.data }, null, 2);
  return (
    <section aria-labelledby="diagnostics">
      <h2 id="diagnostics">Diagnostics</h2>
      <p>Facts about this machine and store for somebody who helps you. They hold no goals, no secrets, and no path but the store's. Read them before you send them.</p>
      <div><Button aria-expanded={shown} onClick={() => setShown(!shown)}>{shown ? "Hide" : "Show"} diagnostics</Button></div>
      {shown && <pre className={styles.bundle}>{text}</pre>}
      <Copyable text="hermit doctor --json" />
    </section>
  );
}
