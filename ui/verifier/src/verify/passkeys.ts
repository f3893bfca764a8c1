/** A yes that a passkey signed: let by the approval key, of a person who was verified, at its origin, counted on. */
import type { ApprovalDecision } from "./generated/nouns.ts";
import { DECISION_TYPE, GRANTING_SURFACES, PASSKEY_FORMAT, PASSKEY_TYPE, passkeyEnrolment, type PasskeyEnrolment } from "./generated/nouns.ts";
import type { Check } from "./check.ts";
import { sorted, type DecisionFact, type Granted } from "./facts.ts";
import { artifactPath } from "./layout.ts";
import { parseCanonical } from "./read/canon.ts";
import { at, Malformed, Stop } from "./read/stop.ts";
import { openEnvelope, signersOf } from "./signed.ts";
import { base64urlDecode, checkSigned, follows, parseSigned, PasskeyKey, saidBy, type Said, type Signed } from "./webauthn.ts";

/** The origin of a passkey on a security key, where no browser asked: none is ever at it. */
const SECURITY_KEY_ORIGIN = "hermit:security-key";
/** The origin of the approval key of another machine of the same person, which signs there in the place of a passkey. */
const MESH_ORIGIN = "hermit:mesh";

/** What is known of a passkey that said yes. */
interface Seen {
  origin: string;
  /** What its authenticator said last. */
  said: Said;
  decisions: number;
}

export class Passkeys {
  /** Passkeys that said yes, by their names, with how far each has counted. */
  private readonly seen = new Map<string, Seen>();

  constructor(private readonly check: Check) {}

  /** Checks a yes; `decided` holds the decision itself against the log. */
  decision(place: string, fact: DecisionFact, granted: Granted, bytes: Uint8Array, decided: (payload: Uint8Array) => ApprovalDecision): void {
    const found = this.enrolment(fact, granted);
    if (!found) return;
    const { key, enrolment } = found;
    const { signed, said, made } = at(place, () => read(bytes, key, enrolment));
    const before = this.seen.get(key.keyid);
    if (!follows(before?.said.counter ?? made.counter, said.counter)) {
      throw new Stop(place, "the passkey has not counted on since it was last used: there may be a copy of it");
    }
    const decision = decided(signed.payload);
    const fits = decision.choice === "once" && decision.decided_by === enrolment.enrolled_by && enrolment.enrolled_at <= decision.decided_at;
    if (!fits) throw new Stop(place, "a passkey says yes once, for whom it was enrolled, and not before");
    if ((enrolment.origin === MESH_ORIGIN) !== (decision.surface === "mesh")) throw new Stop(place, `its passkey says no yes from \`${decision.surface}\``);
    this.check.counts.by_passkey += 1;
    this.seen.set(key.keyid, { origin: enrolment.origin, said, decisions: (before?.decisions ?? 0) + 1 });
  }

  /** What is proven of its decisions, and what the authenticator said of presence, verification and copies. */
  inWords(): string[] {
    return sorted(this.seen).map(([, { origin, said, decisions }]) => {
      const made = decisions === 1 ? "1 decision of a person is" : `${decisions} decisions of a person are`;
      const copied = said.isBackedUp ? "was copied to other devices of its owner" : "may be copied to other devices of its owner";
      const copies = said.isBackupEligible ? copied : "stays on its device";
      const exactly = "for exactly the packet, scope and nonce that were asked";
      if (origin === MESH_ORIGIN) return `${made} signed by the approval key of another machine, which the approval key lets say yes, ${exactly}: that machine says that whoever answered opened the key for it`;
      const by = origin === SECURITY_KEY_ORIGIN ? "a security key that the approval key lets say yes, asked by no page" : `a passkey that the approval key lets say yes, at ${origin}`;
      return `${made} signed by ${by}, ${exactly}: its authenticator says that somebody was present and verified, and that the passkey ${copies}`;
    });
  }

  /** What lets the passkey say yes, signed by an approval key of this bundle; none where it is not here. */
  private enrolment(fact: DecisionFact, granted: Granted): { key: PasskeyKey; enrolment: PasskeyEnrolment } | undefined {
    const { approval_id: of, seq } = fact;
    const digest = granted.enrolment ?? "";
    const bytes = this.check.artifact(digest);
    if (!bytes) {
      this.check.withholds(`what lets the passkey say yes that decided ${of}, only its digest`);
      return undefined;
    }
    this.check.named.add(digest);
    const place = artifactPath(digest);
    const signers = signersOf(bytes);
    const approvalKey = this.check.rotations.ever("approval").find(({ keyid }) => signers.includes(keyid));
    if (!approvalKey) {
      this.check.lacks(`the key that let the passkey decide ${of} is not in this bundle`);
      return undefined;
    }
    const enrolment = at(place, () => passkeyEnrolment(parseCanonical(openEnvelope(bytes, PASSKEY_TYPE, approvalKey))));
    if (enrolment.format !== PASSKEY_FORMAT) throw new Stop(place, `it is of another version: \`${enrolment.format}\``);
    if (enrolment.log_id !== this.check.predicate?.log_id) throw new Stop(place, "it was enrolled for another store");
    if (!GRANTING_SURFACES.includes(enrolment.surface)) throw new Stop(place, `a yes cannot come from \`${enrolment.surface}\``);
    const key = at(place, () => PasskeyKey.fromBase64(enrolment.public_key));
    if (granted.keyid !== key.keyid) throw new Stop(place, `it is not the passkey that event ${seq} names`);
    return { key, enrolment };
  }
}

/** The assertion and what the authenticator said, with it and when the passkey was made. */
function read(bytes: Uint8Array, key: PasskeyKey, { credential_id, rp_id: rpId, origin, authenticator_data }: PasskeyEnrolment): { signed: Signed; said: Said; made: Said } {
  const signed = parseSigned(bytes);
  if (signed.type !== DECISION_TYPE) throw new Malformed("passkey", `its payload is \`${signed.type}\`, not \`${DECISION_TYPE}\``);
  const said = checkSigned(signed, { credentialId: base64urlDecode(credential_id), key, rpId, origin });
  return { signed, said, made: saidBy(base64urlDecode(authenticator_data), rpId) };
}
