/** Sensitive leaves: hashed everywhere, readable only where their disclosure is there (proof.md 5). */
import { hexExact } from "./read/bytes.ts";
import { isObject, parseCanonical, type Json, type JsonObject } from "./read/canon.ts";
import { digestOf, isDigest } from "./read/digest.ts";
import { Malformed } from "./read/stop.ts";

function token(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function children(value: Json[] | JsonObject): [string, Json][] {
  return Array.isArray(value) ? value.map((item, index) => [String(index), item]) : Object.entries(value);
}

/** Calls `found` with the digest and the pointer of every concealed leaf below `value`. */
export function eachConcealed(value: Json, pointer: string, found: (digest: string, pointer: string) => void): void {
  if (typeof value !== "object" || value === null) return;
  const digest = isObject(value) && Object.keys(value).length === 1 ? value["$sd"] : undefined;
  if (typeof digest === "string" && isDigest(digest)) return found(digest, pointer);
  for (const [name, child] of children(value)) eachConcealed(child, `${pointer}/${token(name)}`, found);
}

const isReserved = (value: JsonObject): boolean => value["$plain"] !== undefined || value["$sd"] !== undefined;

/** Refuses `$plain` and `$sd` in any other shape than that of a leaf, and inside a plain value. */
export function checkReserved(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  if (!isObject(value) || !isReserved(value)) {
    for (const [, child] of children(value)) checkReserved(child);
    return;
  }
  if (Object.keys(value).length !== 1) throw new Malformed("document", "members stand beside `$plain` or `$sd`");
  if (value["$plain"] !== undefined) return refuseReserved(value["$plain"]);
  if (typeof value["$sd"] !== "string" || !isDigest(value["$sd"])) throw new Malformed("document", "`$sd` is no digest");
}

function refuseReserved(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  if (isObject(value) && isReserved(value)) throw new Malformed("document", "a plain value carries `$plain` or `$sd`");
  for (const [, child] of children(value)) refuseReserved(child);
}

/** What opens one concealed leaf. */
interface Disclosure {
  digest: string;
  pointer: string;
  value: Json;
}

/** Reads a disclosure: the canonical bytes of `[salt, json_pointer, value]`. */
export function parseDisclosure(bytes: Uint8Array): Disclosure {
  const bad = (why: string): Malformed => new Malformed("disclosure", why);
  const parts = parseCanonical(bytes);
  if (!Array.isArray(parts) || parts.length !== 3) throw bad("it does not have the three parts salt, pointer, value");
  const [salt, pointer, value] = parts;
  if (typeof salt !== "string" || typeof pointer !== "string" || value === undefined) throw bad("its salt and pointer are not both texts");
  hexExact("disclosure", salt, 16);
  const rooted = pointer === "" || pointer.startsWith("/");
  if (!rooted || /~(?![01])/.test(pointer)) throw new Malformed("json pointer", `\`${pointer}\` does not follow RFC 6901`);
  refuseReserved(value);
  return { digest: digestOf(bytes), pointer, value };
}

/** The value with every leaf that `lookup` knows put back in place of its digest. */
export function reveal(value: Json, lookup: (digest: string) => Json | undefined): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => reveal(item, lookup));
  const digest = Object.keys(value).length === 1 ? value["$sd"] : undefined;
  if (typeof digest === "string") return lookup(digest) ?? value;
  const members = Object.create(null) as JsonObject;
  for (const [name, member] of Object.entries(value)) members[name] = reveal(member, lookup);
  return members;
}
