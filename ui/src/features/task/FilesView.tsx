// Artifacts of a task, with a look inside.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { many } from "~/primitives/number";
import { asText, plain, said, trust } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import type { Artifact } from "~/ipc/generated/artifacts";
import type { Task } from "~/ipc/generated/task";
import { Segmented } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { useParts } from "~/primitives/Parts";
import { Answer, Empty } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Task.module.css";

const LOOK_BYTES = 64 * 1024;

export function FilesView({ task }: { task: Task }) {
  const asked = useAsk("artifacts.list", { task: task.row.task_id, limit: 500 });
  const [which, setWhich] = useState<"made" | "all">("made");
  return (
    <Answer asked={asked} what="files">
      {(found) => {
        const rows = found.rows.filter((row) => which === "all" || row.class !== "audit");
        return (
          <>
            <div className={styles.heading}>
              <Segmented label="Which" value={which} onChange={setWhich} options={[{ value: "made", label: "Content" }, { value: "all", label: "Records too" }]} />
              <span className={styles.space} /><span className={styles.faint}>{many(rows.length)} of {many(found.rows.length)}{found.next != null && "+"}</span>
            </div>
            {rows.length === 0 && <Empty title="No content" small>This task read and made no files. Only records of its work are kept.</Empty>}
            <Rows rows={rows} />
          </>
        );
      }}
    </Answer>
  );
}

function Rows({ rows }: { rows: readonly Artifact[] }) {
  const [open, setOpen] = useState<string | null>(null);
  const { shown, rest } = useParts(rows);
  return (
    <>
      <ul className={styles.turns}>
        {shown.map((row) => (
          <li key={row.artifact_id}>
            <button type="button" aria-expanded={open === row.artifact_id} onClick={() => setOpen(open === row.artifact_id ? null : row.artifact_id)}>
              <b><Words of={said(row.name, plain(row.kind))} /></b>
              <span>{plain(row.kind)}, {trust(row.trust)}, {bytes(row.byte_size)}</span>
              <Time at={row.created_at} clock />
            </button>
            {open === row.artifact_id && <Look row={row} />}
          </li>
        ))}
      </ul>
      {rest}
    </>
  );
}

function Look({ row }: { row: Artifact }) {
  const asked = useAsk("artifacts.content", { artifact: row.artifact_id, limit: LOOK_BYTES }, { staleTime: 60_000 });
  return (
    <div className={styles.look}>
      <Facts rows={[
        ["Digest", <Hash key="digest" of={row.sha256} />],
        ["From", <Words key="uri" of={said(row.uri)} />],
        ["Kept", `${plain(row.retention)}, ${plain(row.state)}`],
        ["Lineage", <Link key="lineage" to="/lineage" search={{ of: row.artifact_id }}>Where it came from and what came of it</Link>],
      ]} />
      <Answer asked={asked} what="the bytes" lines={3}>
        {(part) => {
          const text = asText(part.bytes);
          if (text === null) return <p className={styles.faint}>{row.media_type}: these bytes are no text.</p>;
          return (
            <>
              <pre className={styles.raw}><Words of={text} /></pre>
              {part.next_offset !== null && <p className={styles.faint}>The first {bytes(part.next_offset)} of {bytes(part.byte_size)}</p>}
            </>
          );
        }}
      </Answer>
    </div>
  );
}
