// Machines that are or were paired: whether each is heard, what it can do, what waits for it, and what may be asked of it.
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { Mesh, Node, NodeList, Way } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { useParts } from "~/primitives/Parts";
import { Answer, Empty } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time, useNow } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { count, said } from "~/screen/words";
import { Approver } from "./Approver";
import styles from "./Mesh.module.css";
import { SendGoal } from "./SendGoal";
import { Withdraw } from "./Withdraw";
import { nodeName, presenceLook, waitsFor } from "./words";

/** How often it is asked who is here: no notice tells of that. */
const AGAIN_MS = 5_000;
/** Names of one kind that are shown. */
const NAMES = 24;

export function Nodes({ mesh }: { mesh: Mesh }) {
  const asked = useAsk("mesh.nodes", {}, { refetchInterval: AGAIN_MS });
  const none = <Empty title="No other machine yet" todo small>Show a code on one machine and type it on the other: they then know each other, and nobody else does.</Empty>;
  return (
    <section className={styles.section} aria-labelledby="nodes">
      <h2 id="nodes">Your machines</h2>
      <Answer asked={asked} what="machines" lines={4} isEmpty={(found) => found.nodes.length === 0} empty={none}>
        {(found) => <List found={found} mesh={mesh} />}
      </Answer>
    </section>
  );
}

function List({ found, mesh }: { found: NodeList; mesh: Mesh }) {
  const believed = found.nodes.filter((one) => !one.is_withdrawn);
  const withdrawn = found.nodes.filter((one) => one.is_withdrawn);
  const { shown, rest } = useParts(believed);
  const gone = useParts(withdrawn);
  return (
    <>
      {mesh.waiting > 0 && <p>{count(mesh.waiting, "message")} {mesh.waiting === 1 ? "was" : "were"} not opened by another machine yet.</p>}
      <ul className={styles.list}>
        {shown.map((one) => <li key={one.node}><One node={one} direct={directOf(one, mesh.ways)} /></li>)}
      </ul>
      {rest}
      {withdrawn.length > 0 && (
        <details>
          <summary>{count(withdrawn.length, "machine")} withdrawn</summary>
          <ul className={styles.rows}>
            {gone.shown.map((one) => <li key={one.node} className={styles.head}><Tag node={one} direct={null} /><b><Words of={nodeName(one)} /></b><Hash of={one.node} what="key" /></li>)}
          </ul>
          {gone.rest}
        </details>
      )}
    </>
  );
}

/** The direct way to a machine. It is told by name: of machines that have the same name, nobody can tell whose it is. */
function directOf(one: Node, ways: readonly Way[]): Way | null {
  const found = ways.filter((way) => way.is_direct && (way.at === said(one.name) || way.at === one.node));
  return found.length === 1 ? found[0] ?? null : null;
}

function Tag({ node, direct }: { node: Node; direct: Way | null }) {
  const look = presenceLook(node, direct, useNow());
  return <StateTag tone={look.tone} mark={look.mark}>{look.word}</StateTag>;
}

function One({ node: one, direct }: { node: Node; direct: Way | null }) {
  const [open, setOpen] = useState<"goal" | "withdraw" | null>(null);
  const now = useNow();
  const name = nodeName(one);
  const waits = waitsFor(one);
  const isHere = one.here_until !== null && one.here_until > now;
  return (
    <article className={styles.card} aria-label={name}>
      <header>
        <h3><Words of={name} /></h3>
        <Tag node={one} direct={direct} />
        {isHere && one.load !== null && <span>{one.load} % busy</span>}
      </header>
      <p>
        {isHere ? <>What it told last counts until <Time at={one.here_until ?? 0} clock />. </> : one.here_until === null ? "Nothing was heard of it since Hermit was started here. " : <>What it told last counted until <Time at={one.here_until} clock />; nothing was heard since. </>}
        {direct !== null && (direct.is_open ? "It is connected directly." : "It is not connected directly.")}
      </p>
      {one.is_public && <p>It tells everybody who reads its relays that it is here.</p>}
      <p>{waits ?? "Nothing waits for it."}</p>
      <details>
        <summary>What it can do</summary>
        <Facts wide rows={[
          ["Folders for goals", <Names key="folders" of={one.folders} />],
          ["Models", <Names key="models" of={one.models} />],
          ["Tools", <Names key="tools" of={one.tools} />],
          ["Reads at", <Names key="relays" of={one.relays} />],
          one.cosign_key === null ? null : ["Signed a head of this log as", <code key="cosign"><Words of={one.cosign_key} /></code>],
          ["Key", <Hash key="key" of={one.node} what="key" />],
        ]} />
      </details>
      <Approver node={one} />
      <div className={styles.buttons}>
        <Button aria-expanded={open === "goal"} onClick={() => setOpen(open === "goal" ? null : "goal")}>Send a goal</Button>
        <Button look="link" aria-expanded={open === "withdraw"} onClick={() => setOpen(open === "withdraw" ? null : "withdraw")}>Withdraw</Button>
      </div>
      {open === "goal" && <SendGoal node={one} close={() => setOpen(null)} />}
      {open === "withdraw" && <Withdraw node={one} close={() => setOpen(null)} />}
    </article>
  );
}

function Names({ of }: { of: readonly string[] }) {
  if (of.length === 0) return <>None told</>;
  return <><Words of={of.slice(0, NAMES).join(", ")} />{of.length > NAMES && ` and ${of.length - NAMES} more`}</>;
}
