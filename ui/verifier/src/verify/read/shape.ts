/**
 * Shapes of documents: a shape reads a JSON value as a type, or refuses it.
 *
 * As in the first implementation an object may say more than its shape unless it is closed, and what may be absent may
 * also be `null`. Not taken over: the second spellings that a Rust deserialiser would let pass (an array for an object).
 */
import { isObject, type Json, type JsonObject } from "./canon.ts";
import { isDigest } from "./digest.ts";
import { Malformed } from "./stop.ts";

export type Shape<T> = (value: Json) => T;
/** The type that a shape reads. */
export type Of<S> = S extends Shape<infer T> ? T : never;

/** A member that may be absent. */
interface Optional<T> {
  optional: Shape<T | undefined>;
}
type Member = Shape<unknown> | Optional<unknown>;
type Read<M> = M extends Optional<infer T> ? T | undefined : M extends Shape<infer T> ? T : never;

function refuse(expected: string): never {
  throw new Malformed("document", `${expected} is expected`);
}

export const json: Shape<Json> = (value) => value;

export const string: Shape<string> = (value) => (typeof value === "string" ? value : refuse("a text"));

export const boolean: Shape<boolean> = (value) => (typeof value === "boolean" ? value : refuse("true or false"));

/** Any integer that has a canonical form. */
export const integer: Shape<number> = (value) => (typeof value === "number" ? value : refuse("an integer"));

const within = (max: number): Shape<number> => (value) => {
  return typeof value === "number" && value >= 0 && value <= max ? value : refuse(`an integer from 0 to ${max}`);
};
export const u64 = within(Number.MAX_SAFE_INTEGER);
export const u32 = within(0xffff_ffff);
export const u16 = within(0xffff);

export const i32: Shape<number> = (value) => {
  return typeof value === "number" && value >= -0x8000_0000 && value <= 0x7fff_ffff ? value : refuse("a 32-bit integer");
};

export const digest: Shape<string> = (value) => (typeof value === "string" && isDigest(value) ? value : refuse("a digest"));

/** An identifier of one kind: its prefix, an underscore, 32 hexadecimal digits. */
export function id(prefix: string): Shape<string> {
  const form = new RegExp(`^${prefix}_[0-9a-f]{32}$`);
  return (value) => (typeof value === "string" && form.test(value) ? value : refuse(`an identifier \`${prefix}_…\``));
}

/** One of a closed list of names. */
export function names<const T extends string>(...list: T[]): Shape<T> {
  return (value) => list.find((name) => name === value) ?? refuse(`one of ${list.join(", ")}`);
}

export function array<T>(item: Shape<T>): Shape<T[]> {
  return (value) => (Array.isArray(value) ? value.map(item) : refuse("a list"));
}

export function nullable<T>(shape: Shape<T>): Optional<T> {
  return { optional: (value) => (value === null ? undefined : shape(value)) };
}

/** A member that may be left out, and has a value of its own then; `null` is none. */
export function defaulted<T>(shape: Shape<T>): Optional<T> {
  return { optional: shape };
}

/** Any names, each with a value of this shape. */
export function record<T>(shape: Shape<T>): Shape<Record<string, T>> {
  return (value) => {
    if (!isObject(value)) return refuse("an object");
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member)]));
  };
}

export function object<M extends Record<string, Member>>(members: M, more: "open" | "closed" = "open"): Shape<{ [K in keyof M]: Read<M[K]> }> {
  const known = Object.entries(members);
  return (value) => {
    if (!isObject(value)) return refuse("an object");
    const stranger = more === "closed" ? Object.keys(value).find((name) => !Object.hasOwn(members, name)) : undefined;
    if (stranger !== undefined) throw new Malformed("document", `\`${stranger}\` does not belong into it`);
    const read: Record<string, unknown> = {};
    for (const [name, member] of known) read[name] = readMember(value, name, member);
    return read as { [K in keyof M]: Read<M[K]> };
  };
}

function readMember(value: JsonObject, name: string, member: Member): unknown {
  const found = Object.hasOwn(value, name) ? value[name] : undefined;
  try {
    if (typeof member !== "function") return found === undefined ? undefined : member.optional(found);
    return found === undefined ? refuse("a value") : member(found);
  } catch (error) {
    if (error instanceof Malformed) throw new Malformed("document", `\`${name}\`: ${error.message.replace(/^this is not a valid document: /, "")}`);
    throw error;
  }
}

/** A value, or the reason for having none: `{"value": …}` or `{"absent": …}`. */
export function slot<T>(shape: Shape<T>): Shape<T | undefined> {
  const absence = names("not_required", "not_applicable", "precedes_task", "unavailable");
  return (value) => {
    if (!isObject(value) || Object.keys(value).length !== 1) return refuse("a value or the reason for its absence");
    if (value["value"] !== undefined) return shape(value["value"]);
    absence(value["absent"] ?? null);
    return undefined;
  };
}

/** A sensitive leaf that is readable, or whose digest is left: `{"$plain": v}` or `{"$sd": digest}`. */
export function sensitive<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value) => {
    if (!isObject(value) || Object.keys(value).length !== 1) return refuse("a sensitive value");
    if (value["$plain"] !== undefined) return shape(value["$plain"]);
    digest(value["$sd"] ?? null);
    return undefined;
  };
}

/** An object whose member `tag` says which of several shapes the rest of it has. */
export function tagged(tag: string, shapes: Record<string, Shape<unknown>>): Shape<JsonObject> {
  const known = new Map(Object.entries(shapes));
  return (value) => {
    const name = isObject(value) ? value[tag] : undefined;
    const shape = typeof name === "string" ? known.get(name) : undefined;
    if (!isObject(value) || !shape) return refuse(`an object with a known \`${tag}\``);
    const { [tag]: _name, ...rest } = value;
    shape(rest);
    return value;
  };
}

/** One of a few names, or an object whose one member has the name and the shape of a further variant. */
export function variant(word: Shape<string>, shapes: Record<string, Shape<unknown>>): Shape<Json> {
  const known = new Map(Object.entries(shapes));
  return (value) => {
    if (!isObject(value)) return word(value);
    const [only, ...others] = Object.entries(value);
    const shape = only && others.length === 0 ? known.get(only[0]) : undefined;
    if (!only || !shape) return refuse("an object with one known member");
    shape(only[1]);
    return value;
  };
}
