// How much room content takes, and making more: what would go is shown first, and exactly that goes.
import { useState } from "react";
import { Copyable } from "~/primitives/Copyable";
import { count, plain } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { Collected, Weighed } from "~/ipc/generated/artifacts";
import { Button } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Facts, Meter } from "~/primitives/Facts";
import { Answer, Failed, Said } from "~/primitives/States";
import styles from "./Settings.module.css";

export function DiskUsage() {
  const [looking, setLooking] = useState(false);
  const weight = useAsk("artifacts.weigh", {});
  const plan = useAsk("artifacts.garbage", {}, { enabled: looking });
  const collect = useAct("artifacts.collect");
  const look = () => {
    collect.reset();
    setLooking(true);
    if (looking) void plan.refetch();
  };
  return (
    <section aria-labelledby="room">
      <h2 id="room">Storage</h2>
      <Answer asked={weight} what="how much storage content takes">{(found) => <Size of={found} />}</Answer>
      <p>Hermit can delete content that no receipt needs, one month after its task ended: mostly what was sent to models. Everything that was done can still be undone, explained and proven.</p>
      <div><Button because={plan.isFetching ? "Looking" : null} onClick={look}>{plan.isFetching ? "Looking" : "Free up space…"}</Button></div>
      {looking && collect.data === undefined && (
        <Answer asked={plan} what="what can be deleted">
          {(found) => <Plan of={found} busy={collect.isPending} go={() => collect.mutate({ plan: found.plan }, { onSuccess: () => setLooking(false) })} />}
        </Answer>
      )}
      {collect.data !== undefined && <Went told={collect.data} />}
      {collect.error !== null && <Failed error={collect.error} />}
    </section>
  );
}

function Size({ of }: { of: Weighed }) {
  return (
    <>
      <Meter label="Storage that content takes" used={of.disk_bytes} of={of.quota_bytes} />
      <Facts wide rows={[
        ["On disk", `${bytes(of.disk_bytes)} in ${count(of.files, "file")}; Hermit warns you at ${bytes(of.quota_bytes)}`],
        ["Content in files", `${count(of.contents, "content")}, ${bytes(of.content_bytes)}`],
        ["Content in the database", of.in_ledger === undefined ? "All content of up to 64 KiB" : `${count(of.in_ledger, "content")} of up to 64 KiB`],
        of.saved_bytes === 0 ? null : ["Saved", `${bytes(of.saved_bytes)}: equal parts are stored once`],
      ]} />
    </>
  );
}

function Plan({ of, busy, go }: { of: Collected; busy: boolean; go: () => void }) {
  if (of.artifacts === 0 && of.orphans === 0) {
    return <Said tone="note">Nothing can be deleted now: receipts need it, or its month is not over.</Said>;
  }
  return (
    <>
      <ul className={styles.models} aria-label="What would be deleted">
        {of.by_kind.map((kind) => <li key={kind.kind}><span /><span>{plain(kind.kind)}</span><span>{kind.artifacts}, {bytes(kind.bytes)}</span></li>)}
        {of.orphans > 0 && <li><span /><span>left by interrupted work, used by nothing</span><span>{of.orphans}</span></li>}
      </ul>
      <p>{count(of.artifacts, "content")} of {bytes(of.bytes)} would be deleted for good, which frees {bytes(of.disk_bytes)}. {count(of.kept, "content")} stay. A signed list records what was deleted.</p>
      <Copyable text="hermit artifacts keep ARTIFACT" />
      <div><Button look="danger" because={busy ? "Deleting" : null} onClick={go}>Delete {count(of.artifacts, "content")}</Button></div>
    </>
  );
}

function Went({ told }: { told: Collected }) {
  return (
    <Said tone={told.unreadable > 0 ? "failed" : "done"}>
      {count(told.artifacts, "content")} deleted, {bytes(told.disk_bytes)} freed.
      {told.unreadable > 0 && ` The lists of ${told.unreadable} are damaged, so no part of large content was deleted; restore them from a backup.`}
    </Said>
  );
}
