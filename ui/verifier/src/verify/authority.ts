/** Authority: what a receipt says was asked, judged, shown, decided and granted must be one story. */
import { utf8 } from "./read/bytes.ts";
import { canonical, isObject, parseCanonical, type Json } from "./read/canon.ts";
import type { Check } from "./check.ts";
import { digestOf } from "./read/digest.ts";
import { sorted, type DecisionFact, type StandingFact } from "./facts.ts";
import { artifactPath, GATE_ENTRIES } from "./layout.ts";
import { isWhole } from "./manifest.ts";
import { approvalDecision, approvalPacket, capabilityGrant, DECISION_TYPE, GRANTING_SURFACES, policyResult, STANDING_FORMAT, STANDING_TYPE, standingGrant, type ApprovalDecision, type ApprovalPacket, type CapabilityGrant, type Statement, type StandingGrant } from "./generated/nouns.ts";
import { openEnvelope, signersOf } from "./signed.ts";
import { DualControl } from "./dual.ts";
import { Passkeys } from "./passkeys.ts";
import { at, Stop } from "./read/stop.ts";

type Receipt = Statement["predicate"];

/** What policy judged: the request, and whether two keys have to say yes. */
interface Judged {
  request: string;
  needsTwo: boolean;
}

/** A packet, with the digest of the request that was shown in it. */
type Shown = ApprovalPacket & { request: string };

export class Authority {
  /** Objects that many receipts may name are read once, so that a bundle costs no more time than its size. */
  private readonly policies = new Map<string, Judged>();
  private readonly packets = new Map<string, Shown>();
  private readonly grants = new Map<string, CapabilityGrant>();

  /** Passkeys that said yes. */
  readonly passkeys: Passkeys;
  private readonly dual: DualControl;

  constructor(private readonly check: Check) {
    this.passkeys = new Passkeys(check);
    this.dual = new DualControl(check, { needsTwo: (packet) => this.needsTwo(packet), judgedTwo: (policy) => this.policy(policy)?.needsTwo === true });
  }

  /** Holds a receipt's digests against the log and against the content that goes along. */
  receipt(place: string, receipt: Receipt): void {
    this.recorded(receipt);
    this.namedEntries(receipt);
    const { authorized } = receipt;
    const request = receipt.action_request_ref?.sha256;
    const differs = (what: string): Stop => new Stop(place, `${what} is about another request or authority`);
    const named = receipt.policy_result_ref?.sha256;
    const policy = authorized.policy_result_sha256;
    if (named !== undefined && policy !== undefined && named !== policy) throw differs("its policy result");
    const about = this.policy(policy)?.request;
    if (about !== undefined && request !== undefined && request !== about) throw differs("its policy result");
    const packet = this.packet(authorized.approval_packet_sha256);
    if (packet) {
      const same = receipt.approval_ref === undefined || receipt.approval_ref === packet.approval_id;
      // The approval's own receipt may name no request: there the packet alone speaks.
      if (!same || (request !== undefined && request !== packet.request)) throw differs("the packet that was shown");
    }
    const grant = this.grant(authorized.capability_grant_sha256);
    if (grant && !fits(grant, receipt, request)) throw differs("its grant");
    this.dual.receipt(place, receipt);
    if (receipt.ran && request !== undefined && receipt.ran.request_sha256 !== request) {
      throw new Stop(place, "what ran is not the request that it names");
    }
  }

  /** One receipt alone has no other entries of the gate than the one it names: nothing else would bind them. */
  private namedEntries(receipt: Receipt): void {
    if (!this.check.single) return;
    const named = receipt.authorized.audit_entry_sha256;
    if (named !== undefined && !this.check.entries.has(named)) this.check.lacks(`the gate entry of receipt ${receipt.receipt_id}`);
    const other = [...this.check.entries.keys()].find((hash) => hash !== named);
    if (other !== undefined) throw new Stop(GATE_ENTRIES, `the receipt does not name the entry \`${other}\``);
  }

