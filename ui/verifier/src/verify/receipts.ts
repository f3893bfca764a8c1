/** Receipts: recorded by the log, signed by the receipt key, and at one with what the log says was authorised. */
import { parseCanonical } from "./read/canon.ts";
import type { Check } from "./check.ts";
import { digestOf } from "./read/digest.ts";
import { sorted, type ReceiptFact } from "./facts.ts";
import * as l from "./layout.ts";
import { isWhole, type Predicate } from "./manifest.ts";
import { RECEIPT_TYPE, statement as receiptStatement, STATEMENT_TYPE, type Statement } from "./generated/nouns.ts";
import { IN_TOTO, openEnvelope, signersOf } from "./signed.ts";
import { at, Stop } from "./read/stop.ts";

export function checkReceipts(check: Check, about: Predicate): void {
  const only = about.receipt_id;
  for (const name of check.sums.keys()) {
    const named = l.parseName(name);
    if (named?.kind !== "receipt" && named?.kind !== "bare receipt") continue;
    const wanted = only === undefined || only === named.id;
    if (!wanted || !check.facts.receipts.has(named.id)) throw new Stop(name, "no event of this bundle records this receipt");
  }
  if (only !== undefined && !check.facts.receipts.has(only)) {
    throw new Stop("task/events", "none of the events records the receipt that is to be proven");
  }
  for (const [id, fact] of sorted(check.facts.receipts)) checkReceipt(check, id, fact, about);
}

function checkReceipt(check: Check, id: string, fact: ReceiptFact, about: Predicate): void {
  const [signed, bare] = [l.receiptPath(id), l.bareReceiptPath(id)];
  if (check.has(signed) && check.has(bare)) throw new Stop(bare, "the same receipt is there twice");
  const name = check.has(signed) ? signed : bare;
  if (!check.has(name)) {
    check.lacks(`receipt ${id}, which event ${fact.seq} records`);
    return;
  }
  const bytes = check.whole(name, l.WHOLE_BYTES_MAX);
  if (digestOf(bytes) !== fact.envelope.sha256) throw new Stop(name, `event ${fact.seq} records other bytes of this receipt`);
  const payload = payloadOf(check, name, name === bare, fact, bytes);
  if (digestOf(payload) !== fact.statement_sha256) throw new Stop(name, `event ${fact.seq} records another statement`);
  const value = at(name, () => parseCanonical(payload));
  check.openLeaves(value, "");
  const statement = at(name, () => receiptStatement(value));
  checkSaid(name, id, fact, statement, about);
  checkSubjects(name, statement);
  checkReferences(check, name, statement.predicate, about);
  check.authority.receipt(name, statement.predicate);
  check.counts.receipts += 1;
  check.signedReceipts += name === signed ? 1 : 0;
}

/** What the receipt says, once whoever should have signed it has. */
function payloadOf(check: Check, name: string, bare: boolean, fact: ReceiptFact, bytes: Uint8Array): Uint8Array {
  if (bare) {
    if (fact.verifiability === "hash_only" || fact.verifiability === "hash_chained") return bytes;
    throw new Stop(name, "its event says it is signed, and nobody signed it");
  }
  const key = check.keys.receipt;
  if (!key) throw new Stop(name, "it is signed, and the bundle has no key to check it with");
  // A receipt is older than the key that followed its own: the envelope says which one signed.
  const signers = signersOf(bytes);
  const signed = check.rotations.ever("receipt").find(({ keyid }) => signers.includes(keyid));
  return at(name, () => openEnvelope(bytes, IN_TOTO, signed ?? key));
}

/** The receipt says the same as the event that records it. */
function checkSaid(name: string, id: string, fact: ReceiptFact, statement: Statement, about: Predicate): void {
  if (statement._type !== STATEMENT_TYPE || statement.predicateType !== RECEIPT_TYPE) {
    throw new Stop(name, "it is not the statement of a receipt");
  }
  const said = statement.predicate;
  const agrees =
    said.receipt_id === id &&
    said.task_id === about.task_id &&
    said.receipt_class === fact.receipt_class &&
    said.action_class === fact.action_class &&
    said.result_code === fact.result_code &&
    said.verifiability === fact.verifiability;
  if (!agrees) throw new Stop(name, `it says otherwise than event ${fact.seq}, which records it`);
}

function checkSubjects(name: string, statement: Statement): void {
  for (const { digest } of statement.subject) {
    const [only, ...others] = Object.entries(digest);
    if (!only || only[0] !== "sha256" || !/^[0-9a-f]{64}$/.test(only[1]) || others.length > 0) {
      throw new Stop(name, "a subject has no SHA-256 digest, or more than that");
    }
  }
}

/** Every artifact that the receipt names is the one that the log knows under that identifier. */
function checkReferences(check: Check, name: string, receipt: Statement["predicate"], about: Predicate): void {
  const single = [receipt.action_request_ref, receipt.environment_ref, receipt.policy_result_ref];
  const lists = [receipt.input_refs, receipt.output_refs, receipt.rollback.artifact_refs];
  const images = receipt.changes.map((change) => change.before_image);
  for (const artifact of [...single, ...lists.flat(), ...images]) {
    if (!artifact) continue;
    check.named.add(artifact.sha256);
    const known = check.facts.artifactIds.get(artifact.artifact_id);
    if (known !== undefined && known !== artifact.sha256) {
      throw new Stop(name, `it names \`${artifact.artifact_id}\` with another digest than the log does`);
    }
    if (known === undefined && isWhole(about)) {
      check.withholds(`the event that made ${artifact.artifact_id}, which receipt ${receipt.receipt_id} names`);
    }
  }
  const ever = check.rotations.ever("receipt");
  const named = receipt.signer_ref;
  const known = ever.length === 0 ? named === undefined : ever.some(({ keyid }) => keyid === named);
  if (!known && receipt.verifiability !== "hash_chained") {
    throw new Stop(name, "it names another signer than the receipt key");
  }
  manifestNamed(check, name, receipt);
}

/** Nobody but the holder of the manifest key that the receipt names may have listed the files of this bundle. */
function manifestNamed(check: Check, name: string, receipt: Statement["predicate"]): void {
  const keyid = receipt.manifest_ref;
  if (keyid === undefined || !check.signed) return;
  const leads = check.rotations.leads("manifest", [{ shown: keyid, names: (key) => key.keyid === keyid }]);
  if (!leads) throw new Stop(name, "it names another manifest key than this bundle's");
  if (!leads.revoked) check.hasNamedManifest = true;
}
