// Stands in for notifications where a desktop has none: says what waits, and opens the card.
import { AskerLine } from "~/features/approvals/Asker";
import { shortFolder } from "~/features/approvals/Title";
import { capital, said, whoAsks } from "~/screen/words";
import { useAsk, useHost, useNotices } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Shell } from "~/primitives/Shell";
import { Words } from "~/primitives/Words";
import { many } from "~/primitives/number";
import styles from "./ApprovalWindow.module.css";

export function Notice({ leave }: { leave: () => void }) {
  useNotices();
  const host = useHost();
  const asked = useAsk("approvals.list", { limit: 20 });
  const rows = asked.data?.rows ?? [];
  const [first] = rows;
  return (
    <main className={styles.notice}>
      <Shell state="waiting" size={28} />
      <div>
        <h1>{rows.length <= 1 ? "Hermit waits for you" : `${many(rows.length)} things wait for you`}</h1>
        <p>{first === undefined ? "Looking what it is" : <><Words of={capital(said(first.summary))} /> ({first.risk} risk)</>}</p>
        {typeof first?.workspace === "string" && <p>In the folder: <Words of={shortFolder(first.workspace)} /></p>}
        {first !== undefined && whoAsks(first).length > 0 && <p><AskerLine of={first} /></p>}
        <footer>
          <Button look="person" because={first === undefined ? "Looking what it is" : null} onClick={() => first !== undefined && void host.openCard?.(first.approval_id)}>Review</Button>
          <Button onClick={leave}>Later</Button>
        </footer>
      </div>
    </main>
  );
}
