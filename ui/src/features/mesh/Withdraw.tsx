// A machine is not to be believed any more: what that means is said before, and it is asked once more.
import { useState } from "react";
import type { Node } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Mesh.module.css";
import { useSaying } from "./Person";
import { nodeName } from "./words";

export function Withdraw({ node, close }: { node: Node; close: () => void }) {
  const withdraw = useSaying("mesh.withdraw");
  const [reason, setReason] = useState("");
  const name = nodeName(node);
  return (
    <div className={styles.inner} role="group" aria-label={`Withdraw ${name}`}>
      <p>From now on none of your machines believes <Words of={name} />: nothing that it says is read, its key gives no yes, and what waits for it never comes. Your other machines are told, and get a new shared key that it does not have.</p>
      <p>Do this for a machine that was lost, sold or taken. Nothing on it is erased. This cannot be taken back: its key can never be paired again, so to use that machine again it needs a new store with a new key.</p>
      <TextField label="Reason (optional)" value={reason} hint="It stands in your log." onChange={(event) => setReason(event.target.value)} />
      {withdraw.field}
      <div className={styles.buttons}>
        <Button look="danger" because={withdraw.isPending ? "Withdrawing" : withdraw.missing} onClick={() => withdraw.give({ node: node.node, reason: reason.trim() === "" ? null : reason.trim() })}>Withdraw <Words of={name} /></Button>
        <Button look="link" onClick={close}>Keep it</Button>
      </div>
      {withdraw.error !== null && <Failed error={withdraw.error} />}
    </div>
  );
}
