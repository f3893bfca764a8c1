// Models that run on this machine, looked for when a person asks; how each is asked; and servers elsewhere that have a key.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Copyable } from "~/primitives/Copyable";
import { count } from "~/screen/words";
import { useAct, useAsk, useHost } from "~/ipc/client";
import type { Found } from "~/ipc/generated/models";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Mark } from "~/primitives/Icon";
import { Answer, Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { Embeddings } from "./Embeddings";
import { ModelBox } from "./ModelBox";
import { ServerTest } from "./ServerTest";
import { How, Serving } from "./Serving";
import styles from "./Settings.module.css";

/** Ports in what was typed: numbers, whatever stands between them. */
const portsOf = (text: string) => [...new Set((text.match(/\d+/g) ?? []).map(Number))].filter((port) => port >= 1 && port <= 65_535).slice(0, 16);

export function Models() {
  const host = useHost();
  const client = useQueryClient();
  const [also, setAlso] = useState("");
  const [ports, setPorts] = useState<readonly number[] | null>(null);
  const asked = useAsk("models.find", { ports: [...(ports ?? [])] }, { enabled: ports !== null });
  const standard = useAct("models.standard");
  const look = () => {
    setPorts(portsOf(also));
    void client.invalidateQueries({ queryKey: ["models.find"] });
  };
  return (
    <section aria-labelledby="models">
      <h2 id="models">Models</h2>
      <p>Playbooks need none. Hermit looks for model servers on this machine, when you start a task and when you ask here, and nowhere else.</p>
      <div className={styles.line}>
        <TextField label="Also at these ports of this machine" mono inputMode="numeric" placeholder="8081" value={also} onChange={(event) => setAlso(event.target.value)} />
        <Button because={asked.isFetching ? "Looking" : null} onClick={look}>{asked.isFetching ? "Looking" : "Look for models"}</Button>
      </div>
      {ports !== null && (
        <Answer asked={asked} what="this machine's ports" lines={3}>
          {(found) => <What found={found} choose={(address) => standard.mutate({ address })} />}
        </Answer>
      )}
      <h3>Models that need no server</h3>
      <p>They run in a sandbox on this machine, without the network. Hermit fetches their weights once, from where they are published, and checks every byte.</p>
      <ModelBox standard={standard.data?.standard ?? asked.data?.standard ?? null} choose={(address) => standard.mutate({ address })} />
      <ServerTest standard={standard.data?.standard ?? asked.data?.standard ?? null} choose={(address) => standard.mutate({ address })} />
      {standard.error !== null && <Failed error={standard.error} />}
      <Embeddings />
      <h3>Keys for servers elsewhere</h3>
      <p>Hermit stores such a key where your own keys are and sends it to its server only. You type it at a terminal or in the app's own window, never here.</p>
      {host.openProvider === undefined
        ? <Copyable text="hermit models add anthropic" />
        : <div><Button icon="key" onClick={() => void host.openProvider?.()}>Give a server a key</Button></div>}
    </section>
  );
}

function What({ found, choose }: { found: Found; choose: (address: string | null) => void }) {
  const here = new Set(found.servers.flatMap((server) => server.models.map((model) => model.address)));
  const others = found.set.filter((asked) => !here.has(asked.address));
  return (
    <>
      {found.servers.length === 0 && <Said tone="note">No model server answers here, at {count(found.looked.length, "port")}: {found.looked.join(", ")}. Start Ollama, llama.cpp, LM Studio or vLLM, or name its port. A model that needs no server can be had below.</Said>}
      {found.servers.map((server) => <Serving key={server.url} server={server} standard={found.standard} choose={choose} />)}
      <p className={styles.standard}>
        {found.standard === null ? "No default model: each task names its own." : <>The default model is <code><Words of={found.standard} /></code> <Button onClick={() => choose(null)}>Use none</Button></>}
      </p>
      {others.length > 0 && (
        <ul className={styles.models} aria-label="Other models that are set up">
          {others.map((asked) => (
            <li key={asked.address}><Mark name="idle" /><div><code><Words of={asked.address} /></code><How asked={asked} /></div></li>
          ))}
        </ul>
      )}
      {found.providers.length > 0 && (
        <ul className={styles.models} aria-label="Servers with a key">
          {found.providers.map((one) => (
            <li key={one.url}>
              <Mark name={one.kept ? "done" : "failed"} />
              <div><code><Words of={one.url} /></code><small>{one.kept ? <>takes <code>secret:{one.secret}</code></> : <>its key <code>secret:{one.secret}</code> is missing</>}</small></div>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
