// On what a claim rests, and how a person ends it.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Evidence } from "~/ipc/generated/knowledge";
import { Button } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { Hash } from "~/primitives/Hash";
import { Failed } from "~/primitives/States";
import { plain, trust } from "~/screen/words";
import styles from "./Knowledge.module.css";

export function EvidenceList({ of }: { of: readonly Evidence[] }) {
  if (of.length === 0) return <p className={styles.none}>Its evidence was not kept.</p>;
  return (
    <ul className={styles.evidence}>
      {of.map((one, at) => (
        <li key={at} data-trust={one.trust}>
          <Link to="/lineage" search={{ of: one.artifact_id }}>{plain(one.part)}</Link>
          <span>{trust(one.trust)}, {one.confidence / 10} %</span>
          <Hash of={one.excerpt_sha256} />
        </li>
      ))}
    </ul>
  );
}

/** A reason, and the end of what is held. */
export function Refute({ label, act, asked, give }: { label: string; act: string; asked: { error: Error | null }; give: (reason: string) => void }) {
  const [why, setWhy] = useState("");
  return (
    <div className={styles.act}>
      <TextArea label={label} rows={2} value={why} onChange={(event) => setWhy(event.target.value)} />
      <Button because={why.trim() === "" ? "Give a reason first" : null} onClick={() => give(why.trim())}>{act}</Button>
      {asked.error !== null && <Failed error={asked.error} />}
    </div>
  );
}
