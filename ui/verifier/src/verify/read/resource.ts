/** Resource identifiers, the percent-encoded paths in them in the one spelling that is stored, and addresses on the web. */
import { utf8 } from "./bytes.ts";
import { Malformed } from "./stop.ts";
import { type Shape } from "./shape.ts";

const PATH_BYTES_MAX = 4096;
const ESCAPED = new Set([...' "#%<>?`{}\\^|[]'].map((character) => character.charCodeAt(0)));
const WORKSPACE = /^wsp_[0-9a-f]{32}$/;

function escapes(byte: number): boolean {
  return byte < 0x20 || byte >= 0x7f || ESCAPED.has(byte);
}

/** The bytes of a path below a workspace root, or nothing when the text is none in its one spelling. */
function pathBytes(text: string): Uint8Array | undefined {
  const bytes: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code !== 0x25) {
      if (escapes(code)) return undefined;
      bytes.push(code);
      continue;
    }
    const digits = text.slice(index + 1, index + 3);
    if (!/^[0-9A-F]{2}$/.test(digits) || !escapes(Number.parseInt(digits, 16))) return undefined;
    bytes.push(Number.parseInt(digits, 16));
    index += 2;
  }
  const parts = String.fromCharCode(...bytes.slice(0, PATH_BYTES_MAX)).split("/");
  const bad = parts.some((part) => part === "" || part === "." || part === ".." || part.includes("\0"));
  return bytes.length > PATH_BYTES_MAX || (bytes.length > 0 && bad) ? undefined : Uint8Array.from(bytes);
}

export const relPath: Shape<string> = (value) => {
  if (typeof value === "string" && pathBytes(value)) return value;
  throw new Malformed("document", "a path inside a workspace is expected");
};

function isResource(text: string): boolean {
  const [scheme, rest] = split(text, ":");
  const [first, second] = split(rest, "/");
  switch (scheme) {
    case "file":
      return rest.includes("/") && WORKSPACE.test(first) && pathBytes(second) !== undefined;
    case "host": {
      const port = /^.*:(0|[1-9][0-9]{0,4})$/s.exec(rest)?.[1];
      return port !== undefined && Number(port) <= 0xffff;
    }
    case "ref":
      return rest.includes("/") && WORKSPACE.test(first);
    case "mcp":
    case "chat":
      return rest.includes("/");
    case "secret":
    case "skill":
    case "schedule":
    case "skin":
    case "gateway":
      return rest !== "";
    case "memory":
      return /^mem_[0-9a-f]{32}$/.test(rest);
    case "policy":
      return rest === "rules";
    case "identity":
      return rest === "soul";
    case "successor":
      return rest === "change";
    case "receipt":
      return /^rcp_[0-9a-f]{32}$/.test(rest);
    default:
      return false;
  }
}

function split(text: string, mark: string): [string, string] {
  const found = text.indexOf(mark);
  return found < 0 ? [text, ""] : [text.slice(0, found), text.slice(found + 1)];
}

/** `file:WORKSPACE/path`, `host:name:443` and the like (proof.md 1). */
export const resource: Shape<string> = (value) => {
  if (typeof value === "string" && isResource(value)) return value;
  throw new Malformed("document", "a resource is expected");
};

const URL_BYTES_MAX = 8 * 1024;

/** Whether a text is an address as the first implementation reads one; `model::web` says why each part is as it is. */
function isWebUrl(text: string): boolean {
  const found = /^https?:\/\/([^/?#]*)(.*)$/s.exec(text);
  const [authority, path] = [found?.[1], found?.[2]];
  if (authority === undefined || path === undefined || utf8(text).length > URL_BYTES_MAX) return false;
  if (authority.includes("@") || !/^[!-~]*$/.test(path) || /["#<>\\^`{|}]/.test(path)) return false;
  const bracketed = /^\[([^\]]*)\](.*)$/s.exec(authority);
  const colon = authority.indexOf(":");
  const plain = colon < 0 ? [authority, ""] : [authority.slice(0, colon), authority.slice(colon)];
  const [host = "", port = ""] = bracketed?.slice(1) ?? plain;
  if (port !== "" && !(/^:0*[1-9][0-9]*$/.test(port) && Number(port.slice(1)) <= 0xffff)) return false;
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  if (name === "" || name.length > 253) return false;
  if (authority.startsWith("[")) return /^[0-9a-fA-F:.]*$/.test(name) && name.includes(":");
  return /^[A-Za-z0-9._-]*$/.test(name) && !name.split(".").includes("");
}

/** `https://example.org/path?query`: no user, no password, no fragment. */
export const webUrl: Shape<string> = (value) => {
  if (typeof value === "string" && isWebUrl(value)) return value;
  throw new Malformed("document", "an address on the web is expected");
};
