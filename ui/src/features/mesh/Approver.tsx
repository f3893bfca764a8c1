// Whether the approval key of another machine may say yes to what this machine asks: only a person here lets it, and the approval key
// of this machine signs that.
import { useState } from "react";
import { useAct, useHost } from "~/ipc/client";
import type { Node } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { Hash } from "~/primitives/Hash";
import { Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Mesh.module.css";
import { useSaying } from "./Person";
import { nodeName } from "./words";

export function Approver({ node }: { node: Node }) {
  const [isOpen, setOpen] = useState(false);
  if (node.approval_key === null) return <p className={styles.note}>It showed no approval key, so nothing that this machine asks can be answered there.</p>;
  if (node.is_approver) return <NoMore node={node} fingerprint={node.approval_key} />;
  if (isOpen) return <Let node={node} fingerprint={node.approval_key} close={() => setOpen(false)} />;
  return <div className={styles.buttons}><span className={styles.note}>It may not answer what this machine asks.</span><Button look="link" onClick={() => setOpen(true)}>Let it approve</Button></div>;
}

/** It is taken away: any page may, for that lets nobody do more. */
function NoMore({ node, fingerprint }: { node: Node; fingerprint: string }) {
  const set = useAct("mesh.approver");
  return (
    <div className={styles.form}>
      <p>It may answer what this machine asks, with its approval key <Hash of={fingerprint} what="fingerprint" />.</p>
      <div className={styles.buttons}><Button because={set.isPending ? "Saving" : null} onClick={() => set.mutate({ node: node.node, allow: false })}>Let it answer no more</Button></div>
      {set.error !== null && <Failed error={set.error} />}
    </div>
  );
}

function Let({ node, fingerprint, close }: { node: Node; fingerprint: string; close: () => void }) {
  const host = useHost();
  const set = useSaying("mesh.approver", { always: true });
  const name = nodeName(node);
  return (
    <div className={styles.inner} role="group" aria-label={`Let ${name} approve`}>
      <p>A yes that is signed by the approval key of <Words of={name} /> then counts on this machine as yours, for everything that this machine asks. Whoever has that machine and knows its passphrase can give it.</p>
      <p>Compare this fingerprint with the one that <code>hermit keys list</code> shows there for its approval key: <code>{fingerprint}</code></p>
      {host.person === undefined ? (
        <div className={styles.how}>
          <p>The approval key of this machine signs that it may, at a terminal:</p>
          <Copyable text={`hermit mesh approver ${node.node}`} />
          <div><Button look="link" onClick={close}>Close</Button></div>
        </div>
      ) : (
        <>
          {set.field}
          <div className={styles.buttons}>
            <Button look="person" because={set.isPending ? "It is being signed" : set.missing} onClick={() => set.give({ node: node.node, allow: true }, close)}>It is the same: let it approve</Button>
            <Button look="link" onClick={close}>Cancel</Button>
          </div>
        </>
      )}
      {set.error !== null && <Failed error={set.error} />}
    </div>
  );
}