  /** Digests of authority that the log itself must have recorded; an older program may have recorded fewer. */
  private recorded(receipt: Receipt): void {
    const { authorized } = receipt;
    const { facts } = this.check;
    const known: [string, string | undefined, (digest: string) => boolean][] = [
      ["the policy result", authorized.policy_result_sha256, (digest) => facts.policies.has(digest)],
      ["the packet", authorized.approval_packet_sha256, (digest) => [...facts.packets.values()].includes(digest)],
      ["the decision", authorized.approval_decision_sha256, (digest) => facts.decisions.has(digest)],
      ["the grant", authorized.capability_grant_sha256, (digest) => [...facts.grants.values()].includes(digest)],
      ["the witness", authorized.witness_sha256, (digest) => facts.witnesses.has(digest)],
    ];
    const { standing, first_decision_sha256: first } = authorized;
    for (const digest of [...known.map(([, named]) => named), standing?.envelope_sha256, first]) {
      if (digest !== undefined) this.check.named.add(digest);
    }
    if (!this.check.predicate || !isWhole(this.check.predicate)) return;
    for (const [what, digest, recorded] of known) {
      if (digest === undefined || recorded(digest)) continue;
      this.check.lacks(`the event that records ${what} of receipt ${receipt.receipt_id}`);
    }
    if (standing && !facts.standing.get(standing.envelope_sha256)?.some(({ grant_id }) => grant_id === standing.grant_id)) {
      this.check.lacks(`the event that records the standing grant of receipt ${receipt.receipt_id}`);
    }
    if (first !== undefined && !facts.decisions.has(first)) {
      this.check.lacks(`the event that records the first decision of receipt ${receipt.receipt_id}`);
    }
    const entry = authorized.audit_entry_sha256;
    if (entry !== undefined && !this.check.entries.has(entry)) {
      this.check.lacks(`the gate entry of receipt ${receipt.receipt_id}`);
    }
  }

  /** The decisions of a person: signed by the approval key, for exactly the packet that was asked. */
  decisions(): void {
    // In their order: a passkey counts.
    const inOrder = [...this.check.facts.decisions].sort(([, left], [, right]) => left.seq - right.seq);
    for (const [digest, fact] of inOrder) {
      const bytes = this.check.artifact(digest);
      if (!bytes) {
        this.check.withholds(`the signed decision on ${fact.approval_id}, only its digest`);
        continue;
      }
      this.check.named.add(digest);
      this.decision(artifactPath(digest), fact, bytes);
    }
    this.standing();
    this.dual.all();
  }

  private decision(place: string, fact: DecisionFact, bytes: Uint8Array): void {
    const { granted } = fact;
    if (granted?.enrolment !== undefined) {
      this.passkeys.decision(place, fact, granted, bytes, (payload) => this.decided(place, fact, payload));
      return;
    }
    const signers = granted ? [granted.keyid] : signersOf(bytes);
    const signed = this.check.rotations.ever("approval").find(({ keyid }) => signers.includes(keyid));
    const key = signed ?? (granted ? undefined : this.check.keys.approval);
    if (!key) {
      this.check.lacks(`the key that signed the decision on ${fact.approval_id} is not in this bundle`);
      return;
    }
    this.decided(place, fact, at(place, () => openEnvelope(bytes, DECISION_TYPE, key)));
  }

  /** The decision in these bytes, which a person signed in one way or another: it is the one that the log tells of. */
  private decided(place: string, fact: DecisionFact, payload: Uint8Array): ApprovalDecision {
    const { granted } = fact;
    const decision = at(place, () => approvalDecision(parseCanonical(payload)));
    const said = decision.approval_id === fact.approval_id && decision.decided_by === fact.decided_by && decision.surface === fact.surface;
    if (!said) throw new Stop(place, `it says otherwise than event ${fact.seq}, which records it`);
    const yes = decision.choice !== "deny";
    const agrees = granted ? yes && sameScope(granted.scope, decision.scope) : !yes;
    if (!agrees) throw new Stop(place, `it answers otherwise than event ${fact.seq} says`);
    if (yes && !GRANTING_SURFACES.includes(decision.surface)) throw new Stop(place, `a yes cannot come from \`${decision.surface}\``);
    this.answersThePacket(place, decision);
    this.dual.answered.set(fact.seq, decision.packet_sha256);
    this.check.counts.decisions += 1;
    return decision;
  }

  /** Standing grants that answered for a person: signed by the approval key, in force when they were used. */
  private standing(): void {
    for (const [digest, uses] of sorted(this.check.facts.standing)) {
      const bytes = this.check.artifact(digest);
      if (!bytes) {
        this.check.withholds("a standing grant, only its digest");
        continue;
      }
      this.check.named.add(digest);
      const place = artifactPath(digest);
      const signers = signersOf(bytes);
      const key = this.check.rotations.ever("approval").find(({ keyid }) => signers.includes(keyid));
      if (!key) {
        this.check.lacks("the key that signed a standing grant is not in this bundle");
        continue;
      }
      const grant = at(place, () => standingGrant(parseCanonical(openEnvelope(bytes, STANDING_TYPE, key))));
      this.lasts(place, grant);
      const beyond = uses.find((use) => !isInForce(grant, use));
      if (beyond) throw new Stop(place, `event ${beyond.seq} used it beyond what it says`);
      this.check.counts.standing += 1;
    }
  }

