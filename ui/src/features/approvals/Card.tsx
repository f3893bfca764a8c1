// The approval card: the evidence above the notch, the decision below it. Text nodes only.
import { Link } from "@tanstack/react-router";
import { useAsk, useHost } from "~/ipc/client";
import type { Approval } from "~/ipc/generated/approvals";
import { approvalLook, capital, count, folderName, profileName, said, sandboxName, surfaceName } from "~/screen/words";
import { Button } from "~/primitives/Button";
import { CommentsOn, useComments } from "~/primitives/Comments";
import { Copyable } from "~/primitives/Copyable";
import { tally } from "~/primitives/Diff";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Icon, Mark } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { Answer } from "~/primitives/States";
import { RiskTag } from "~/primitives/Tag";
import { Time, cardLine } from "~/primitives/Time";
import { Prose, Words } from "~/primitives/Words";
import { Allow } from "./Allow";
import { Asker } from "./Asker";
import { Deny } from "./Deny";
import { AllLines } from "./AllLines";
import { ChangeList, FEW, useChanges } from "./ChangeList";
import { FoldersMade } from "./FoldersMade";
import { diffFile } from "./files";
import { Outcome } from "./Outcome";
import { Onward, PartialApproval, hasHunks, hasParts, usePart } from "./PartialApproval";
import { WithOrigin } from "./WithOrigin";
import { type Packet, commandOf, quoted, readPacket } from "./packet";
import { GuestWork } from "./GuestWork";
import { StagedCommand } from "./StagedCommand";
import { Title } from "./Title";
import { OnCard } from "~/features/knowledge/Suggested";
import { Lines } from "~/primitives/Lines";
import styles from "./Card.module.css";

/** `stacked`: in a narrow column, one part below the other. */
export function Card({ id, stacked = false }: { id: string; stacked?: boolean }) {
  const asked = useAsk("approvals.show", { approval: id });
  return (
    <article className={styles.card} aria-label="Approval" data-stacked={stacked || undefined}>
      <Answer asked={asked} what="the card" lines={9}>
        {(approval) => <Whole key={approval.row.approval_id} approval={approval} stacked={stacked} />}
      </Answer>
    </article>
  );
}

function Whole({ approval, stacked }: { approval: Approval; stacked: boolean }) {
  const packet = readPacket(approval);
  const { row } = approval;
  const waits = row.status === "pending";
  const part = usePart();
  const comments = useComments();
  return (
    <CommentsOn value={waits ? comments : null}>
      <header className={styles.head}>
        <div className={styles.first}>
          <RiskTag risk={row.risk} />
          <span className={styles.of}>
            <Link to="/task/$id" params={{ id: row.task_id }}><Words of={packet === null || packet.goal.toLowerCase() === approval.title.toLowerCase() ? "Its task" : packet.goal} /></Link>
          </span>
          <span className={styles.when}>
            Asked <Time at={row.requested_at} ago />{waits && <>, expires <Time at={row.expires_at} /></>}
          </span>
        </div>
        <Title approval={approval} />
        <Asker of={row} />
        {approval.two_keys && <p className={styles.note} role="status"><Words of={capital(approval.two_keys.says)} />.</p>}
        {packet !== null && <Command packet={packet} />}
      </header>
      {stacked ? (
        // What speaks against it and the answer come before what can be looked up.
        <>
          <WithOrigin of={row.approval_id} task={row.task_id}><Evidence approval={approval} packet={packet} part={part} /></WithOrigin>
          <aside className={styles.side}><Why approval={approval} packet={packet} /></aside>
          {waits ? <Decide approval={approval} /> : <Decided approval={approval} />}
          <aside className={styles.side}><Reach approval={approval} packet={packet} /></aside>
        </>
      ) : (
        <>
          <div className={styles.body}>
            <WithOrigin of={row.approval_id} task={row.task_id}><Evidence approval={approval} packet={packet} part={part} /></WithOrigin>
            <Side approval={approval} packet={packet} />
          </div>
          {waits ? <Decide approval={approval} /> : <Decided approval={approval} />}
        </>
      )}
    </CommentsOn>
  );
}

/** The canonical action, whole, wrapping. */
export function Command({ packet }: { packet: Packet }) {
  const command = commandOf(packet);
  if (command === null) return null;
  return (
    <div className={styles.command}>
      <Icon name="terminal" />
      <code><Words of={command.argv.map(quoted).join(" ")} /></code>
      <span>in {command.cwd === "" ? "the folder" : command.cwd}, {command.network ? "with the network" : "no network"}</span>
    </div>
  );
}

const folders = (number: number) => count(number, "folder");

