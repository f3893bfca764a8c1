// The receipts of all machines in one list, the newest first. Each names its machine and its number in the log there.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { Receipt } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { many } from "~/primitives/number";
import { Answer } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Mesh.module.css";
import { nodeName } from "./words";

/** Receipts of one part of the list. */
const PART = 30;

export function Receipts() {
  const [older, setOlder] = useState(0);
  return (
    <section className={styles.section} aria-labelledby="receipts">
      <h2 id="receipts">Receipts of all machines</h2>
      <Part before={null} older={older} another={() => setOlder(older + 1)} />
    </section>
  );
}

/** A part, and behind it as many `older` ones: each begins where this one ends now, so that nothing falls between them. */
function Part({ before, older, another }: { before: number | null; older: number; another: () => void }) {
  const asked = useAsk("mesh.receipts", { before, limit: PART }, { keep: true });
  return (
    <Answer asked={asked} what="receipts" lines={3} isEmpty={(found) => found.receipts.length === 0 && before === null && found.before === null} empty={<p className={styles.note}>None yet. A receipt stands here once a machine has told it.</p>}>
      {(found) => {
        const next = found.before;
        return (
          <>
            <ul className={styles.rows}>
              {found.receipts.map((one) => <li key={`${one.node} ${one.number} ${one.place}`}><Row receipt={one} /></li>)}
            </ul>
            {next !== null && (older > 0
              ? <Part before={next} older={older - 1} another={another} />
              : <div><Button onClick={another}>Older receipts</Button></div>)}
          </>
        );
      }}
    </Answer>
  );
}

function Row({ receipt: one }: { receipt: Receipt }) {
  return (
    <div className={styles.head}>
      <b>{one.receipt_id === null ? <Words of={nodeName(one)} /> : "This machine"}</b>
      <span>entry {many(one.number)} of its log</span>
      <Hash of={one.sha256} />
      <Time at={one.at} clock />
      {one.receipt_id !== null && <Link to="/lineage" search={{ of: one.receipt_id }}>Receipt</Link>}
    </div>
  );
}
