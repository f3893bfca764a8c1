/** Dual control: where two different keys have to say yes, both have, to the same packet, one after the other. */
import type { Check } from "./check.ts";
import { sorted, type DecisionFact } from "./facts.ts";
import type { Statement } from "./generated/nouns.ts";
import { artifactPath } from "./layout.ts";
import { isWhole } from "./manifest.ts";
import { Stop } from "./read/stop.ts";

type Receipt = Statement["predicate"];

/** What is asked of authority: whether a packet, and a policy result, that goes along wants two keys to say yes. */
export interface Shows {
  needsTwo: (packet: string | undefined) => boolean | undefined;
  judgedTwo: (policy: string | undefined) => boolean;
}

export class DualControl {
  /** Which packet each decision answers that was checked, by its event's number. */
  readonly answered = new Map<number, string>();

  constructor(private readonly check: Check, private readonly shows: Shows) {}

  /** Holds every yes by which an act was allowed against how many keys had to say so. */
  all(): void {
    for (const [digest, fact] of sorted(this.check.facts.decisions)) {
      if (fact.granted && !fact.granted.isFirst) this.allowed(artifactPath(digest), fact);
    }
  }

  private allowed(place: string, fact: DecisionFact): void {
    const { facts } = this.check;
    const asked = facts.packets.get(fact.approval_id);
    const told = asked === undefined ? undefined : facts.forTwo.has(fact.approval_id);
    const shown = this.shows.needsTwo(asked ?? this.answered.get(fact.seq));
    if (told !== undefined && shown !== undefined && told !== shown) {
      throw new Stop(place, "its packet says otherwise than the log how many keys have to say yes");
    }
    const needs = shown ?? told;
    const first = fact.granted?.after;
    if (needs === true && first === undefined) throw new Stop(place, "one key says yes where two different keys have to");
    if (needs === false && first !== undefined) throw new Stop(place, "two keys say yes where one has to");
    if (first !== undefined) this.follows(place, fact, first);
  }

  /** Whether a yes follows that of another key to the same question. */
  private follows(place: string, fact: DecisionFact, first: string): void {
    const before = this.check.facts.decisions.get(first);
    if (!before) {
      // Of a span, the first may stand before it.
      const about = this.check.predicate;
      if (about && (isWhole(about) || about.receipt_id !== undefined)) throw new Stop(place, "the first of the two yeses is not in the log");
      this.check.withholds(`the first of the two yeses on ${fact.approval_id}`);
      return;
    }
    const isFirst = before.granted?.isFirst === true;
    if (!isFirst || before.approval_id !== fact.approval_id || before.seq >= fact.seq) throw new Stop(place, "what it follows is not the first of the two yeses");
    if (before.granted?.keyid === fact.granted?.keyid) throw new Stop(place, "the same key says yes twice where two different keys have to");
    if (before.granted?.enrolment === undefined && fact.granted?.enrolment === undefined) throw new Stop(place, "the approval key says yes twice, and there is one at a time");
    const [one, other] = [this.answered.get(before.seq), this.answered.get(fact.seq)];
    if (one !== undefined && other !== undefined && one !== other) throw new Stop(place, "the two yeses are to different packets");
  }

  /** Whether a receipt names the yeses that its act needed, as the log tells them. */
  receipt(place: string, { authorized, approval_ref: approval }: Receipt): void {
    const { facts } = this.check;
    const { first_decision_sha256: first, approval_decision_sha256: decision } = authorized;
    const shown = this.shows.needsTwo(authorized.approval_packet_sha256);
    const judged = this.shows.judgedTwo(authorized.policy_result_sha256);
    const told = approval !== undefined && facts.forTwo.has(approval);
    const wasGranted = authorized.capability_grant_sha256 !== undefined;
    const hasBoth = first !== undefined && decision !== undefined;
    if (wasGranted && (told || judged || shown === true) && !hasBoth) throw new Stop(place, "it names one yes where two different keys have to say yes");
    if (first !== undefined && shown === false) throw new Stop(place, "it names two yeses where one key has to say yes");
    const fact = decision === undefined ? undefined : facts.decisions.get(decision);
    const granted = fact?.granted;
    if (granted && (granted.isFirst || granted.after !== first)) throw new Stop(place, "it names another first yes than the log does");
    if (fact && approval !== undefined && fact.approval_id !== approval) throw new Stop(place, "its decision answers another question");
  }
}
