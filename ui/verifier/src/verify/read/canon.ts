/**
 * One value, one byte string: RFC 8785 (JCS) with integers within ±(2^53−1) only.
 *
 * The reader accepts a text only if it is its own canonical form, so nothing is ever written again in order to verify.
 */
import { textOf } from "./bytes.ts";
import { Malformed } from "./stop.ts";

/** Name of the canonical form, as it stands in sealed documents under `canon`. */
export const CANON = "jcs-ijson/1";
/** How deep arrays and objects may nest. */
export const DEPTH_MAX = 64;

/** An object without a prototype, so that no name means anything but itself. */
export interface JsonObject {
  [name: string]: Json;
}
export type Json = null | boolean | number | string | Json[] | JsonObject;

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The one escape of each character that has one. */
const ESCAPES = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
const SHORT = new Map([...ESCAPES].map(([letter, character]) => [character, `\\${letter}`]));
const INTEGER = /(?:0|-?[1-9][0-9]{0,15})(?![0-9])/y;
// eslint-disable-next-line no-control-regex -- control characters are exactly what ends a plain run
const PLAIN = /[^"\\\u0000-\u001f]*/y;

class Cursor {
  private index = 0;

  constructor(private readonly text: string) {}

  whole(): Json {
    const value = this.value(0);
    if (this.index !== this.text.length) throw this.refused("something follows its end");
    return value;
  }

  private refused(why: string): Malformed {
    return new Malformed("json", `${why}, at character ${this.index + 1}; it is not in canonical form (RFC 8785)`);
  }

  private expect(word: string): void {
    if (!this.text.startsWith(word, this.index)) throw this.refused(`\`${word}\` is expected`);
    this.index += word.length;
  }

  private word<T>(word: string, value: T): T {
    this.expect(word);
    return value;
  }

  private value(depth: number): Json {
    switch (this.text[this.index]) {
      case '"':
        return this.string();
      case "{":
        return this.object(depth);
      case "[":
        return this.array(depth);
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      default:
        return this.integer();
    }
  }

  private integer(): number {
    INTEGER.lastIndex = this.index;
    const found = INTEGER.exec(this.text)?.[0];
    const number = Number(found);
    if (found === undefined || !Number.isSafeInteger(number)) throw this.refused("a value within ±(2^53−1) is expected");
    this.index += found.length;
    return number;
  }

  private string(): string {
    this.expect('"');
    let read = "";
    for (;;) {
      PLAIN.lastIndex = this.index;
      const plain = PLAIN.exec(this.text)?.[0] ?? "";
      read += plain;
      this.index += plain.length;
      const next = this.text[this.index];
      if (next === '"') {
        this.index += 1;
        return read;
      }
      if (next !== "\\") throw this.refused("a string does not end");
      read += this.escape();
    }
  }

  /** The short escapes where there is one, `\u00xx` in lower case for the other control characters. */
  private escape(): string {
    const letter = this.text[this.index + 1] ?? "";
    const short = ESCAPES.get(letter);
    if (short !== undefined) {
      this.index += 2;
      return short;
    }
    const control = /^\\u00(0[0-7bef]|1[0-9a-f])$/.exec(this.text.slice(this.index, this.index + 6));
    if (!control) throw this.refused("a character is escaped that needs it not, or otherwise");
    this.index += 6;
    return String.fromCharCode(Number.parseInt(control[1] ?? "", 16));
  }

  private array(depth: number): Json[] {
    this.open("[", depth);
    const items: Json[] = [];
    if (this.text[this.index] === "]") return this.word("]", items);
    for (;;) {
      items.push(this.value(depth + 1));
      if (this.text[this.index] === "]") return this.word("]", items);
      this.expect(",");
    }
  }

  private object(depth: number): JsonObject {
    this.open("{", depth);
    const members = Object.create(null) as JsonObject;
    if (this.text[this.index] === "}") return this.word("}", members);
    let before: string | undefined;
    for (;;) {
      const name = this.string();
      // Strings compare by their UTF-16 code units, which is the order RFC 8785 asks for.
      if (before !== undefined && before >= name) throw this.refused("names are not sorted, or one comes twice");
      before = name;
      this.expect(":");
      members[name] = this.value(depth + 1);
      if (this.text[this.index] === "}") return this.word("}", members);
      this.expect(",");
    }
  }

  private open(bracket: string, depth: number): void {
    if (depth >= DEPTH_MAX) throw this.refused(`it nests deeper than ${DEPTH_MAX} levels`);
    this.expect(bracket);
  }
}

/** Reads JSON text that must be its own canonical form, byte for byte. */
export function parseCanonical(bytes: Uint8Array): Json {
  return new Cursor(textOf(bytes, "json")).whole();
}

/** The canonical text of a value; a number beyond the integers that leave or enter is refused. */
export function canonical(value: Json): string {
  return write(value, (number) => {
    if (Number.isSafeInteger(number) && !Object.is(number, -0)) return String(number);
    throw new Malformed("json", `the number ${number} is no integer within ±(2^53−1); write it as a decimal string`);
  });
}

/** {@link canonical} behind no gate: any finite number, spelled as RFC 8785 spells it. For its published vectors. */
export function jcs(value: Json): string {
  return write(value, (number) => {
    if (Number.isFinite(number)) return String(number);
    throw new Malformed("json", `the number ${number} has no spelling`);
  });
}

function write(value: Json, number: (value: number) => string): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, number)).join(",")}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${quote(name)}:${write(value[name] ?? null, number)}`).join(",")}}`;
}

function quote(text: string): string {
  if (!text.isWellFormed()) throw new Malformed("json", "a string holds half a character");
  // eslint-disable-next-line no-control-regex -- these are the characters that must be escaped
  return `"${text.replace(/["\\\u0000-\u001f]/g, (c) => SHORT.get(c) ?? `\\u00${c.charCodeAt(0).toString(16).padStart(2, "0")}`)}"`;
}
