// Anchors: heads of the log that clocks elsewhere have stamped, how each stands, and which clocks are asked.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { Anchor, AtClock } from "~/ipc/generated/anchors";
import { Button } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { many } from "~/primitives/number";
import { Answer, Empty, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time, exact, localTimes } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { Screen } from "~/screen/Screen";
import { capital } from "~/screen/words";
import styles from "./Anchors.module.css";
import { Clocks } from "./Clocks";
import { Stamp } from "./Stamp";
import { clockName, isOpen, ofWhat, stateLook } from "./words";

/** Anchors of one part of the list. */
const PART = 30;

export function Anchors() {
  const [older, setOlder] = useState(0);
  return (
    <Screen title="Anchors" sub={<span>Clocks elsewhere that show when your log was there</span>}>
      <div className={styles.two}>
        <div>
          <section className={styles.section} aria-labelledby="what">
            <h2 id="what">What an anchor proves</h2>
            <p>An anchor proves to somebody who trusts nobody here that your log, as far as the head that it names, was there by the time that a clock elsewhere states.</p>
            <p>It does not prove that what stands in the log is true, nor how long before that time it was written.</p>
          </section>
          <Stamp />
          <section className={styles.section} aria-labelledby="list">
            <h2 id="list">Your anchors</h2>
            <Part cursor={null} older={older} another={() => setOlder(older + 1)} />
          </section>
        </div>
        <div>
          <Clocks />
        </div>
      </div>
    </Screen>
  );
}

/** A part, and behind it as many `older` ones: each begins where this one ends now, so that nothing falls between them. */
function Part({ cursor, older, another }: { cursor: string | null; older: number; another: () => void }) {
  const asked = useAsk("anchors.list", { cursor, limit: PART }, { keep: true });
  const none = <Empty title="Nothing of this log is anchored" small>Until it is, only the signatures of your own keys say when something was written.</Empty>;
  return (
    <Answer asked={asked} what="anchors" lines={3} isEmpty={(found) => found.anchors.length === 0 && cursor === null} empty={none}>
      {(found) => (
        <>
          <ul className={styles.list}>
            {found.anchors.map((one) => <li key={one.number}><One anchor={one} /></li>)}
          </ul>
          {found.next !== null && (older > 0
            ? <Part cursor={found.next} older={older - 1} another={another} />
            : <div><Button onClick={another}>Older anchors</Button></div>)}
        </>
      )}
    </Answer>
  );
}

function One({ anchor: one }: { anchor: Anchor }) {
  const complete = useAct("anchors.complete");
  return (
    <article className={styles.card} aria-label={`Anchor ${one.number}`}>
      <header>
        <h3>Anchor {one.number}</h3>
        <span>{ofWhat(one)}</span>
        <span>asked for <Time at={one.requested_at} ago /></span>
        <Hash of={one.digest} />
      </header>
      <p>{one.not_after === null ? "Nothing is proven yet." : <>Proven: it was there by <time dateTime={new Date(one.not_after).toISOString()}>{exact(one.not_after)}</time>.</>}</p>
      <ul className={styles.clocks} aria-label={`Clocks of anchor ${one.number}`}>
        {one.clocks.map((at) => <At key={at.clock} at={at} since={one.requested_at} />)}
      </ul>
      {one.clocks.some(isOpen) && (
        <div className={styles.buttons}>
          <Button because={complete.isPending ? "Asking" : null} onClick={() => complete.mutate({ number: one.number, channel: "app" })}>Ask how anchor {one.number} stands</Button>
          {complete.data !== undefined && <span>It is asked by <Link to="/task/$id" params={{ id: complete.data.task_id }}>a task</Link>, which may wait for your answer.</span>}
        </div>
      )}
      {complete.error !== null && <Failed error={complete.error} />}
    </article>
  );
}

function At({ at, since }: { at: AtClock; since: number }) {
  const look = stateLook(at.state);
  const says = at.says === null || at.says === "" ? null : <Words of={sentenceOf(at.says)} />;
  return (
    <li>
      <div className={styles.head}>
        <StateTag tone={look.tone} mark={look.mark}>{look.word}</StateTag>
        <b>{clockName(at.clock)}</b>
        {at.at.length > 0 && <span>at <Words of={at.at.join(", ")} /></span>}
      </div>
      {at.state === "pending" && <p>{says ?? "It waits for the clock."} Since <Time at={since} ago />.</p>}
      {at.state === "withdrawn" && <p>Bitcoin's chain went another way, and the block that proved it is no longer part of it. It is not proven now. {says}</p>}
      {at.state === "failed" && <p>{says ?? "The clock gave nothing that proves a time."}</p>}
      {at.state === "anchored" && <p>{at.not_after !== null && <>By <time dateTime={new Date(at.not_after).toISOString()}>{exact(at.not_after)}</time>. </>}{says}</p>}
      {at.block_height !== null && (
        <p className={styles.head}>
          <span>Block {many(at.block_height)}</span>
          {at.block_hash !== null && <Hash of={at.block_hash} what="block" />}
          {at.depth !== null && <span>{many(at.depth)} deep when it was looked at</span>}
        </p>
      )}
      {(at.task_id !== null || at.proof_sha256 !== null) && (
        <p className={styles.head}>
          {at.task_id !== null && <Link to="/task/$id" params={{ id: at.task_id }}>Task that asked it</Link>}
          {at.proof_sha256 !== null && <span>Proof <Hash of={at.proof_sha256} what="proof" /></span>}
        </p>
      )}
    </li>
  );
}

/** The host's own words as a sentence, with times of this machine. */
function sentenceOf(text: string): string {
  return capital(localTimes(text)) + (/[.!?]$/.test(text) ? "" : ".");
}