  /** Whether a person could give this, in this store and for this task. */
  private lasts(place: string, { format, surface, log_id, scope }: StandingGrant): void {
    if (format !== STANDING_FORMAT) throw new Stop(place, `it is of another version: \`${format}\``);
    if (!GRANTING_SURFACES.includes(surface)) throw new Stop(place, `a yes cannot come from \`${surface}\``);
    const about = this.check.predicate;
    const elsewhere = scope["kind"] === "task" && scope["task_id"] !== about?.task_id;
    if (log_id !== about?.log_id || elsewhere) throw new Stop(place, "it was given for another store or another task");
  }

  private answersThePacket(place: string, decision: ApprovalDecision): void {
    const asked = this.check.facts.packets.get(decision.approval_id);
    if (asked !== undefined && asked !== decision.packet_sha256) throw new Stop(place, "it answers another packet than the one that was asked");
    const packet = this.packet(decision.packet_sha256);
    if (!packet) return;
    const answers = packet.approval_id === decision.approval_id && packet.nonce === decision.nonce;
    if (!answers || decision.decided_at > packet.expires_at) {
      throw new Stop(place, "its nonce, approval or time does not answer the packet it names");
    }
  }

  /** What a policy result judged. */
  private policy(digest: string | undefined): Judged | undefined {
    return this.once(this.policies, digest, (value) => {
      const { action_request_sha256: request, need } = policyResult(value);
      return { request, needsTwo: need !== undefined };
    });
  }

  /** Whether a packet that goes along wants two keys to say yes. */
  private needsTwo(digest: string | undefined): boolean | undefined {
    const packet = this.packet(digest);
    return packet && packet.policy_result.need !== undefined;
  }

  private packet(digest: string | undefined): Shown | undefined {
    return this.once(this.packets, digest, (value) => {
      const read = approvalPacket(value);
      const request = isObject(value) ? (value["action_request"] ?? null) : null;
      return { ...read, request: digestOf(utf8(canonical(request))) };
    });
  }

  private grant(digest: string | undefined): CapabilityGrant | undefined {
    return this.once(this.grants, digest, capabilityGrant);
  }

  /** A canonical object of an artifact that goes along, read the first time it is asked for. */
  private once<T>(known: Map<string, T>, digest: string | undefined, read: (value: Json) => T): T | undefined {
    if (digest === undefined) return undefined;
    const before = known.get(digest);
    if (before !== undefined) return before;
    const bytes = this.check.artifact(digest);
    if (!bytes) return undefined;
    const value = at(artifactPath(digest), () => read(parseCanonical(bytes)));
    known.set(digest, value);
    return value;
  }
}

/** Whether a grant is for this receipt's request, under its policy result and its packet. */
function fits(grant: CapabilityGrant, receipt: Receipt, request: string | undefined): boolean {
  return (
    (request === undefined || request === grant.action_request_sha256) &&
    (receipt.capability_grant_ref === undefined || receipt.capability_grant_ref === grant.grant_id) &&
    grant.task_id === receipt.task_id &&
    grant.attempt_id === receipt.attempt_id &&
    receipt.authorized.policy_result_sha256 === grant.policy_result_sha256 &&
    receipt.authorized.approval_packet_sha256 === grant.approval_packet_sha256 &&
    receipt.authorized.standing?.grant_id === grant.standing?.grant_id &&
    receipt.authorized.standing?.envelope_sha256 === grant.standing?.envelope_sha256
  );
}

/** Whether a standing grant was good for this use of it. */
function isInForce(grant: StandingGrant, used: StandingFact): boolean {
  const same = used.grant_id === grant.grant_id && used.max_uses === grant.max_uses;
  return same && used.use_no >= 1 && used.use_no <= grant.max_uses && grant.issued_at <= used.at && used.at < grant.expires_at;
}

type Scope = ApprovalDecision["scope"];

function sameScope(left: Scope, right: Scope): boolean {
  const pattern = left.pattern.length === right.pattern.length && left.pattern.every((word, index) => word === right.pattern[index]);
  return pattern && left.shape === right.shape && left.expires_at === right.expires_at && left.max_uses === right.max_uses;
}
