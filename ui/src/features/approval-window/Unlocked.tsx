// What is decided is signed into a receipt, so locked keys are unlocked where the decision is made.
import { type FormEvent, type ReactNode, useState } from "react";
import card from "~/features/approvals/Card.module.css";
import { Secret } from "~/features/keys/NewKeys";
import type { Desk } from "~/host/desk";
import { type Refused, refusal } from "~/host/host";
import { useAsk } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Failed } from "~/primitives/States";
import styles from "./ApprovalWindow.module.css";

/** Its children once the keys are open; the passphrase of their vault before. */
export function Unlocked({ desk, children }: { desk: Desk; children: ReactNode }) {
  const keys = useAsk("keys.list", {});
  const [words, setWords] = useState("");
  const [isOpening, setOpening] = useState(false);
  const [error, setError] = useState<Refused | null>(null);
  if (keys.data?.keys.some((key) => key.purpose === "receipt" && key.open === false) !== true) return children;
  const open = async (event: FormEvent) => {
    event.preventDefault();
    if (words === "" || isOpening) return;
    setOpening(true);
    setError(null);
    setWords("");
    try {
      await desk.unlock(words);
      await keys.refetch();
    } catch (thrown) {
      setError(refusal(thrown));
    } finally {
      setOpening(false);
    }
  };
  return (
    <form className={styles.locked} onSubmit={(event) => void open(event)} aria-label="Unlock the keys">
      <p>The keys are locked, and what you decide is signed. Unlock them to approve or deny.</p>
      <Secret label="Vault passphrase" value={words} set={setWords} />
      <div className={card.row}>
        <Button look="person" icon="key" type="submit" because={isOpening ? "Unlocking" : words === "" ? "Type the vault passphrase first" : null}>{isOpening ? "Unlocking" : "Unlock"}</Button>
        <Button onClick={() => void desk.leave()}>Later</Button>
      </div>
      {error !== null && <Failed error={error} />}
    </form>
  );
}
