// Which model proposes: the default, one that runs on this machine, one that is set up or was used before, or one by its address.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { Found } from "~/ipc/generated/models";
import { ModelBox } from "~/features/settings/ModelBox";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { modelCalled, modelName } from "~/screen/words";
import styles from "./Tasks.module.css";

/** A model as it is chosen. */
interface Known { address: string; name: string; where: string }

/** Models in the box have such addresses; there may be a digest behind an `@`. */
const BOX = "box:";

/** Whether it is a model in the box whose weights are not here: nobody would answer. */
function isGone(found: Found, address: string): boolean {
  const name = address.split("@")[0];
  return address.startsWith(BOX) && !found.servers.some((server) => server.models.some((model) => model.address === name));
}

const elsewhere = (address: string): Known => ({ address, name: modelName(address), where: address.replace(/#.*$/, "").replace(/^(openai|responses|anthropic|gemini|ollama):/, "") });

/** Every model that is known here and those that were used by their address, the default first, each once. */
export function known(found: Found): Known[] {
  const here = found.servers.flatMap((server) => server.models.map((model) => ({ address: model.address, name: modelCalled(model.id), where: `${server.name} on this machine` })));
  const others = [...found.set.map(({ address }) => address), ...(found.used ?? [])].filter((address) => !isGone(found, address)).map(elsewhere);
  const all = [...here, ...others].filter((one, at, list) => list.findIndex((other) => other.address === one.address) === at);
  return all.sort((a, b) => Number(b.address === found.standard) - Number(a.address === found.standard));
}

/** The model that is proposed before a person chooses: the default, or else the first that answers here or is set up. One that was merely
 *  used before is not: it may be elsewhere, and nobody chose it for this. */
export function proposed(found: Found): string | null {
  return known({ ...found, used: [] })[0]?.address ?? null;
}

/** Null is nobody yet; the empty address is one that is being typed. */
export function ModelChoice({ value, onChange }: { value: string | null; onChange: (address: string) => void }) {
  // Whoever asks for the field types in it next; one that is there from the beginning takes nobody's place.
  const [isAsked, setAsked] = useState(false);
  const asked = useAsk("models.find", { ports: [] }, { staleTime: 30_000 });
  const models = asked.data === undefined ? [] : known(asked.data);
  // What was used by its address is offered; that nothing answers here is said all the same.
  const isBare = asked.data !== undefined && proposed(asked.data) === null;
  const typed = value !== null && models.every((one) => one.address !== value);
  // What a person is typing is not judged before they are done.
  const gone = [isAsked ? null : value, asked.data?.standard ?? null].find((one) => one !== null && asked.data !== undefined && isGone(asked.data, one)) ?? null;
  return (
    <div className={styles.models}>
      <div role="radiogroup" aria-label="Model" className={styles.choices}>
        {models.map((one) => (
          <button key={one.address} type="button" role="radio" aria-checked={value === one.address} className={styles.model} title={one.address} onClick={() => onChange(one.address)}>
            <b><Words of={one.name} /></b><small>{one.address === asked.data?.standard ? "Default · " : ""}<Words of={one.where} /></small>
          </button>
        ))}
        <button type="button" role="radio" aria-checked={typed} className={styles.model} onClick={() => { setAsked(true); onChange(""); }}>
          <b>Another model</b><small>By its address</small>
        </button>
      </div>
      {typed && <TextField label="Address" mono autoFocus={isAsked} value={value} placeholder="openai:http://127.0.0.1:8080/v1#qwen" spellCheck={false} onChange={(event) => onChange(event.target.value)} />}
      {asked.isLoading && <p role="status">Looking for models on this machine…</p>}
      {asked.error !== null && <Failed error={asked.error} />}
      {gone !== null && (
        <Said tone="note">
          {gone === asked.data?.standard ? "The default model" : "The model"} <code><Words of={gone} /></code> is not on this machine. Get it {isBare ? "below" : <>in <Link to="/settings">Settings</Link></>}, or choose another.
        </Said>
      )}
      {isBare && (
        <Said tone="note">
          No model was found on this machine. Start Ollama, llama.cpp, LM Studio or vLLM, then <Button look="link" onClick={() => void asked.refetch()}>look again</Button>. For another port, or a server elsewhere with a key: <Link to="/settings">Settings</Link>.
        </Said>
      )}
      {isBare && (
        <>
          <p>Or get one that runs on this machine without a server:</p>
          <ModelBox choose={onChange} />
        </>
      )}
    </div>
  );
}
