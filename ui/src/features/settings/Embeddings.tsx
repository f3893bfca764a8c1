// The embedding model by which memory is found by meaning: which one is named, how far its vectors are made, and what is wrong.
import { many } from "~/primitives/number";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { Embeddings as State } from "~/ipc/generated/models";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Failed, Said, sentence } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { count } from "~/screen/words";
import styles from "./Settings.module.css";

/** How memory is found, in a sentence; the trouble, where there is any. */
export function Meaning({ state }: { state: State }) {
  if (state.model === null) return <p>Memory is found by words. No embedding model is named.</p>;
  return (
    <>
      <p>Memory is found by words and by meaning, with <code><Words of={state.model} /></code>: {many(state.with_vectors)} of {count(state.memories, "memory", "memories")} {state.with_vectors === 1 ? "has" : "have"} a vector.</p>
      {state.trouble !== null && <Said tone="failed">{sentence(`by words alone at present: ${state.trouble}`)}</Said>}
    </>
  );
}

export function Embeddings() {
  const client = useQueryClient();
  const asked = useAsk("models.embedded", {});
  const name = useAct("models.embed");
  const [address, setAddress] = useState("");
  const because = address.trim() === "" ? "Write the model's address" : name.isPending ? "Asking the model" : null;
  const set = (wanted: string | null) => name.mutate({ address: wanted }, { onSuccess: () => void client.invalidateQueries({ queryKey: ["models.embedded"] }) });
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (because === null) set(address.trim());
  };
  const state = asked.data ?? name.data;
  return (
    <section aria-labelledby="embeddings">
      <h3 id="embeddings">Finding memory by meaning</h3>
      <p>An embedding model finds what you remember where a task says it in other words. It runs at a server of this machine; Hermit sends your memories to no other.</p>
      <div aria-live="polite">{state !== undefined && <Meaning state={state} />}</div>
      <form className={styles.model} onSubmit={send} aria-label="Name an embedding model">
        <TextField label="Address of an embedding model" mono value={address} placeholder="openai:http://127.0.0.1:8080/v1#minilm" spellCheck={false} hint="At llama.cpp or another server that speaks OpenAI's protocol, or at Ollama" onChange={(event) => setAddress(event.target.value)} />
        <div className={styles.buttons}>
          <Button type="submit" because={because}>{name.isPending ? "Asking the model" : "Use this model"}</Button>
          {state !== undefined && state.model !== null && <Button because={name.isPending ? "Asking the model" : null} onClick={() => set(null)}>Use words alone</Button>}
        </div>
      </form>
      {name.error !== null && <Failed error={name.error} />}
    </section>
  );
}