/** `part`: where files can be left out. */
export function Evidence({ approval, packet, part }: { approval: Approval; packet: Packet | null; part?: ReturnType<typeof usePart> }) {
  const asked = useChanges(approval.row.approval_id);
  return (
    <div className={styles.evidence} tabIndex={0} role="region" aria-label="What it would do">
      <Answer asked={asked} what="the changes">
        {(changes) => {
          const ran = packet?.ran ?? null;
          const { sum } = changes;
          const foldersToMake = sum.folders + (changes.makes?.folders ?? 0);
          const removed = sum.removed ?? 0;
          const isOfMemory = part !== undefined && approval.row.status === "pending" && packet?.action.tool === "remember";
          if (changes.total === 0) return ran === null ? <>{isOfMemory && <OnCard approval={approval.row.approval_id} />}<Effects approval={approval} /></> : <StagedCommand packet={packet} ran={ran} changes={0} />;
          // Lines are counted where every difference is at hand.
          const lines = changes.total <= FEW ? tally(changes.files.map(diffFile)) : { del: 0, add: 0 };
          return (
            <>
              {ran !== null && <StagedCommand packet={packet} ran={ran} changes={changes.total} />}
              {packet?.guest != null && <GuestWork of={packet.guest} />}
              <div className={styles.sum}>
                <strong>{approval.row.status === "pending" ? "Exactly what would change" : "Proposed changes"}</strong>
                {sum.deleted > 0 && <span className={styles.grave}>{many(sum.deleted)} to delete</span>}
                {sum.replaced > 0 && <span>{many(sum.replaced)} to replace</span>}
                {sum.moved > 0 && <span>{many(sum.moved)} to move</span>}
                {sum.created > 0 && <span>{many(sum.created)} to create</span>}
                {foldersToMake > 0 && <span>{folders(foldersToMake)} to make</span>}
                {removed > 0 && <span>{folders(removed)} to remove{packet?.action.tool === "rollback" && (removed === 1 ? " that was made" : " that were made")}, {removed > 1 && "each "}if empty by then</span>}
                {lines.del + lines.add > 0 && (
                  <span className={styles.lines}>{lines.del > 0 && <span className={styles.del}>−{lines.del}</span>} {lines.add > 0 && <span className={styles.add}>+{lines.add}</span>} {lines.del + lines.add === 1 ? "line" : "lines"}</span>
                )}
              </div>
              {part !== undefined && approval.row.status === "pending" && hasParts(packet, changes) && <PartialApproval approval={approval} changes={changes} {...part} />}
              <ChangeList of={approval.row.approval_id} first={changes} choice={part?.choice} hunks={hasHunks(packet)} />
              <FoldersMade changes={changes} />
            </>
          );
        }}
      </Answer>
      <Signed approval={approval} packet={packet} />
    </div>
  );
}

/** The act in words, where there is no file to compare. What destroys comes first: the host has sorted them. */
function Effects({ approval }: { approval: Approval }) {
  const groups: Approval["lines"][] = [];
  // The first line says the risk, which stands above.
  for (const line of approval.lines.slice(1, 1 + approval.act_lines)) {
    const before = groups.at(-1);
    if (line.kind === "quoted" && before?.[0]?.kind === "quoted") before.push(line);
    else groups.push([line]);
  }
  return (
    <ul className={styles.effects}>
      {groups.map((lines, at) => {
        const kind = lines[0]?.kind ?? "fact";
        return kind === "quoted"
          ? <li key={at} data-kind={kind}><pre>{lines.map((line, each) => <div key={each} data-diff={/^[-+] /.exec(line.text)?.[0].trim()}><Words of={line.text} /></div>)}</pre></li>
          : (
            <li key={at} data-kind={kind}>
              <Mark name={kind === "effect" || kind === "fact" ? "idle" : "high"} />
              <Words of={capital(lines[0]?.text ?? "")} />
            </li>
          );
      })}
      {approval.lines_left > 0 && <li><AllLines approval={approval.row.approval_id} of="card" title="All that it says" /></li>}
    </ul>
  );
}

/** Every value that a signature covers. Folded, never cut. */
function Signed({ approval, packet }: { approval: Approval; packet: Packet | null }) {
  const facts = approval.lines.filter((line) => line.kind === "fact" || line.kind === "quoted");
  return (
    <div className={styles.folds}>
      {packet !== null && packet.rationale !== "" && packet.rationale !== packet.goal && (
        <p className={styles.claim}><span>{packet.action.tool === "rollback" ? "What this undo does:" : "Reason given by the model or playbook:"}</span> {packet.action.tool === "rollback" ? <Prose of={packet.rationale} /> : <Words of={packet.rationale} />}</p>
      )}
      {approval.lines_left === 0
        ? <Lines title="Technical details" lines={facts.map((line) => cardLine(line.text))} />
        : <AllLines approval={approval.row.approval_id} of="card" title="Technical details" />}
      <AllLines approval={approval.row.approval_id} of="signed" title="Every value that is signed" />
    </div>
  );
}

