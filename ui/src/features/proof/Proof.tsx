// Proofs for people who do not run Hermit, and the health of the log that they rest on.
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Screen } from "~/screen/Screen";
import { capital, count, plain, said } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { Report as LedgerReport } from "~/ipc/generated/ledger";
import type { Verdict } from "~/ipc/generated/shared";
import { Button, Segmented } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import type { MarkName } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { Answer, Empty, Failed, Loading, Said } from "~/primitives/States";
import { StateWord, type Tone } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { Copyable } from "~/primitives/Copyable";
import { Export } from "./Export";
import { VerifyProof } from "./VerifyProof";
import styles from "./Proof.module.css";

type Tab = "export" | "verify" | "ledger" | "keys";

export const VERDICT: Record<Verdict, { tone: Tone; mark: MarkName; word: string }> = {
  valid: { tone: "done", mark: "done", word: "Valid" },
  invalid: { tone: "failed", mark: "failed", word: "Not valid" },
  unverifiable: { tone: "unknown", mark: "unknown", word: "Intact, signer unknown" },
  incomplete: { tone: "unknown", mark: "unknown", word: "Incomplete" },
};

export function Proof({ task }: { task: string | undefined }) {
  const [tab, setTab] = useState<Tab>("export");
  return (
    <Screen
      title="Proof"
      sub={
        <Segmented<Tab>
          label="Which" value={tab} onChange={setTab}
          options={[{ value: "export", label: "Export" }, { value: "verify", label: "Verify" }, { value: "ledger", label: "Ledger" }, { value: "keys", label: "Keys" }]}
        />
      }
    >
      {tab === "export" && <Export task={task} />}
      {tab === "verify" && <VerifyProof />}
      {tab === "ledger" && <Ledger />}
      {tab === "keys" && <Keys />}
    </Screen>
  );
}

function Ledger() {
  const stats = useAsk("ledger.stats", {});
  const gate = useAsk("gate.state", {});
  const checked = useAsk("ledger.verify", {}, { enabled: false });
  const sign = useAct("ledger.checkpoint");
  return (
    <div className={styles.two}>
      <section>
        <h2>Check the ledger</h2>
        <p>Every event is chained to the one before it by a hash. The check reads all of them.</p>
        <div className={styles.row}>
          <Button look="person" because={checked.isFetching ? "Checking" : null} onClick={() => void checked.refetch()}>Check the whole ledger</Button>
          <Button because={sign.isPending ? "Signing" : null} onClick={() => sign.mutate({})}>Sign checkpoints</Button>
        </div>
        {checked.isFetching && <Loading what="the ledger" lines={3} />}
        {checked.error !== null && <Failed error={checked.error} />}
        {checked.data !== undefined && <Checked report={checked.data} />}
        {sign.error !== null && <Failed error={sign.error} />}
        {sign.data !== undefined && <Said tone="done">{count(sign.data.checkpoints.length, "tree head")} signed or still good.</Said>}
      </section>
      <section>
        <h2>Contents</h2>
        <Answer asked={stats} what="the ledger's size">
          {(of) => (
            <Facts wide rows={[
              ["Events", many(of.events)],
              ["Tasks", many(of.tasks)],
              ["Gate entries", many(of.entries)],
              ["Checkpoints", many(of.checkpoints)],
              ["Sensitive values", `${many(of.disclosures)} stored apart, so that they can be erased`],
              ["On disk", `${bytes(of.file_bytes)}, and ${bytes(of.wal_bytes)} not merged yet`],
              ["Times opened", String(of.epoch)],
              ["Log", <Hash key="log" of={of.log_id} what="log identifier" />],
            ]} />
          )}
        </Answer>
        <h2>Anchors</h2>
        <p>Clocks elsewhere show when this log was there, also to somebody who trusts none of its keys. <Link to="/anchors">Anchors</Link></p>
        <h2>Security gate</h2>
        <Answer asked={gate} what="the gate">
          {(of) => (
            <Facts wide rows={[
              ["Status", of.halted ? `Halted: ${said(of.reason, "no reason given")}` : "Running"],
              of.since === null ? null : ["Since", <Time key="since" at={of.since} ago />],
              ["Entries", many(of.entries)],
              ["Head", <Hash key="head" of={of.head} />],
              ["Session", <Hash key="session" of={of.session} what="session" />],
            ]} />
          )}
        </Answer>
      </section>
    </div>
  );
}

function Checked({ report }: { report: LedgerReport }) {
  const came = VERDICT[report.verdict];
  return (
    <div className={styles.checked} data-verdict={report.verdict}>
      <StateWord tone={came.tone} mark={came.mark}>{came.word}</StateWord>
      <p><Words of={capital(report.reason)} /></p>
      <Facts wide rows={[
        report.place === null ? null : ["First problem", report.place],
        ...report.severed.map((cut): [string, ReactNode] => ["Cut off by a person", <Severed key={cut.log_seq} cut={cut} />]),
        ["Read", `${count(report.events, "event")}, ${count(report.entries, "gate entry", "gate entries")}, ${count(report.artifacts, "artifact")}`],
        ["Checkpoints", `${report.trusted_checkpoints} of ${report.checkpoints} by a trusted key`],
        ["Not signed yet", count(report.unsigned_events, "event")],
        ["Kept outside", report.pinned ? "Compared with the checkpoint kept outside the store" : "No checkpoint is kept outside the store"],
      ]} />
    </div>
  );
}

/** The end of a task's chain that did not fit: it is kept, and nobody vouches for it. */
function Severed({ cut }: { cut: LedgerReport["severed"][number] }) {
  return (
    <>
      <Hash of={cut.task_id} what="task" /> from event {cut.from_seq} on: {count(cut.rows, "event")} kept for reading only, confirmed by nobody
      {cut.lost > 0 && <>, {count(cut.lost, "event")} lost</>}, <Time at={cut.at} ago />. {said(cut.reason, "The reason was erased.")} <Copyable text={`hermit ledger severed ${cut.task_id}`} />
    </>
  );
}

function Keys() {
  const asked = useAsk("keys.list", {});
  return (
    <Answer
      asked={asked} what="keys" isEmpty={(found) => found.keys.length === 0}
      empty={<Empty title="This store has no keys" todo>Without keys nothing is signed and you cannot approve anything. <Link to="/first">Set up keys</Link></Empty>}
    >
      {(found) => (
        <div className={styles.keys}>
          <p>These are the public keys. Write the key ids down somewhere else: with them anybody can check your proofs.</p>
          <table className={table.table}>
            <thead><tr><th>For</th><th>Key id</th><th>Fingerprint</th><th>Unlocked</th></tr></thead>
            <tbody>{found.keys.map((key) => (
              <tr key={key.keyid}>
                <td className={table.main}>{PURPOSE[key.purpose] ?? plain(key.purpose)}</td>
                <td><Hash of={key.keyid} what="key id" /></td>
                <td><code>{key.ssh_fingerprint}</code></td>
                <td>{key.open === null ? "not known" : key.open ? "yes" : "no"}</td>
              </tr>
            ))}</tbody>
          </table>
          {found.keys.map((key) => (
            <details key={key.keyid}><summary>{PURPOSE[key.purpose] ?? key.purpose}, as PEM</summary><pre>{key.pem}</pre></details>
          ))}
        </div>
      )}
    </Answer>
  );
}

const PURPOSE: Record<string, string> = {
  log: "Tree heads of the log", receipt: "Receipts", manifest: "Exported proofs", approval: "Your decisions",
};

