/** What a task's events say that other files of the bundle must agree with. */
import { checkReserved } from "./disclose.ts";
import { BODIES, REGISTRY, type Event } from "./generated/nouns.ts";
import type { Of } from "./read/shape.ts";

type Bodies = { [K in keyof typeof BODIES]: Of<(typeof BODIES)[K]> };
type Issued = Bodies["receipt.issued"];

/** What `approval.granted` and `approval.signed` say beside. */
export interface Granted {
  scope: Bodies["approval.granted"]["scope"];
  /** The key that signed: the approval key, or a passkey. */
  keyid: string;
  /** What lets the passkey say yes, where one did. */
  enrolment?: string;
  /** Whether it is the first of two yeses, which allows nothing. */
  isFirst: boolean;
  /** The first of two yeses, where this is the second. */
  after?: string;
}

/** What `receipt.issued` says. */
export interface ReceiptFact extends Issued {
  seq: number;
}

/** What `approval.granted`, `approval.signed` or `approval.denied` says. */
export interface DecisionFact {
  seq: number;
  approval_id: string;
  decided_by: string;
  surface: string;
  /** For a yes. */
  granted?: Granted;
}

/** What `grant.standing_used` says, and when. */
export interface StandingFact {
  seq: number;
  at: number;
  grant_id: string;
  use_no: number;
  max_uses: number;
}

const KNOWN: ReadonlySet<string> = new Set<string>(REGISTRY);

/** Folded from events; bounded by their number. */
export class Facts {
  /** Kind by digest of content. */
  readonly artifacts = new Map<string, string>();
  /** Digest by artifact. */
  readonly artifactIds = new Map<string, string>();
  readonly receipts = new Map<string, ReceiptFact>();
  /** Answers of a person that carry a signed envelope, by its digest. */
  readonly decisions = new Map<string, DecisionFact>();
  /** Standing grants that answered for a person, by the digest of the signed envelope. */
  readonly standing = new Map<string, StandingFact[]>();
  /** Digest of the packet by approval. */
  readonly packets = new Map<string, string>();
  /** Approvals for which two different keys have to say yes. */
  readonly forTwo = new Set<string>();
  readonly policies = new Set<string>();
  readonly requests = new Set<string>();
  /** Digest of the record by grant. */
  readonly grants = new Map<string, string>();
  readonly witnesses = new Set<string>();
  /** Gate entries under which something was dispatched, with the event's number. */
  readonly dispatched = new Map<string, number>();
  /** Ends of runs: what was said then are the words of a model, or of a playbook. */
  claims = 0;
  /** Sentences of closing answers that were compared with the record: bound to receipts, to what was seen, to the absence of a receipt, and to nothing. */
  answers = [0, 0, 0, 0];
  /** Those of them that are bound to what the model cited alone. */
  cited = 0;
  /** Those that nothing bears and that are told like the record. */
  near = 0;
  /** Events of types that this program does not know. */
  unknown = 0;
  /** The newest time that an event states, by the machine's own clock. */
  newest?: number;

  /** Takes in one event. */
  take(event: Event): void {
    const type = event.event_type;
    this.newest = Math.max(this.newest ?? event.occurred_at, event.occurred_at);
    this.claims += type === "attempt.terminated" ? 1 : 0;
    if (!Object.hasOwn(BODIES, type)) {
      this.unknown += KNOWN.has(type) ? 0 : 1;
      return;
    }
    checkReserved(event.payload);
    if (event.schema_version !== 1) {
      this.unknown += 1;
      return;
    }
    this.fold(event, type as keyof Bodies);
  }

  private fold({ task_seq: seq, occurred_at, payload }: Event, type: keyof Bodies): void {
    switch (type) {
      case "attempt.answer_checked": {
        const { by_receipt, by_evidence, by_absence, unverified, by_citation, near } = BODIES[type](payload);
        this.cited += Number(by_citation ?? 0);
        this.near += Number(near ?? 0);
        this.answers = [by_receipt, by_evidence, by_absence, unverified].map((count, at) => (this.answers[at] ?? 0) + Number(count));
        return;
      }
      case "artifact.created": {
        const { artifact } = BODIES[type](payload);
        this.artifacts.set(artifact.content_hash, artifact.kind);
        this.artifactIds.set(artifact.artifact_id, artifact.content_hash);
        return;
      }
      case "receipt.issued": {
        const body = BODIES[type](payload);
        this.receipts.set(body.receipt_id, { ...body, seq });
        return;
      }
      case "approval.requested": {
        const { approval, need } = BODIES[type](payload);
        this.packets.set(approval.approval_id, approval.approval_packet_sha256);
        if (need !== undefined) this.forTwo.add(approval.approval_id);
        return;
      }
      case "approval.signed": {
        const { approval_id, decided_by, surface, scope, keyid, envelope, passkey } = BODIES[type](payload);
        const granted: Granted = { scope, keyid, isFirst: true, ...(passkey && { enrolment: passkey.sha256 }) };
        // A yes that allowed an act is no first one afterwards.
        if (!this.decisions.has(envelope.sha256)) this.decisions.set(envelope.sha256, { seq, approval_id, decided_by, surface, granted });
        return;
      }
      case "approval.granted": {
        const { approval_id, decided_by, surface, scope, keyid, envelope, passkey, first } = BODIES[type](payload);
        const granted: Granted = { scope, keyid, isFirst: false, ...(passkey && { enrolment: passkey.sha256 }), ...(first && { after: first.sha256 }) };
        this.decisions.set(envelope.sha256, { seq, approval_id, decided_by, surface, granted });
        return;
      }
      case "approval.denied": {
        const { approval_id, decided_by, surface, envelope } = BODIES[type](payload);
        if (envelope) this.decisions.set(envelope.sha256, { seq, approval_id, decided_by, surface });
        return;
      }
      case "policy.evaluated":
        this.policies.add(BODIES[type](payload).result.sha256);
        return;
      case "action.requested":
        this.requests.add(BODIES[type](payload).request.sha256);
        return;
      case "grant.issued": {
        const body = BODIES[type](payload);
        this.grants.set(body.grant_id, body.grant.sha256);
        return;
      }
      case "grant.standing_used": {
        const { envelope, grant_id, use_no, max_uses } = BODIES[type](payload);
        const before = this.standing.get(envelope.sha256) ?? [];
        this.standing.set(envelope.sha256, [...before, { seq, at: occurred_at, grant_id, use_no, max_uses }]);
        return;
      }
      case "witness.captured":
        this.witnesses.add(BODIES[type](payload).witness.sha256);
        return;
      case "witness.validated":
        this.witnesses.add(BODIES[type](payload).observed.sha256);
        return;
      case "effect.dispatched":
        this.dispatched.set(BODIES[type](payload).audit_entry_sha256, seq);
        return;
      case "effect.resolved":
        BODIES[type](payload);
        return;
      default: {
        const never: never = type;
        throw new Error(`no fold for ${String(never)}`);
      }
    }
  }
}

/** Entries of a map or members of a set, sorted by key. */
export function sorted<V>(map: ReadonlyMap<string, V>): [string, V][] {
  return [...map].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
}
