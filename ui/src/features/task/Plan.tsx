// The steps of a task that has several: which are done, which is under way, which are to come.
import { useMemo } from "react";
import { Mark } from "~/primitives/Icon";
import type { Tone } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import type { See } from "~/screen/see";
import type { Row } from "./story";
import styles from "./Task.module.css";

const STANDS: Readonly<Record<Tone, string>> = {
  mute: "to come", running: "under way", waiting: "waiting", done: "done", failed: "failed", unknown: "not known",
};

/** One step is the task itself, and has no plan. */
export function Plan({ rows, see }: { rows: readonly Row[]; see: (see: See) => void }) {
  const steps = useMemo(() => rows.filter((row) => row.level === "step"), [rows]);
  if (steps.length < 2) return null;
  const done = steps.filter((step) => step.tone === "done").length;
  return (
    <details className={styles.plan} open>
      <summary>Plan: {done} of {steps.length} steps done</summary>
      <ol>
        {steps.map((step) => (
          <li key={step.key} data-tone={step.tone} aria-current={step.tone === "running" ? "step" : undefined}>
            <Mark name={step.mark ?? "idle"} size={11} />
            <button type="button" onClick={() => see(step.see)}><Words of={step.text} /></button>
            <span>{step.mark === "deny" && step.tone === "mute" ? "cancelled" : STANDS[step.tone]}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
