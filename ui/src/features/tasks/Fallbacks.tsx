// Which models are asked, one after the other, where the one before does not answer. One elsewhere needs the person's word.
import { useAsk } from "~/ipc/client";
import { Check, Select } from "~/primitives/Field";
import { Said } from "~/primitives/States";
import { known } from "./ModelChoice";
import styles from "./Tasks.module.css";

/** The chain behind the first model. */
export interface Chain { models: readonly string[]; elsewhere: boolean }

/** As many as the host takes. */
const MOST = 4;

/** The chain without the model that is asked first. */
export const behind = (chain: Chain, first: string) => chain.models.filter((one) => one !== first);

export function Fallbacks({ first, value, onChange }: { first: string; value: Chain; onChange: (chain: Chain) => void }) {
  const found = useAsk("models.find", { ports: [] }, { staleTime: 30_000 }).data;
  const all = found === undefined ? [] : known(found);
  const chosen = behind(value, first);
  const here = new Set(found?.servers.flatMap((server) => server.models.map((model) => model.address)));
  const leaves = chosen.some((one) => !here.has(one));
  if (all.every((one) => one.address === first)) return null;
  const put = (at: number, address: string) => {
    const models = address === "" ? chosen.slice(0, at) : [...chosen.slice(0, at), address, ...chosen.slice(at + 1).filter((one) => one !== address)];
    onChange({ ...value, models });
  };
  return (
    <>
      {[...chosen, ""].slice(0, MOST).map((address, at) => {
        const free = all.filter((one) => one.address === address || (one.address !== first && !chosen.includes(one.address)));
        if (free.length === 0) return null;
        return (
          <Select
            key={at} label={at === 0 ? "When the model does not answer (optional)" : "When that one does not answer either (optional)"} value={address} onChange={(event) => put(at, event.target.value)}
            options={[{ value: "", label: "Stop, and say so" }, ...free.map((one) => ({ value: one.address, label: `Ask ${one.name}, ${one.where}` }))]}
          />
        );
      })}
      {leaves && (
        <>
          <Check label="It may go on with a model on another machine" checked={value.elsewhere} onChange={(event) => onChange({ ...value, elsewhere: event.target.checked })} />
          {!value.elsewhere && <Said tone="note">What the task has read would go there. Without this, a model on another machine never follows one on this machine.</Said>}
        </>
      )}
      {chosen.length > 0 && <p className={styles.about}>Each change of the model is told in the task.</p>}
    </>
  );
}
