// The key of this instance, whether it signed SOUL.md as it is, and the chain as a file for somebody else.
import { Link } from "@tanstack/react-router";
import { useAct, useHost, useMake } from "~/ipc/client";
import type { Identity } from "~/ipc/generated/identity";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { Facts } from "~/primitives/Facts";
import { TextField } from "~/primitives/Field";
import { Hash } from "~/primitives/Hash";
import { Failed, Said } from "~/primitives/States";
import { useSavePlace } from "~/screen/savePlace";
import { count } from "~/screen/words";
import styles from "./Identity.module.css";
import { Publish } from "./Publish";

export function Key({ of }: { of: Identity }) {
  return (
    <section className={styles.section} aria-labelledby="key">
      <h2 id="key">Key</h2>
      <Facts wide rows={[
        ["Instance", <Hash key="id" of={of.instance_id} what="instance" />],
        of.instance_pubkey === null ? ["Key", "None yet: it derives from the first SOUL.md that you approve and the keys of this store"] : ["Key", <Hash key="key" of={of.instance_pubkey} what="key of the instance" />],
      ]} />
      {of.npub !== null && <div><p>As Nostr spells it:</p><Copyable text={of.npub} /></div>}
      {of.address !== null && <div><p>Its address on Bitcoin's main chain:</p><Copyable text={of.address} /></div>}
      <p className={styles.note}>This instance is its identifier, made once: a new key or a new SOUL.md makes no other instance. The key is used for Nostr and Bitcoin and for nothing else.</p>
      {of.version > 0 && !of.attested && <Attest version={of.version} />}
      {of.graph.links.length > 0 && <Export />}
      {of.graph.links.length > 0 && <Publish of={of} />}
      <p>When your log was there is shown by <Link to="/anchors">anchors</Link>, at clocks elsewhere.</p>
    </section>
  );
}

/** Signed where a person is: in the app, or at a terminal. A page in a browser only says how. */
function Attest({ version }: { version: number }) {
  const host = useHost();
  const attest = useAct("identity.attest");
  return (
    <div className={styles.waits}>
      <p>Version {version} is not attested: its key was not made or not open when you approved it, or was replaced since.</p>
      {host.kind === "http"
        ? <div><p>Stop Hermit, run this, and start it again:</p><Copyable text="hermit identity attest" /></div>
        : <Button icon="key" because={attest.isPending ? "Signing" : null} onClick={() => attest.mutate({})}>Attest it</Button>}
      {attest.error !== null && <Failed error={attest.error} />}
    </div>
  );
}

function Export() {
  const host = useHost();
  const { files } = host;
  const make = useMake("identity.export");
  const [path, setPath] = useSavePlace("identity.jsonl", make.data);
  const because = files === undefined && path.trim() === "" ? "Choose where to save it" : make.isPending ? "Writing the chain" : null;
  const begin = () => make.mutate(files === undefined ? () => host.call("identity.export", { path: path.trim() }) : () => files.download("identity.export", {}, "identity.jsonl"));
  return (
    <div className={styles.section}>
      <h3>Give the chain to somebody</h3>
      {files === undefined && (
        <div className={host.pick === undefined ? undefined : styles.withbutton}>
          <TextField label="Save as" mono value={path} placeholder="/home/you/identity.jsonl" hint="A new file on the machine that runs Hermit." onChange={(event) => setPath(event.target.value)} />
          {host.pick !== undefined && <Button icon="folder" onClick={() => void host.pick?.("save", "identity.jsonl").then((found) => found !== null && setPath(found))}>Choose</Button>}
        </div>
      )}
      <div className={styles.buttons}><Button because={because} onClick={begin}>{files === undefined ? "Export the chain" : "Download the chain"}</Button></div>
      {make.error !== null && <Failed error={make.error} />}
      {make.data !== undefined && <Said tone="done">{count(make.data.links, "link")} and the statement of the first key. Anybody follows it with <code>hermit identity verify</code>, without this store and without a network.</Said>}
    </div>
  );
}
