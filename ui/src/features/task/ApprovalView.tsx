import { Link } from "@tanstack/react-router";
import { Asker } from "~/features/approvals/Asker";
import { Card } from "~/features/approvals/Card";
import { ChangeList, useChanges } from "~/features/approvals/ChangeList";
import { FoldersMade } from "~/features/approvals/FoldersMade";
import { WithOrigin } from "~/features/approvals/WithOrigin";
import { approvalLook, capital, said, surfaceName } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Answer } from "~/primitives/States";
import { RiskTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Task.module.css";

export function ApprovalView({ id }: { id: string }) {
  const asked = useAsk("approvals.show", { approval: id });
  const changes = useChanges(id);
  return (
    <Answer asked={asked} what="the approval">
      {(approval) => {
        const { row } = approval;
        // What waits is decided where it is seen, with all that stands on its card.
        if (row.status === "pending") return <Card id={id} stacked />;
        return (
          <>
            <div className={styles.heading}><RiskTag risk={row.risk} /><h3><Words of={capital(approval.title)} /></h3></div>
            <Asker of={row} />
            <Facts ruled rows={[
              ["Status", <>{approvalLook(row.status).word}{row.surface !== null && ` ${surfaceName(row.surface)}`}</>],
              ["Asked", <Time key="asked" at={row.requested_at} ago />],
              row.resolved_at === null ? null : ["Answered", <Time key="answered" at={row.resolved_at} ago />],
              row.feedback === null ? null : ["Your words", <Words key="words" of={said(row.feedback)} />],
              ["Fingerprint", <Hash key="packet" of={approval.packet_sha256} />],
              ["Key", approval.approval_keyid === null ? "None" : <Hash key="key" of={approval.approval_keyid} />],
            ]} />
            <p className={styles.review}><Link to="/" search={{ at: id }}>See the card as it was</Link></p>
            <Answer asked={changes} what="the changes" lines={3}>
              {(found) => <WithOrigin of={id} task={row.task_id}><ChangeList of={id} first={found} /><FoldersMade changes={found} /></WithOrigin>}
            </Answer>
          </>
        );
      }}
    </Answer>
  );
}
