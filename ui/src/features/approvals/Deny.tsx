// A no, with words for the proposer or without. Any surface may give one. The words are kept until they are sent.
import { useAct, useHost } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { CommentList, useReason } from "~/primitives/Comments";
import { TextArea } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { useTabDraftOf } from "~/screen/drafts";
import styles from "./Card.module.css";

export function Deny({ id, denied }: { id: string; denied?: () => void }) {
  const host = useHost();
  const [feedback, setFeedback] = useTabDraftOf(`deny.${id}`);
  const deny = useAct("approvals.deny", { taken: () => setFeedback("") });
  const words = useReason(feedback);
  // In the app the shell says which of its windows it was.
  const surface = host.kind === "tauri" ? null : "browser";
  const say = (stop: boolean) => deny.mutate({ approval: id, surface, feedback: words, ...(stop ? { stop } : {}) }, { onSuccess: () => denied?.() });
  return (
    <section>
      <CommentList />
      <TextArea label="Reason for denying (the agent sees it)" value={feedback} rows={2} onChange={(event) => setFeedback(event.target.value)} />
      <div className={styles.row}>
        <Button data-deny because={deny.isPending ? "Saving" : null} onClick={() => say(false)}>{words === null ? "Deny" : "Deny with reason"}</Button>
        <Button because={deny.isPending ? "Saving" : null} title="Denies this and ends the task; the model asks for nothing more" onClick={() => say(true)}>Deny and stop</Button>
      </div>
      {deny.error !== null && <Failed error={deny.error} />}
    </section>
  );
}
