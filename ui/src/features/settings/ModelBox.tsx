// Models that need no server: their weights are fetched here, with their progress, stopped, gone on with and taken away.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { BoxModel } from "~/ipc/generated/models";
import { Button } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Mark } from "~/primitives/Icon";
import { Answer, Failed, Said, sentence } from "~/primitives/States";
import { Prose, Words, wordsAsText } from "~/primitives/Words";
import { capital } from "~/screen/words";
import styles from "./Settings.module.css";

/** How often a fetch is looked at. */
const TICK_MS = 500;

const comes = (model: BoxModel) => model.state === "fetching" || model.state === "checking";

/** `choose` makes a model the one that proposes. */
export function ModelBox({ standard, choose }: { standard?: string | null; choose: (address: string) => void }) {
  const client = useQueryClient();
  const asked = useAsk("models.in_box", {}, { refetchInterval: (query) => query.state.data?.models.some(comes) === true ? TICK_MS : false });
  const here = asked.data?.models.filter((model) => model.state === "here").length ?? 0;
  const before = useRef(here);
  // One that has come is a model to choose from now on.
  useEffect(() => {
    if (before.current !== here) void client.invalidateQueries({ queryKey: ["models.find"] });
    before.current = here;
  }, [here, client]);
  return (
    <Answer asked={asked} what="models that need no server" lines={2}>
      {(told) => (
        <>
          {told.trouble !== null && <Said tone="note">{sentence(told.trouble)}</Said>}
          <ul className={styles.box} aria-label="Models that need no server">
            {told.models.map((model) => <Row key={model.name} model={model} missing={told.trouble} isStandard={model.address === standard} choose={choose} />)}
          </ul>
        </>
      )}
    </Answer>
  );
}

/** `missing`: why none of them could be asked here; weights are not fetched for nothing then. */
function Row({ model, missing, isStandard, choose }: { model: BoxModel; missing: string | null; isStandard: boolean; choose: (address: string) => void }) {
  const [get, stop, remove] = [useAct("models.get"), useAct("models.stop_get"), useAct("models.remove")];
  const { name } = model;
  const isPartly = model.state === "absent" && model.bytes_here > 0;
  const mark = model.state === "here" ? "done" : comes(model) ? "running" : model.trouble !== null ? "failed" : "idle";
  const error = get.error ?? stop.error ?? remove.error;
  return (
    <li>
      <Mark name={mark} />
      <div>
        <p><b><Words of={name} /></b> {[bytes(model.bytes), model.license].filter((one) => one !== null).join(" · ")}{isStandard && " · default"}</p>
        {model.about !== null && <small>Good for <Prose of={model.about} />.</small>}
        {comes(model) && (
          <p className={styles.progress}>
            <progress aria-label={`Getting ${name}`} max={model.bytes} value={model.state === "checking" ? undefined : model.bytes_here} />
            <span>{model.state === "checking" ? "Checking that every byte is right" : `${bytes(model.bytes_here)} of ${bytes(model.bytes)}`}</span>
          </p>
        )}
        {isPartly && model.trouble === null && <small>{bytes(model.bytes_here)} of {bytes(model.bytes)} are here</small>}
        {model.trouble !== null && <Said tone="failed">{sentence(model.trouble)}</Said>}
        {error !== null && <Failed error={error} />}
      </div>
      <div className={styles.buttons}>
        {model.state === "absent" && <Button icon="down" because={missing === null ? (get.isPending ? "Beginning" : null) : wordsAsText(capital(missing))} onClick={() => get.mutate({ name })}>{isPartly ? "Go on" : "Get"}</Button>}
        {comes(model) && <Button icon="stop" because={stop.isPending ? "Stopping" : null} onClick={() => stop.mutate({ name })}>Stop</Button>}
        {model.state === "here" && !isStandard && <Button onClick={() => choose(model.address)}>Use it</Button>}
        {(model.state === "here" || isPartly) && <Button because={remove.isPending ? "Removing" : null} onClick={() => remove.mutate({ name })}>Remove</Button>}
      </div>
    </li>
  );
}
