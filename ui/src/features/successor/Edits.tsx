// Tests that a change edits, moves or removes: each difference, and that a person has looked at it.
import { useState } from "react";
import type { TrialEdit } from "~/ipc/generated/successor";
import { Check } from "~/primitives/Field";
import { Lines } from "~/primitives/Lines";
import { Words } from "~/primitives/Words";
import { count } from "~/screen/words";
import styles from "./Successor.module.css";

interface Props {
  of: readonly TrialEdit[];
  /** The digests of those that were looked at; null where nobody asks. */
  looked: ReadonlySet<string> | null;
  turn: (sha256: string, isLooked: boolean) => void;
}

export function Edits({ of, looked, turn }: Props) {
  return (
    <section className={styles.section} aria-labelledby="edits">
      <h3 id="edits">Tests that it edits, moves or removes</h3>
      {looked !== null && <p>Open each difference and look at it. What you have looked at is named on the card, and you approve exactly that.</p>}
      {of.map((one) => <Edit key={one.sha256} of={one} isLooked={looked?.has(one.sha256) ?? null} turn={turn} />)}
    </section>
  );
}

function Edit({ of, isLooked, turn }: { of: TrialEdit; isLooked: boolean | null; turn: Props["turn"] }) {
  const [wasOpen, setOpen] = useState(false);
  const lines = of.difference.replace(/\n$/, "").split("\n");
  return (
    <div role="group" aria-label={`Tests in ${of.file}`} className={styles.edit}>
      <h4><Words of={of.file} /></h4>
      <Lines title={`Difference (${count(lines.length, "line")})`} lines={lines} mono diff opened={() => setOpen(true)} />
      {isLooked !== null && <Check label={<>I have looked at the difference of <Words of={of.file} /></>} checked={isLooked} disabled={!wasOpen && !isLooked} onChange={(event) => turn(of.sha256, event.target.checked)} />}
      {isLooked === false && !wasOpen && <p className={styles.note}>Open the difference first.</p>}
    </div>
  );
}
