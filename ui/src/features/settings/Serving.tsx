// A server with its models, each with how it is asked.
import { useState } from "react";
import type { Asked, Server } from "~/ipc/generated/models";
import { Button } from "~/primitives/Button";
import { Mark } from "~/primitives/Icon";
import { sentence } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { ModelForm, inWords } from "./ModelForm";
import styles from "./Settings.module.css";

/** How a model is asked, and a way to change it. */
export function How({ asked }: { asked: Asked | null }) {
  const [isOpen, setOpen] = useState(false);
  if (asked === null) return null;
  if (isOpen) return <ModelForm asked={asked} close={() => setOpen(false)} />;
  return <small><Words of={inWords(asked)} /> <Button look="link" aria-label={`Change how ${asked.address} is asked`} onClick={() => setOpen(true)}>Change</Button></small>;
}

export function Serving({ server, standard, choose }: { server: Server; standard: string | null; choose: (address: string) => void }) {
  return (
    <div className={styles.serving}>
      <b><Words of={server.name} /></b>{server.url !== "box:" && <> <code>{server.url}</code></>}
      {server.trouble !== null && <p>{sentence(server.trouble)}</p>}
      <ul className={styles.models} aria-label={`Models of ${server.name}`}>
        {server.models.map((model) => (
          <li key={model.address}>
            <Mark name={standard === model.address ? "done" : "idle"} />
            <div><code><Words of={model.id} /></code><How asked={model.asked} /></div>
            {standard === model.address ? <span>Default</span> : <Button aria-label={`Use ${model.id} by default`} onClick={() => choose(model.address)}>Use by default</Button>}
          </li>
        ))}
      </ul>
    </div>
  );
}
