// The sign: arcs that do not close, and a dot in the gap. The dot is the person.
import styles from "./Shell.module.css";

export type ShellState = "idle" | "waiting" | "running" | "unknown" | "halted";

export function Shell({ state = "idle", size = 22 }: { state?: ShellState; size?: number }) {
  return (
    <svg className={styles.shell} data-state={state} width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <g>
        <path className={styles.outer} d="M13.67 20.52A9.4 9.4 0 1 1 20.52 13.67" />
        <path className={styles.middle} d="M13.84 18.94A6 6 0 1 1 18.94 13.84" />
        <path d="M14.11 17.18A2.8 2.8 0 1 1 17.18 14.11" />
      </g>
      {state === "waiting" && <circle className={styles.person} cx="19.6" cy="19.6" r="2.9" />}
      {state === "halted" && <path className={styles.bar} d="M15.6 22.2 22.2 15.600" />}
    </svg>
  );
}

const ARCS = [
  ["M146.15 202.33A94 94 0 1 1 202.33 146.15", 1], ["M145.79 195.23A77 77 0 1 1 195.23 145.79", 0.55],
  ["M145.81 187.64A61 61 0 1 1 187.64 145.81", 0.48], ["M145.85 180.32A46 46 0 1 1 180.32 145.85", 0.41],
  ["M145.52 173.18A32.5 32.5 0 1 1 173.18 145.52", 0.34], ["M145.5 166A20.5 20.5 0 1 1 166 145.5", 0.27],
  ["M147.26 158.85A10 10 0 1 1 158.85 147.26", 0.22],
] as const;

/** The large arcs of empty states and the first run; the dot stands there only if there is something to do. */
export function Arcs({ size, person }: { size: number; person: boolean }) {
  return (
    <svg className={styles.arcs} width={size} height={size} viewBox="0 0 240 240" aria-hidden="true">
      {ARCS.map(([d, opacity]) => (
        <path key={d} d={d} opacity={opacity} />
      ))}
      {person && <circle className={styles.person} cx="180" cy="180" r="8" />}
    </svg>
  );
}
