// Risk and state: always a shape and a word, never colour alone.
import type { ReactNode } from "react";
import { Mark, type MarkName } from "./Icon";
import styles from "./Tag.module.css";

export type Risk = "low" | "moderate" | "high" | "critical";
export type Tone = "waiting" | "running" | "done" | "failed" | "unknown" | "mute";

/** The shape of a risk; a risk that is none of the four is shown as not known, never as a low one. */
const markOf = (risk: Risk): Risk | "unknown" => (["low", "moderate", "high", "critical"].includes(risk) ? risk : "unknown");

export function RiskTag({ risk }: { risk: Risk }) {
  return (
    <span className={styles.tag} data-risk={markOf(risk)}>
      <Mark name={markOf(risk)} size={11} />
      {risk.charAt(0).toUpperCase() + risk.slice(1)} risk
    </span>
  );
}

export function RiskMark({ risk }: { risk: Risk }) {
  return (
    <span className={styles.bare} data-risk={markOf(risk)}>
      <Mark name={markOf(risk)} size={13} />
    </span>
  );
}

export function StateTag({ tone, mark, children }: { tone: Tone; mark?: MarkName; children: ReactNode }) {
  return (
    <span className={styles.tag} data-tone={tone}>
      {mark !== undefined && <Mark name={mark} size={11} />}
      {children}
    </span>
  );
}

export function StateWord({ tone, mark, children }: { tone: Tone; mark: MarkName; children: ReactNode }) {
  return (
    <span className={styles.word} data-tone={tone}>
      <Mark name={mark} size={12} />
      {children}
    </span>
  );
}

/** How much waits for a person. */
export function Count({ of }: { of: number }) {
  if (of === 0) return null;
  return (
    <span className={styles.count}>
      {of > 999 ? "999+" : of}
      <span className="visually-hidden"> {of === 1 ? "waits" : "wait"} for you</span>
    </span>
  );
}

/** A key on the keyboard. */
export function Key({ children }: { children: ReactNode }) {
  return <kbd className={styles.key}>{children}</kbd>;
}

/** A reference to a recorded thing, short. */
export function Cite({ children, title }: { children: ReactNode; title?: string }) {
  return <span className={styles.cite} title={title}>{children}</span>;
}

/** What is told like the record, whose words stand beside it. */
export function ToCompare() {
  return (
    <span className={styles.compare}>
      <Mark name="unknown" size={10} />
      COMPARE
    </span>
  );
}

/** What no receipt confirms. */
export function Unverified({ children = "UNVERIFIED" }: { children?: ReactNode }) {
  return (
    <span className={styles.unverified}>
      <Mark name="unknown" size={10} />
      {children}
    </span>
  );
}