interface Of { approval: Approval; packet: Packet | null }

export function Side(of: Of) {
  return (
    <aside className={styles.side}>
      <Why {...of} />
      <Reach {...of} />
    </aside>
  );
}

function Why({ approval, packet }: Of) {
  return (
    <section>
      <h3>Why it is {approval.row.risk}</h3>
      <ul>
        {(packet?.reasons ?? []).map((reason) => (
          <li key={reason}><Mark name={/untrusted|may contain instructions/.test(reason) ? "moderate" : /delete|replace/.test(reason) ? "high" : "low"} /><Words of={capital(reason)} /></li>
        ))}
      </ul>
    </section>
  );
}

function Reach({ approval, packet }: Of) {
  const { row } = approval;
  const task = useAsk("task.show", { task: row.task_id });
  const workspace = said(task.data?.workspace, "its folder");
  return (
    <>
      <section>
        <h3>What it can reach</h3>
        <Facts rows={[
          ["Paths", approval.resources === 0 ? "None" : `${many(approval.resources)} in ${folderName(workspace)}`],
          ["Network", approval.hosts.length === 0 ? "No network" : approval.hosts.includes("*:0") ? "Any public address" : <Words key="hosts" of={approval.hosts.join(", ")} />],
          packet?.sandbox != null ? ["Sandbox", sandboxName(packet.sandbox)] : null,
          packet?.profile != null ? ["Policy", profileName(packet.profile)] : null,
          ["Undo", <Prose key="undo" of={capital(packet?.rollback.replace(/^can be undone: /, "") ?? "")} />],
        ]} />
      </section>
      <section>
        <h3>What you sign</h3>
        <Facts rows={[
          ["Fingerprint", <Hash key="packet" of={approval.packet_sha256} />],
          packet?.witness != null ? ["Witness", <Hash key="witness" of={packet.witness.id} what="identifier" />] : null,
          approval.approval_keyid !== null ? ["Key", <Hash key="key" of={approval.approval_keyid} />] : ["Key", "None registered"],
        ]} />
        {packet?.witness != null && packet.witness.found > 0 && <p className={styles.seen}><Icon name="eye" size={14} />{count(packet.witness.found, "path")} checked, and checked again just before running</p>}
      </section>
      {row.status === "pending" && (
        <section className={styles.nothing}>
          <h3>If you do nothing</h3>
          <p>It expires <Time at={row.expires_at} clock />. Nothing happens.</p>
        </section>
      )}
    </>
  );
}

function Decide({ approval }: { approval: Approval }) {
  const host = useHost();
  const { approval_id: id } = approval.row;
  if (host.pen !== undefined) return <Allow approval={approval} pen={host.pen} />;
  return (
    <footer className={styles.decide}>
      <section>
        <h3>How far this goes</h3>
        <p className={styles.far}><span className={styles.dot} aria-hidden="true" />Just this once</p>
        <p className={styles.note}>If a file changes before it runs, nothing happens and you are asked again.</p>
      </section>
      <Deny id={id} />
      <section>
        <h3>Your approval</h3>
        {host.deciding === "window" ? (
          <>
            <Button look="person" loose onClick={() => void host.openCard?.(id)}>Review and decide</Button>
            <p className={styles.note}>Opens the approval window. You cannot approve from this window.</p>
          </>
        ) : (
          <>
            <Copyable text={`hermit approvals approve ${id}`} />
            <p className={styles.note}>Approve at your terminal with your approval passphrase. This page can only show and deny.</p>
          </>
        )}
      </section>
    </footer>
  );
}

function Decided({ approval }: { approval: Approval }) {
  const { row } = approval;
  if (row.status === "granted") return <Outcome approval={approval} />;
  const isPart = row.status === "denied" && said(row.feedback).includes("left out: ");
  return (
    <footer className={styles.decided} role="status">
      {isPart && <Onward approval={approval} />}
      <Mark name="deny" size={14} />
      <span>
        {approvalLook(row.status).word}{row.resolved_at !== null && <> <Time at={row.resolved_at} ago /></>}
        {row.surface !== null && <> {surfaceName(row.surface)}</>}
        {row.feedback !== null && <>: <Words of={said(row.feedback)} /></>}
        {row.reason !== "" && row.feedback === null && <>, {row.reason}</>}. Nothing was changed.
      </span>
    </footer>
  );
}
