// Changes of Hermit that were tried on the person's own past work: how each came out, and everything behind one of them.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Answer, Empty } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { Screen } from "~/screen/Screen";
import { useDraftOf } from "~/screen/drafts";
import { Adoptions } from "./Adopt";
import { DRAFT, NewTrial } from "./NewTrial";
import { Standing } from "./Race";
import styles from "./Successor.module.css";
import { Trial } from "./Trial";
import { kindName } from "./words";

/** Trials of one part of the list. */
const PART = 30;

export function Successor({ of }: { of: string | undefined }) {
  const [older, setOlder] = useState(0);
  const [draft] = useDraftOf(DRAFT);
  // What was begun to be written is shown when the page is opened again.
  const [isNew, setNew] = useState(draft !== "");
  return (
    <Screen title="Changes" sub={<span>Changes of Hermit itself, tried on your own past work before you adopt one</span>}>
      <div className={styles.two} data-chosen={of !== undefined || undefined}>
        <div>
          <section className={styles.section} aria-labelledby="what">
            <h2 id="what">What a trial tells</h2>
            <p>One copy of Hermit without the change and one with it do completed work of yours again, in a sandbox without the network, on recorded answers and effects; another model, on this machine, is asked again. What they did is compared act by act.</p>
            <p>A trial changes nothing of yours and adopts nothing. Several variants, such as models or rules, can race over the same tasks. At a terminal <code>hermit successor try --help</code> tells more.</p>
            {!isNew && <div><Button look="person" onClick={() => setNew(true)}>Try a change</Button></div>}
          </section>
          {isNew && <NewTrial close={() => setNew(false)} />}
          <section className={styles.section} aria-labelledby="trials">
            <h2 id="trials">Trials</h2>
            <Part cursor={null} older={older} another={() => setOlder(older + 1)} of={of} />
          </section>
          <Adoptions />
        </div>
        <div>
          {of === undefined
            ? <Empty title="No trial is chosen" small>Choose a trial to see what changed, what Hermit ran, what differed, what it cost, and the reasons for its verdict.</Empty>
            : <><Link to="/successor" className={styles.back}>All trials</Link><Trial key={of} id={of} /></>}
        </div>
      </div>
    </Screen>
  );
}

/** A part, and behind it as many `older` ones: each begins where this one ends now, so that nothing falls between them. */
function Part({ cursor, older, another, of }: { cursor: string | null; older: number; another: () => void; of: string | undefined }) {
  const asked = useAsk("successor.list", { cursor, limit: PART }, { keep: true });
  const none = <Empty title="No change of Hermit was tried" small>You can try a change of your rules, of SOUL.md or a playbook, of the standard model or of the source.</Empty>;
  return (
    <Answer asked={asked} what="trials" lines={3} isEmpty={(found) => found.trials.length === 0 && cursor === null} empty={none}>
      {(found) => (
        <>
          <ul className={styles.list}>
            {found.trials.map((one) => (
              <li key={one.trial_id}>
                <Link to="/successor" search={{ of: one.trial_id }} className={styles.row} aria-current={one.trial_id === of ? "true" : undefined}>
                  <Standing row={one} />
                  <b><Words of={one.says ?? "Its words were erased"} /></b>
                  <span>{kindName(one.kind)}, <Time at={one.began_at} ago />{one.proposed_by !== null && ", proposed by a task"}</span>
                </Link>
              </li>
            ))}
          </ul>
          {found.next !== null && (older > 0
            ? <Part cursor={found.next} older={older - 1} another={another} of={of} />
            : <div><Button onClick={another}>Older trials</Button></div>)}
        </>
      )}
    </Answer>
  );
}
