// Adopting a change of Hermit itself that was tried, and going back from one. Nothing changes here: each makes a card, which a person
// approves. A change of what keeps Hermit in check is signed for at a terminal, part by part.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import type { Adoption } from "~/ipc/generated/adoptions";
import type { PatchKind, VerdictOutcome } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { TextArea } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Adopt.module.css";

const KIND: Readonly<Record<PatchKind, string>> = { policy: "Rules of policy", words: "Words", model: "Standard model", code: "Program" };

interface Props {
  trial: string;
  kind: PatchKind;
  outcome: VerdictOutcome | null;
  /** Parts that keep Hermit in check and that the change touches. */
  constitutional: readonly string[];
  /** Digests of tests that it edits, moves or removes. */
  edits?: readonly string[];
  /** Whether nothing but these keeps its verdict open. */
  waits?: boolean;
  /** Those of them at which the person has looked. */
  looked?: ReadonlySet<string>;
}

/** Whether a person may be asked to adopt it, once they have looked at what it edits. */
export function isAdoptable(outcome: VerdictOutcome | null, waits: boolean): boolean {
  return outcome === "better" || outcome === "same" || (outcome === "inconclusive" && waits);
}

const NONE: ReadonlySet<string> = new Set();

/** What a person can do about a change that was judged. */
export function Adopt({ trial, kind, outcome, constitutional, edits = [], waits = false, looked = NONE }: Props) {
  const listed = useAsk("adoptions.list", {});
  const propose = useAct("adoptions.propose");
  const [reviews, setReviews] = useState<readonly [string, string]>(["", ""]);
  const adopted = listed.data?.adoptions.find((one) => one.trial_id === trial);
  if (adopted !== undefined) return <OneAdoption of={adopted} />;
  if (!isAdoptable(outcome, waits)) return null;
  const seen = edits.filter((one) => looked.has(one));
  const isSame = outcome !== "better";
  if (constitutional.length > 0) {
    return (
      <section className={styles.adopt} aria-label="Adopt this change">
        <p>It changes what keeps Hermit in check: <Words of={constitutional.join(", ")} />. It waits a day after its verdict, and you sign for each part at a terminal:</p>
        <pre tabIndex={0} aria-label="Command"><Words of={`hermit successor adopt ${trial}${isSame ? " --although-same" : ""}${seen.map((one) => ` --looked ${one}`).join("")}${kind === "code" ? " --review FILE --review FILE" : ""}`} /></pre>
        {seen.length < edits.length && <p>Look at each edited test first: the command names what you have looked at.</p>}
      </section>
    );
  }
  const given = reviews.filter((one) => one.trim() !== "");
  const because = propose.isPending ? "Asking"
    : seen.length < edits.length ? "Look at each edited test first, and say that you have"
    : kind === "code" && given.length < 2 ? "Add two reviews, by two persons or agents" : null;
  return (
    <section className={styles.adopt} aria-label="Adopt this change">
      {isSame && <p>Nothing that counts was found to be better with it.</p>}
      {kind === "code" && [0, 1].map((at) => (
        <TextArea key={at} label={`Review ${at + 1}, one JSON object a line: file, line, says, by`} rows={4} value={reviews[at] ?? ""}
          onChange={(event) => { const text = event.currentTarget.value; setReviews(at === 0 ? [text, reviews[1]] : [reviews[0], text]); }} />
      ))}
      <div className={styles.buttons}>
        {propose.data === undefined
          ? <Button because={because} onClick={() => propose.mutate({ trial, reviews: [...given], although_same: isSame, signed: [], looked: seen, channel: "app" })}>Ask me to adopt it</Button>
          : <Link to="/task/$id" params={{ id: propose.data.task_id }}>Review the card</Link>}
      </div>
      {propose.error !== null && <Failed error={propose.error} />}
    </section>
  );
}

/** Every change that was adopted, and the way back from the last one of each kind. */
export function Adoptions() {
  const listed = useAsk("adoptions.list", {});
  const all = listed.data?.adoptions ?? [];
  if (all.length === 0) return null;
  return (
    <section className={styles.adopt} aria-labelledby="adoptions">
      <h2 id="adoptions">Adopted</h2>
      {all.map((one) => <OneAdoption key={`${one.trial_id} ${one.adopted_at}`} of={one} isLast={all.find((other) => other.kind === one.kind && other.at_work) === one} />)}
    </section>
  );
}

function OneAdoption({ of, isLast = false }: { of: Adoption; isLast?: boolean }) {
  const back = useAct("adoptions.back");
  return (
    <div className={styles.one} role="group" aria-label={`Adopted change ${of.trial_id}`}>
      <h3>{of.says === null ? "Its words were erased" : <Words of={of.says} />} <StateTag tone={of.at_work ? "done" : "mute"}>{of.at_work ? "In force" : "Taken back"}</StateTag></h3>
      <Facts wide rows={[
        ["Changes", KIND[of.kind]],
        ["Adopted", <Time key="adopted" at={of.adopted_at} ago />],
        of.task_id === null ? null : ["Your yes", <Link key="task" to="/task/$id" params={{ id: of.task_id }}>Its card and receipt</Link>],
        of.reviewers.length === 0 ? null : ["Reviewed by", <Words key="reviewers" of={of.reviewers.join(", ")} />],
        of.constitutional.length === 0 ? null : ["Keeps Hermit in check", <Words key="parts" of={of.constitutional.join(", ")} />],
        of.returned_at === null ? null : ["Taken back", <><Time at={of.returned_at} ago />{of.why !== null && of.why !== "" && <>: <Words of={of.why} /></>}</>],
      ]} />
      {isLast && (
        <div className={styles.buttons}>
          {back.data === undefined
            ? <Button because={back.isPending ? "Asking" : null} onClick={() => back.mutate({ kind: of.kind, reason: null, channel: "app" })}>Go back to what was before</Button>
            : <Link to="/task/$id" params={{ id: back.data.task_id }}>Review the card</Link>}
        </div>
      )}
      {back.error !== null && <Failed error={back.error} />}
    </div>
  );
}
