// A test of a server of models: which it offers, with the key for it, or what is wrong. The host asks; the key never comes here.
import { type FormEvent, useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { Server } from "~/ipc/generated/models";
import { Button } from "~/primitives/Button";
import { Select, TextField } from "~/primitives/Field";
import { Failed, Said, sentence } from "~/primitives/States";
import { count } from "~/screen/words";
import { Serving } from "./Serving";
import styles from "./Settings.module.css";

const PROTOCOLS = [
  { value: "openai", label: "OpenAI, chat completions" }, { value: "responses", label: "OpenAI, responses" }, { value: "anthropic", label: "Anthropic" },
  { value: "gemini", label: "Gemini" }, { value: "ollama", label: "Ollama" },
];

export function ServerTest({ standard, choose }: { standard: string | null; choose: (address: string) => void }) {
  const test = useAct("models.test");
  const secrets = useAsk("secrets.list", {});
  const [url, setUrl] = useState("");
  const [api, setApi] = useState("openai");
  const [secret, setSecret] = useState("");
  const because = url.trim() === "" ? "Write the server's address" : test.isPending ? "Testing" : null;
  const keys = [{ value: "", label: "The one given for this server" }, ...(secrets.data?.secrets ?? []).map(({ handle }) => ({ value: handle, label: `secret:${handle}` }))];
  const ask = (event: FormEvent) => {
    event.preventDefault();
    if (because === null) test.mutate({ url: url.trim(), api, ...(secret === "" ? {} : { secret }) });
  };
  return (
    <>
      <form className={styles.model} onSubmit={ask} aria-label="Test a model server">
        <h3>Test a model server</h3>
        <TextField label="Address" mono value={url} placeholder="http://127.0.0.1:8080/v1" spellCheck={false} hint="On this machine, or one you gave a key for" onChange={(event) => setUrl(event.target.value)} />
        <div className={styles.pairOf}>
          <Select label="Protocol" value={api} options={PROTOCOLS} onChange={(event) => setApi(event.target.value)} />
          <Select label="Key" value={secret} options={keys} onChange={(event) => setSecret(event.target.value)} />
        </div>
        <div className={styles.buttons}><Button type="submit" because={because}>{test.isPending ? "Testing" : "Test"}</Button></div>
      </form>
      <div aria-live="polite">
        {test.data !== undefined && !test.isPending && <Tested server={test.data} standard={standard} choose={choose} />}
      </div>
      {test.error !== null && <Failed error={test.error} />}
    </>
  );
}

function Tested({ server, standard, choose }: { server: Server; standard: string | null; choose: (address: string) => void }) {
  if (server.trouble !== null) return <Said tone="failed">{sentence(server.trouble)}</Said>;
  return (
    <>
      <Said tone="done">It answers and offers {count(server.models.length, "model")}.</Said>
      <Serving server={server} standard={standard} choose={choose} />
    </>
  );
}
