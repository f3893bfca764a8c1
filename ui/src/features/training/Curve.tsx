// The curve of the loss, from the first step that is kept to the newest.
import type { LossPoint } from "~/ipc/generated/training";
import styles from "./Training.module.css";
import { loss } from "./words";

const WIDE = 300;
const HIGH = 90;

export function Curve({ of }: { of: readonly LossPoint[] }) {
  const first = of[0];
  const last = of.at(-1);
  if (first === undefined || last === undefined || of.length < 2) return null;
  const most = Math.max(...of.map((point) => point.micros));
  const least = Math.min(...of.map((point) => point.micros));
  const x = (step: number) => ((step - first.step) / Math.max(last.step - first.step, 1)) * WIDE;
  const y = (micros: number) => HIGH - ((micros - least) / Math.max(most - least, 1)) * (HIGH - 6) - 3;
  const points = of.map((point) => `${x(point.step).toFixed(1)},${y(point.micros).toFixed(1)}`).join(" ");
  return (
    <svg className={styles.curve} viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" role="img" aria-label={`Loss from ${loss(first.micros)} at step ${first.step} to ${loss(last.micros)} at step ${last.step}`}>
      <polyline points={points} />
    </svg>
  );
}
