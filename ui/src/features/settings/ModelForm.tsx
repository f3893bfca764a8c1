// How one model is asked: its sizes, its temperature, its way to answer and its tools. What is left alone stays as it is.
import { type FormEvent, useState } from "react";
import { useAct } from "~/ipc/client";
import type { Asked, Set as Wish } from "~/ipc/generated/models";
import { Button } from "~/primitives/Button";
import { Select, TextField } from "~/primitives/Field";
import { many } from "~/primitives/number";
import { Failed } from "~/primitives/States";
import { ModelTest } from "./ModelTest";
import styles from "./Settings.module.css";

const MODES = [
  { value: "auto", label: "Chosen by Hermit" }, { value: "tools", label: "Tool calls" }, { value: "json_schema", label: "JSON by a schema" },
];
const SEES = [{ value: "no", label: "Not shown" }, { value: "yes", label: "Shown to it" }];
const TOOLS = [{ value: "auto", label: "Chosen by Hermit" }, { value: "all", label: "All tools" }, { value: "few", label: "Few, for small models" }];

/** How it is asked now, in one line. */
export function inWords(asked: Asked): string {
  const warmth = asked.temperature === "own" ? "its own temperature" : `temperature ${asked.temperature}`;
  const price = asked.price === null ? "" : `, $${asked.price.input} in and $${asked.price.output} out for a million tokens (${asked.price.from})`;
  const sees = asked.sees ? ", sees pictures" : "";
  return `Context ${many(asked.context)}, output ${many(asked.output)} (${asked.from}), ${warmth}, ${asked.tools} tools${sees}${price}`;
}

/** A whole number of tokens; null while it is none. */
function size(text: string): number | null {
  return /^\d{1,8}$/.test(text.trim()) ? Number(text.trim()) : null;
}

function isTemperature(text: string): boolean {
  const words = text.trim();
  return words === "" || words === "own" || (/^\d(\.\d+)?$/.test(words) && Number(words) <= 2);
}

function isPrice(text: string): boolean {
  return /^(\d{1,5}(\.\d{1,6})?)?$/.test(text.trim());
}

export function ModelForm({ asked, close }: { asked: Asked; close: () => void }) {
  const set = useAct("models.set");
  const [context, setContext] = useState(String(asked.context));
  const [output, setOutput] = useState(String(asked.output));
  const [temperature, setTemperature] = useState(asked.temperature);
  const [mode, setMode] = useState<string>(asked.mode);
  const [tools, setTools] = useState<string>(asked.tools);
  const [sees, setSees] = useState(asked.sees ? "yes" : "no");
  const [priceIn, setPriceIn] = useState(asked.price?.input ?? "");
  const [priceOut, setPriceOut] = useState(asked.price?.output ?? "");
  const because = size(context) === null || size(output) === null ? "Write sizes as numbers of tokens"
    : !isTemperature(temperature) ? "Write a temperature from 0 to 2, or own"
    : !isPrice(priceIn) || !isPrice(priceOut) ? "Write prices in dollars, such as 2.50"
    : set.isPending ? "Saving" : null;
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (because !== null) return;
    const wish: Wish = { address: asked.address };
    if (context !== String(asked.context)) wish.context = size(context);
    if (output !== String(asked.output)) wish.output = size(output);
    if (temperature.trim() !== asked.temperature) wish.temperature = temperature.trim();
    if (mode !== asked.mode) wish.mode = mode;
    if (tools !== asked.tools) wish.tools = tools;
    if ((sees === "yes") !== asked.sees) wish.sees = sees === "yes";
    if (priceIn.trim() !== (asked.price?.input ?? "")) wish.price_in = priceIn.trim();
    if (priceOut.trim() !== (asked.price?.output ?? "")) wish.price_out = priceOut.trim();
    set.mutate(wish, { onSuccess: close });
  };
  return (
    <form className={styles.model} onSubmit={save} aria-label={`Settings of ${asked.address}`}>
      <div className={styles.sizes}>
        <TextField label="Context, tokens" inputMode="numeric" value={context} hint="Prompt and answer together; 0 asks the server" onChange={(event) => setContext(event.target.value)} />
        <TextField label="Output, tokens" inputMode="numeric" value={output} hint="One answer; 0 leaves it to Hermit" onChange={(event) => setOutput(event.target.value)} />
        <TextField label="Temperature" value={temperature} hint="0 to 2, or own" onChange={(event) => setTemperature(event.target.value)} />
        <Select label="How it answers" value={mode} options={MODES} onChange={(event) => setMode(event.target.value)} />
        <Select label="Tools" value={tools} options={TOOLS} onChange={(event) => setTools(event.target.value)} />
        <Select label="Pictures" value={sees} options={SEES} hint="They leave this machine where the model is elsewhere" onChange={(event) => setSees(event.target.value)} />
        <TextField label="Price of input, $" inputMode="decimal" value={priceIn} hint="A million tokens read; empty leaves it to Hermit" onChange={(event) => setPriceIn(event.target.value)} />
        <TextField label="Price of output, $" inputMode="decimal" value={priceOut} hint="A million tokens written; empty leaves it to Hermit" onChange={(event) => setPriceOut(event.target.value)} />
      </div>
      {asked.without.length > 0 && <p>Its server refuses: {asked.without.join(", ")}. Hermit leaves that out.</p>}
      <div className={styles.buttons}>
        <Button type="submit" because={because}>Save</Button>
        <Button look="quiet" onClick={close}>Cancel</Button>
        <ModelTest address={asked.address} />
      </div>
      {set.error !== null && <Failed error={set.error} />}
    </form>
  );
}
