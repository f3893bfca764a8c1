// A new gateway: which service, by which token, and in which folder tasks of its senders work. Nothing is connected here: that is
// a card, which a person approves. A token is never typed on a page.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { needsOf, serviceName, useServices } from "~/features/chats/services";
import { FolderField } from "~/features/tasks/FolderField";
import { ModelChoice, proposed } from "~/features/tasks/ModelChoice";
import { useAct, useAsk, useHost } from "~/ipc/client";
import type { Reasoner } from "~/ipc/generated/task";
import type { Service } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { Select, TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { capital, profileName } from "~/screen/words";
import styles from "./Gateways.module.css";
import { hostsOf, spelledOut } from "./words";

const MODEL = "";

export function NewGateway({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const add = useAct("gateways.add");
  const playbooks = useAsk("playbooks.list", {}).data?.playbooks ?? [];
  const profiles = useAsk("policy.profiles", {}).data?.rows ?? [];
  const secrets = useAsk("secrets.list", {}).data?.secrets ?? [];
  const services = useServices();
  const [service, setService] = useState<Service>("telegram");
  const [typed, setTyped] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({});
  const [server, setServer] = useState("");
  const [folder, setFolder] = useState("");
  const [who, setWho] = useState(MODEL);
  const [model, setModel] = useState<string | null>(null);
  const [profile, setProfile] = useState("local_edit_allowed");
  const [key] = useState(() => `window:${crypto.randomUUID()}`);
  const needs = needsOf(services, service);
  const asked = needs?.fields ?? [];
  // A page in a browser names no server: whoever has the page would choose where a token goes.
  const isBrowser = useHost().kind === "http";
  const isElsewhere = isBrowser && asked.some((field) => field.at === "address");
  const name = (typed ?? service).trim();
  const usual = `gateway-${name}`;
  const secret = chosen ?? (secrets.some((one) => one.handle === usual) ? usual : "");
  const models = useAsk("models.find", { ports: [] }, { enabled: who === MODEL, staleTime: 30_000 });
  const address = model ?? (models.data === undefined ? null : proposed(models.data));
  const missing = asked.find((field) => field.is_needed && (fields[field.at] ?? "").trim() === "");
  const because = isElsewhere ? "Name its server at a terminal"
    : name === "" ? "Write a name"
    : secret === "" ? "Keep the token first, then choose it"
    : missing !== undefined ? `Write this: ${missing.label}`
    : folder.trim() === "" ? "Name a folder"
    : who === MODEL && (address === null || address.trim() === "") ? "Choose a model, or a playbook" : null;
  const own = (at: string) => {
    const field = asked.find((one) => one.at === at);
    const text = field === undefined ? "" : (fields[at] ?? "").trim();
    return field === undefined || field.protocol === null ? text : spelledOut(text, field.protocol);
  };
  const at = own("address") || spelledOut(server, "https");
  const settings = Object.fromEntries(asked.filter((field) => field.at !== "address" && field.at !== "user").map((field) => [field.at, own(field.at)] as const).filter(([, value]) => value !== ""));
  const addresses = [at, ...asked.filter((field) => field.at !== "address" && field.protocol !== null).map((field) => own(field.at))];
  const hosts = hostsOf(needs?.hosts ?? [], addresses.filter((one) => one !== ""));
  const tokens = needs?.tokens ?? [];

  const send = () => {
    const reasoner: Reasoner = who === MODEL ? { kind: "address", address: address?.trim() ?? "" } : { kind: "playbook", name: who, parameters: {} };
    add.mutate(
      { name, service, address: at === "" ? null : at, user: own("user") || null, settings, secret, workspace: folder.trim(), reasoner, profile, channel: "app", idempotency_key: key },
      { onSuccess: (made) => void navigate({ to: "/task/$id", params: { id: made.task_id } }) },
    );
  };
  return (
    <form className={styles.card} aria-label="New gateway" onSubmit={(event) => { event.preventDefault(); if (because === null && !add.isPending) send(); }}>
      <h2>Connect a chat</h2>
      <Select label="Chat service" value={service} options={services.map((one) => ({ value: one.service, label: serviceName(services, one.service) }))} onChange={(event) => setService(services.find((one) => one.service === event.target.value)?.service ?? service)} />
      <TextField label="Name" value={typed ?? service} spellCheck={false} hint="a-z, 0-9 and -. A gateway that has this name already is changed." onChange={(event) => setTyped(event.target.value)} />
      {needs !== undefined && <p>{needs.how}</p>}
      {isElsewhere && (
        <div className={styles.how}>
          <p>A page in a browser names no server that a token is sent to. Stop Hermit, run this, and start it again:</p>
          <Copyable text={`hermit gateway add ${service}`} />
        </div>
      )}
      {!isElsewhere && asked.map((field) => <TextField key={`${service} ${field.at}`} label={field.is_needed ? field.label : `${field.label} (optional)`} value={fields[field.at] ?? ""} placeholder={field.example} hint={field.hint ?? undefined} spellCheck={false} onChange={(event) => setFields({ ...fields, [field.at]: event.target.value })} />)}
      <Select
        label="Token" value={secret} onChange={(event) => setChosen(event.target.value)}
        options={[{ value: "", label: "Choose where it is kept" }, ...secrets.map(({ handle }) => ({ value: handle, label: `secret:${handle}` }))]}
      />
      {secret === "" && !isElsewhere && (
        <div className={styles.how}>
          <p>{tokens.length > 1 ? `${tokens.join(" and then ")}, with a blank between, are` : `${tokens[0] ?? "The token"} is`} typed at a terminal, never on a page, and kept where your keys are. Stop Hermit, run this, and start it again:</p>
          <Copyable text={["hermit secret set", usual, ...hosts.map((host) => `--host ${host}`)].join(" ")} />
          <p>Or do all of it there:</p>
          <Copyable text={`hermit gateway add ${service}`} />
        </div>
      )}
      <FolderField label="Folder that tasks of its senders work in" value={folder} hint="On the machine that runs Hermit. Nothing outside it is touched." onChange={setFolder} />
      <Select label="Model or playbook" value={who} options={[{ value: MODEL, label: "A model works towards the goal" }, ...playbooks.map((one) => ({ value: one.name, label: `${capital(one.name)}: ${one.about}` }))]} onChange={(event) => setWho(event.target.value)} />
      {who === MODEL && <ModelChoice value={address} onChange={setModel} />}
      <Select label="Policy profile of senders who may give goals" value={profile} options={profiles.map((one) => ({ value: one.profile, label: `${profileName(one.profile)}: ${one.about}` }))} onChange={(event) => setProfile(event.target.value)} />
      {!isBrowser && !asked.some((field) => field.at === "address") && (
        <details>
          <summary>Another server</summary>
          <TextField label="Server (optional)" mono value={server} placeholder="https://chat.example.org" spellCheck={false} hint="Only where you run one yourself. That of the service itself where nothing is said." onChange={(event) => setServer(event.target.value)} />
        </details>
      )}
      <div className={styles.buttons}>
        <Button look="person" type="submit" because={add.isPending ? "Asking" : because}>Ask me to connect it</Button>
        <Button look="link" onClick={close}>Cancel</Button>
      </div>
      {because !== null && <p className={styles.note}>{because}.</p>}
      {add.error !== null && <Failed error={add.error} />}
    </form>
  );
}
