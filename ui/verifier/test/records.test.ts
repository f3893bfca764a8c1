/** What the records in a bundle must have: each is taken out in turn, and the rest is no such record any more. */
import { describe, expect, test } from "vitest";
import { textOf } from "../src/verify/read/bytes.ts";
import { isObject, parseCanonical, type Json, type JsonObject } from "../src/verify/read/canon.ts";
import { verify } from "../src/verify/check.ts";
import { auditEntry, BODIES, event, statement as receiptStatement } from "../src/verify/generated/nouns.ts";
import { parseEnvelope } from "../src/verify/signed.ts";
import { Malformed } from "../src/verify/read/stop.ts";
import { parseTrust } from "../src/verify/trust.ts";
import { openZip } from "../src/verify/zip.ts";
import { conforms } from "./conforms.ts";
import { data, filesOf } from "./place.ts";

const task = data("task.zip");
const files = filesOf(task);
const trust = [parseTrust(textOf(data("log.pub.pem"), "key"))];

function objects(name: string): JsonObject[] {
  const lines = textOf(files.get(name) ?? new Uint8Array(), name).trimEnd().split("\n");
  return lines.map((line) => objectOf(parseCanonical(new TextEncoder().encode(line))));
}

function objectOf(value: Json | undefined): JsonObject {
  if (!isObject(value)) throw new Error("an object is expected");
  return value;
}

/** The record is read as it is, and is none without any one of these. */
function demands(read: (value: Json) => unknown, record: JsonObject, names: string): void {
  read(record);
  for (const name of names.split(" ")) {
    expect(Object.hasOwn(record, name), name).toBe(true);
    const { [name]: _gone, ...rest } = record;
    expect(() => read(rest), `without ${name}`).toThrow(Malformed);
  }
}

describe("a record without one of its fields is none", () => {
  test("an event", conforms("HK-8.4-3", () => {
    const fields = "event_id schema_version event_type entity_type entity_id task_id task_seq occurred_at actor_type actor_id payload correlation_id prev_event_hash";
    for (const record of objects("task/events.jsonl")) demands(event, record, fields);
    // Of those that not every event has, a wrong one is refused.
    const [first] = objects("task/events.jsonl");
    for (const name of ["step_id", "attempt_id", "causation_id"]) expect(() => event({ ...first, [name]: "x" }), name).toThrow(Malformed);
  }));

  test("an artifact", conforms("HK-8.5-2", () => {
    const fields = "artifact_id class kind uri content_hash media_type byte_size created_at producer retention_class trust_tier sensitivity_class";
    const made = objects("task/events.jsonl").filter((one) => one["event_type"] === "artifact.created");
    expect(made.length).toBeGreaterThan(5);
    for (const { payload } of made) {
      demands((artifact) => BODIES["artifact.created"]({ artifact }), objectOf(objectOf(payload)["artifact"]), fields);
    }
  }));

  test("a receipt, which says what was meant, allowed, run, changed, made and seen, and what can be undone", conforms("HK-8.10-2", "HK-18.2-1", "HK-25.3-3", () => {
    const fields = "receipt_id task_id step_id attempt_id receipt_class action_request_ref input_refs environment_ref policy_result_ref approval_ref capability_grant_ref output_refs result_code result_summary created_at authorized ran changes observed rollback replay_class verifiability";
    const names = [...files.keys()].filter((name) => name.startsWith("receipts/"));
    expect(names).toHaveLength(2);
    for (const name of names) {
      const statement = objectOf(parseCanonical(parseEnvelope(files.get(name) ?? new Uint8Array()).payload));
      demands((predicate) => receiptStatement({ ...statement, predicate }), objectOf(statement["predicate"]), fields);
      expect(objectOf(statement["predicate"])["verifiability"]).toBe("signed");
    }
  }));

  test("an entry of the gate", conforms("KS-4.7-1", () => {
    const fields = "prev_hash entry_hash ts_ms request_id actor intent decision state_from state_to";
    for (const record of objects("gate/entries.jsonl")) demands(auditEntry, record, fields);
  }));
});

test("a bundle is proof to whoever trusts the log's key, and to nobody else", conforms("HK-25.3-2", "HK-25.3-5", () => {
  for (const name of ["task.zip", "receipt.zip"]) {
    const judged = (keys: typeof trust): string => verify(() => openZip(data(name)), keys).report.verdict;
    expect([judged(trust), judged([])]).toEqual(["valid", "unverifiable"]);
  }
}));
