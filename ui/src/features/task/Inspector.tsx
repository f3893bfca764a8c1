// Everything behind what is chosen, and what belongs to the task as a whole.
import { useState } from "react";
import type { Event } from "~/ipc/generated/task_events";
import type { Task } from "~/ipc/generated/task";
import { Segmented } from "~/primitives/Button";
import { Empty } from "~/primitives/States";
import { ActionView } from "./ActionView";
import { ApprovalView } from "./ApprovalView";
import { EventView } from "./EventView";
import { FilesView } from "./FilesView";
import { ReceiptView } from "./ReceiptView";
import { StateView } from "./StateView";
import { SummaryView } from "./SummaryView";
import { TurnView, TurnsView } from "./TurnView";
import type { See } from "~/screen/see";
import styles from "./Task.module.css";

type Tab = "chosen" | "sent" | "files" | "state";

export function Inspector({ task, events, see, onSee }: { task: Task; events: readonly Event[]; see: See | null; onSee: (see: See) => void }) {
  const [tab, setTab] = useState<Tab>("chosen");
  const [seen, setSeen] = useState<See | null>(see);
  if (see !== seen) {
    // Choosing something in the story brings it to the front.
    setSeen(see);
    setTab("chosen");
  }
  return (
    <section className={styles.column} aria-label="Details">
      <header>
        <Segmented<Tab>
          label="Details" value={tab} onChange={setTab}
          options={[{ value: "chosen", label: "Details" }, { value: "sent", label: "Sent to model" }, { value: "files", label: "Files" }, { value: "state", label: "Memory" }]}
        />
      </header>
      <div className={styles.inspector} tabIndex={0} role="region" aria-label="Details of what is chosen">
        {tab === "chosen" && <Chosen task={task} events={events} see={see} onSee={onSee} />}
        {tab === "sent" && <TurnsView task={task} onSee={onSee} />}
        {tab === "files" && <FilesView task={task} />}
        {tab === "state" && <StateView task={task} />}
      </div>
    </section>
  );
}

function Chosen({ task, events, see, onSee }: { task: Task; events: readonly Event[]; see: See | null; onSee: (see: See) => void }) {
  if (see === null) return <Empty title="Nothing selected" small>Select something in the timeline to see everything behind it.</Empty>;
  switch (see.kind) {
    case "receipt":
      return <ReceiptView key={see.id} id={see.id} task={task} onSee={onSee} />;
    case "approval":
      return <ApprovalView key={see.id} id={see.id} />;
    case "turn":
      return <TurnView key={`${see.attempt}:${see.iteration}`} task={task} attempt={see.attempt} iteration={see.iteration} />;
    case "summary":
      return <SummaryView key={see.id} task={task} artifact={see.id} onSee={onSee} />;
    case "action":
      return <ActionView action={task.actions.find((one) => one.action_request_id === see.id)} onSee={onSee} />;
    case "event":
      return <EventView event={events.find((one) => one.seq === see.seq)} task={task.row.task_id} />;
    default:
      return see satisfies never;
  }
}
