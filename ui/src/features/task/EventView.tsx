import { plain } from "~/screen/words";
import type { Event } from "~/ipc/generated/task_events";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Empty } from "~/primitives/States";
import { Time, exact } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { StepView } from "./StepView";
import styles from "./Task.module.css";

/** An event as it stands in the ledger; of a step that was planned, what it promises before. */
export function EventView({ event, task }: { event: Event | undefined; task: string }) {
  if (event === undefined) return <Empty title="This event is not here" small>It may not have been read yet.</Empty>;
  return (
    <>
      {event.event_type === "step.created" && <StepView task={task} step={event.entity_id} />}
      <div className={styles.heading}><h3><code>{event.event_type}</code></h3><span className={styles.space} /><span className={styles.faint}>event {event.seq}</span></div>
      <Facts ruled rows={[
        ["When", <span key="at" title={exact(event.at)}><Time at={event.at} ago /></span>],
        ["By", <>{plain(event.actor_type)} <Hash of={event.actor_id} what="principal" /></>],
        ["About", <>{plain(event.entity_type)} <Hash of={event.entity_id} what="identifier" /></>],
        ["Hash", <Hash key="hash" of={event.hash} />],
        ["Links to", <Hash key="prev" of={event.prev_hash} />],
      ]} />
      <pre className={styles.raw}><Words of={JSON.stringify(event.body, null, 2)} /></pre>
    </>
  );
}
