// What this machine is in the mesh: whether it is on, its name, where it reads, and which folders other machines may send goals to.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ModelChoice, proposed } from "~/features/tasks/ModelChoice";
import { useAsk } from "~/ipc/client";
import type { Mesh, Set as Wanted } from "~/ipc/generated/mesh";
import { Begun } from "~/primitives/Begun";
import { Button } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Check, Select, TextArea, TextField } from "~/primitives/Field";
import { Hash } from "~/primitives/Hash";
import { Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { modelName } from "~/screen/words";
import { Folders } from "./Folders";
import styles from "./Mesh.module.css";
import { useSaying } from "./Person";
import { addressesIn, wrongRelay } from "./words";

const STANDARD = "standard";
const OTHER = "other";

export function ThisMachine({ mesh }: { mesh: Mesh }) {
  return (
    <section className={styles.section} aria-labelledby="this">
      <h2 id="this">This machine</h2>
      {mesh.on && <Standing mesh={mesh} />}
      <Begun of={mesh} by={(one) => [one.on, one.name, one.relays, one.listen, one.folders, one.model, one.public]}>
        {(base, saved) => <Form mesh={base} saved={saved} />}
      </Begun>
    </section>
  );
}

/** What holds now. */
function Standing({ mesh }: { mesh: Mesh }) {
  const folders = Object.entries(mesh.folders);
  return (
    <Facts wide rows={[
      ["Name", <Words key="name" of={mesh.name ?? "None"} />],
      mesh.node === null ? null : ["Key", <Hash key="key" of={mesh.node} what="key" />],
      ["Reads at", mesh.relays.length === 0 ? "No relay" : <Words key="relays" of={mesh.relays.join(", ")} />],
      ["Reached at", mesh.listen === null ? "No address of its own" : <Words key="listen" of={mesh.listen} />],
      ["Takes goals for", folders.length === 0 ? "No folder" : <ul key="folders" className={styles.plain}>{folders.map(([alias, path]) => <li key={alias}><b><Words of={alias} /></b>: <code><Words of={path} /></code></li>)}</ul>],
      mesh.cosign_key === null ? null : ["Cosigns with", <Hash key="cosign" of={mesh.cosign_key} what="key" />],
      mesh.public ? ["Seen by", "Everybody who reads these relays"] : null,
      ["Works with", mesh.model === null ? "The default model" : <Words key="model" of={modelName(mesh.model)} />],
    ]} />
  );
}

function Form({ mesh, saved }: { mesh: Mesh; saved: () => void }) {
  const set = useSaying("mesh.set", { taken: saved });
  const soul = useAsk("identity.show", {});
  const [name, setName] = useState(mesh.name ?? "");
  const [relays, setRelays] = useState(mesh.relays.join("\n"));
  const [listen, setListen] = useState(mesh.listen ?? "");
  const [folders, setFolders] = useState(mesh.folders);
  const [who, setWho] = useState(mesh.model === null ? STANDARD : OTHER);
  const [model, setModel] = useState<string | null>(mesh.model);
  const [isPublic, setPublic] = useState(mesh.public);
  const models = useAsk("models.find", { ports: [] }, { enabled: who === OTHER, staleTime: 30_000 });
  const address = who === STANDARD ? "" : model ?? (models.data === undefined ? null : proposed(models.data));
  const list = addressesIn(relays);
  const wanted: Wanted = {
    ...(name.trim() === (mesh.name ?? "") ? {} : { name: name.trim() }),
    ...(list.join(" ") === mesh.relays.join(" ") ? {} : { relays: list }),
    ...(listen.trim() === (mesh.listen ?? "") ? {} : { listen: listen.trim() }),
    ...(sameFolders(folders, mesh.folders) ? {} : { folders }),
    ...(address === null || address.trim() === (mesh.model ?? "") ? {} : { model: address.trim() }),
    ...(isPublic === mesh.public ? {} : { public: isPublic }),
    ...(mesh.on ? {} : { on: true }),
  };
  const lacksSoul = soul.data?.version === 0;
  const wrong = name.trim() === "" ? "Give this machine a name for your others"
    : who === OTHER && (address === null || address.trim() === "") ? "Choose a model"
    : wrongRelay(list) ?? (!mesh.on && list.length === 0 && listen.trim() === "" ? "Name a relay, or an address at which the others reach this machine" : null);
  const because = set.isPending ? (mesh.on ? "Saving" : "Turning it on") : wrong ?? (Object.keys(wanted).length === 0 ? "Nothing is changed yet" : set.missing);
  return (
    <form className={styles.form} aria-label="This machine" onSubmit={(event) => { event.preventDefault(); if (because === null) set.give(wanted); }}>
      {lacksSoul && <Said tone="note">Machines know each other by the key of their instance, and this one has none yet. Write <Link to="/identity">SOUL.md</Link> first: who this instance is, in your words.</Said>}
      <TextField label="Name" value={name} placeholder="desktop" spellCheck={false} hint="As your other machines call it." onChange={(event) => setName(event.target.value)} />
      <TextArea label="Relays" rows={2} value={relays} spellCheck={false} placeholder="wss://relay.example" hint="Where this machine reads, one a line, 7 at most. All of them are written to; one that answers is enough." onChange={(event) => setRelays(event.target.value)} />
      <TextField label="Address on your network (optional)" mono value={listen} spellCheck={false} placeholder="192.168.1.5:7447" hint="Paired machines then reach this one without a relay. Nobody else is answered there, except while a code is shown." onChange={(event) => setListen(event.target.value)} />
      <Folders folders={folders} onChange={setFolders} />
      <Select
        label="Who works on goals of other machines" value={who} onChange={(event) => setWho(event.target.value === OTHER ? OTHER : STANDARD)}
        options={[{ value: STANDARD, label: "The default model of this machine" }, { value: OTHER, label: "A model that you choose" }]}
      />
      {who === OTHER && <ModelChoice value={address} onChange={setModel} />}
      <Check checked={isPublic} onChange={(event) => setPublic(event.target.checked)} label="Everybody who reads these relays may see that this machine is here" />
      <p className={styles.note}>Strangers then see its key, when it is on, how busy it is, how many tools and models it has, and the newest signed head of your log: its size and its digest. They see no name, no folder and no address, and can do nothing by it. When you turn it off, it expires within 15 minutes.</p>
      {set.field}
      <div className={styles.buttons}>
        <Button type="submit" look={mesh.on ? "plain" : "person"} because={because}>{mesh.on ? "Save" : "Turn the mesh on"}</Button>
        {mesh.on && <Off off={saved} />}
      </div>
      {because !== null && !set.isPending && <p className={styles.note}>{because}.</p>}
      {set.error !== null && <Failed error={set.error} />}
    </form>
  );
}

function sameFolders(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const flat = (folders: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(folders).sort(([a], [b]) => (a < b ? -1 : 1)));
  return flat(one) === flat(other);
}

function Off({ off }: { off: () => void }) {
  const set = useSaying("mesh.set", { taken: off });
  const [sure, setSure] = useState(false);
  if (!sure) return <Button look="link" onClick={() => setSure(true)}>Turn it off</Button>;
  return (
    <div className={styles.inner} role="group" aria-label="Turn the mesh off">
      <p>Nothing is sent to your other machines and nothing of them is heard from then on. What happened so far stays in the log.</p>
      {set.field}
      <div className={styles.buttons}>
        <Button because={set.isPending ? "Turning it off" : set.missing} onClick={() => set.give({ on: false })}>Turn the mesh off</Button>
        <Button look="link" onClick={() => setSure(false)}>Keep it on</Button>
      </div>
      {set.error !== null && <Failed error={set.error} />}
    </div>
  );
}
