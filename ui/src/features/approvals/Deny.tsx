// A no, with words for the proposer or without. Any surface may give one.
import { useState } from "react";
import { useAct, useHost } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import styles from "./Card.module.css";

export function Deny({ id, denied }: { id: string; denied?: () => void }) {
  const host = useHost();
  const deny = useAct("approvals.deny");
  const [feedback, setFeedback] = useState("");
  const words = feedback.trim();
  // In the app the shell says which of its windows it was.
  const surface = host.kind === "tauri" ? null : "browser";
  return (
    <section>
      <TextArea label="Reason for denying (the model sees it)" value={feedback} rows={2} onChange={(event) => setFeedback(event.target.value)} />
      <div className={styles.row}>
        <Button
          because={deny.isPending ? "Saving" : null}
          onClick={() => deny.mutate({ approval: id, surface, feedback: words === "" ? null : words }, { onSuccess: () => denied?.() })}
        >
          {words === "" ? "Deny" : "Deny with reason"}
        </Button>
      </div>
      {deny.error !== null && <Failed error={deny.error} />}
    </section>
  );
}
