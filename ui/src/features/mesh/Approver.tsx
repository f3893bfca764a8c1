// Whether the approval key of another machine may say yes to what this machine asks: only a person here lets it.
import { useState } from "react";
import { useAct } from "~/ipc/client";
import type { Node } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { Words } from "~/primitives/Words";
import styles from "./Mesh.module.css";
import { AtTerminal, NotDone, useMayChange } from "./Terminal";
import { nodeName } from "./words";

export function Approver({ node }: { node: Node }) {
  const set = useAct("mesh.approver");
  const mayChange = useMayChange();
  const [isOpen, setOpen] = useState(false);
  const name = nodeName(node);
  if (node.approval_key === null) return <p className={styles.note}>It showed no approval key, so nothing that this machine asks can be answered there.</p>;
  const say = (allow: boolean) => set.mutate({ node: node.node, allow }, { onSuccess: () => setOpen(false) });
  const command = `hermit mesh approver ${node.node}${node.is_approver ? " --no" : ""}`;
  const what = "change who may approve here";
  if (node.is_approver) {
    return (
      <div className={styles.form}>
        <p>It may answer what this machine asks, with its approval key <Hash of={node.approval_key} what="fingerprint" />.</p>
        {mayChange
          ? <div className={styles.buttons}><Button because={set.isPending ? "Saving" : null} onClick={() => say(false)}>Let it answer no more</Button></div>
          : <AtTerminal what={what} command={command} />}
        <NotDone error={set.error} what={what} command={command} />
      </div>
    );
  }
  if (!isOpen) return <div className={styles.buttons}><span className={styles.note}>It may not answer what this machine asks.</span><Button look="link" onClick={() => setOpen(true)}>Let it approve</Button></div>;
  return (
    <div className={styles.inner} role="group" aria-label={`Let ${name} approve`}>
      <p>A yes that is signed by the approval key of <Words of={name} /> then counts on this machine as yours, for everything that this machine asks. Whoever has that machine and knows its passphrase can give it.</p>
      <p>Compare this fingerprint with the one that <code>hermit keys list</code> shows there for its approval key: <code>{node.approval_key}</code></p>
      {mayChange ? (
        <div className={styles.buttons}>
          <Button look="person" because={set.isPending ? "Saving" : null} onClick={() => say(true)}>It is the same: let it approve</Button>
          <Button look="link" onClick={() => setOpen(false)}>Cancel</Button>
        </div>
      ) : <AtTerminal what={what} command={command} />}
      <NotDone error={set.error} what={what} command={command} />
    </div>
  );
}
