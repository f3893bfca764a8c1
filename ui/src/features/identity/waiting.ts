// Whether a change of SOUL.md is asked about, whoever asked: this page, another one, or a terminal.
import { useAsk, useKept } from "~/ipc/client";
import type { Identity } from "~/ipc/generated/identity";
import { isOver } from "~/screen/words";

/** Whether a change is asked about: the task that asks, and that it was denied. */
export interface Waiting { is: "no" | "waits" | "denied"; task: string | null; sent: (task: string) => void }

export function useWaiting(of: Identity): Waiting {
  const [sent, keep] = useKept<string>("identity.sent");
  const task = of.asked ?? sent;
  const shown = useAsk("task.show", { task: task ?? "" }, { enabled: task !== null });
  const status = shown.data?.row.run_status;
  const nothing = { is: "no", task: null, sent: keep } as const;
  if (task === null) return nothing;
  if (of.asked !== null || status === undefined || !isOver(status)) return { is: "waits", task, sent: keep };
  return status === "completed" ? nothing : { is: "denied", task, sent: keep };
}
