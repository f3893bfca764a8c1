/**
 * Checks a bundle with Node, as `hermit-verify` does: `node verify.mjs FILE [--trust KEY]... [--since CHECKPOINT]
 * [--trust-authority CERT]... [--bitcoin-headers FILE] [--json]`.
 *
 * `--frames` reads many from the standard input instead, each behind its length in four bytes, the greatest first, and
 * answers each with its report in one line; so the two verifiers can be held against each other thousands of times.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { verify, type Checked } from "../verify/check.ts";
import { Headers } from "../verify/clocks/bitcoin.ts";
import { certificatesOf, type Certificate } from "../verify/clocks/x509.ts";
import { exitCode, reportText } from "../verify/report.ts";
import { Malformed } from "../verify/read/stop.ts";
import { parseTrust, type Trust } from "../verify/trust.ts";
import { openZip } from "../verify/zip.ts";
import { checkSize, openDirectory } from "./directory.ts";

const USAGE = `usage: node verify.mjs FILE [--trust KEY]... [--since CHECKPOINT]
                       [--trust-authority CERT]... [--bitcoin-headers FILE] [--json]
       node verify.mjs --frames [--trust KEY]... [and what else is given]

  FILE          a hermit-proof/1 bundle: a .zip file or a directory
  --trust KEY   a key you already have from its owner: a PEM or vkey file, a vkey,
                a key id (64 hexadecimal digits), or a fingerprint (SHA256:...)
  --since FILE  a checkpoint of the log that you have from before (log/checkpoint of an
                older bundle): shows whether the log has only grown since
  --trust-authority FILE
                a certificate of a time-stamp authority that you trust, PEM or DER
  --bitcoin-headers FILE
                headers of Bitcoin blocks that you have from a node you trust: 80 bytes each,
                or a line of hex; a first line \`height N\` says the first one's height
  --json        the whole report as JSON
  --frames      many bundles on the standard input, each behind its length (4 bytes)

exit codes: 0 valid, 5 invalid, 6 unverifiable, 7 incomplete, 2 usage or unreadable
`;

class Usage extends Error {}

interface Asked {
  path?: string;
  trust: Trust[];
  since?: Uint8Array;
  clocks: { authorities: Certificate[]; headers?: Headers };
  json: boolean;
  frames: boolean;
}

function parse(words: string[]): Asked {
  const asked: Asked = { trust: [], clocks: { authorities: [] }, json: false, frames: false };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "--json") asked.json = true;
    else if (word === "--frames") asked.frames = true;
    else if (word === "--since") asked.since = new Uint8Array(readFileSync(words.shift() ?? ""));
    else if (word === "--trust-authority") asked.clocks.authorities.push(...given(words.shift(), "certificate", certificatesOf));
    else if (word === "--bitcoin-headers") asked.clocks.headers = given(words.shift(), "headers of Bitcoin", Headers.parse);
    else if (word.startsWith("--trust=")) asked.trust.push(keyOf(word.slice("--trust=".length)));
    else if (word === "--trust") asked.trust.push(keyOf(words.shift() ?? ""));
    else if (word.startsWith("-")) throw new Usage(`\`${word}\` is no option`);
    else if (asked.path === undefined) asked.path = word;
    else throw new Usage(`\`${word}\` is one word too many`);
  }
  if ((asked.path === undefined) !== asked.frames) throw new Usage("name the bundle to check");
  return asked;
}

/** A key as written, or the file that holds it. */
function keyOf(word: string): Trust {
  const file = word !== "" && existsSync(word) && statSync(word).isFile();
  try {
    return parseTrust(file ? readFileSync(word, "utf8") : word);
  } catch (error) {
    if (error instanceof Malformed) throw new Usage(`\`${word}\` names no key: ${error.message}`);
    throw error;
  }
}

/** What a file holds that the reader gave beside keys. */
function given<T>(path: string | undefined, what: string, read: (bytes: Uint8Array) => T): T {
  try {
    return read(new Uint8Array(readFileSync(path ?? "")));
  } catch (error) {
    if (error instanceof Malformed) throw new Usage(`\`${path ?? ""}\` holds no ${what}: ${error.message}`);
    throw error;
  }
}

function check(path: string, { trust, since, clocks }: Asked): Checked {
  const facts = statSync(path);
  if (facts.isDirectory()) return verify(() => openDirectory(path), trust, since, clocks);
  if (!facts.isFile()) throw new Usage(`\`${path}\` is neither a file nor a folder`);
  checkSize(path, facts.size);
  const bytes = new Uint8Array(readFileSync(path));
  return verify(() => openZip(bytes), trust, since, clocks);
}

/** Answers every bundle of the standard input in one line. */
async function frames({ trust, since, clocks }: Asked): Promise<void> {
  let held = Buffer.alloc(0);
  for await (const piece of process.stdin) {
    held = Buffer.concat([held, piece as Buffer]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32BE(0)) {
      const end = 4 + held.readUInt32BE(0);
      const bytes = new Uint8Array(held.subarray(4, end));
      held = held.subarray(end);
      const { report, refusedBy } = verify(() => openZip(bytes), trust, since, clocks);
      process.stdout.write(`${JSON.stringify({ ...report, refused_by: refusedBy ?? null })}\n`);
    }
  }
}

async function main(words: string[]): Promise<number> {
  if (words.includes("--help") || words.includes("-h")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const asked = parse(words);
  if (asked.frames) {
    await frames(asked);
    return 0;
  }
  const { report } = check(asked.path ?? "", asked);
  process.stdout.write(asked.json ? `${JSON.stringify(report, undefined, 2)}\n` : reportText(report));
  return exitCode(report);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const usage = error instanceof Usage ? `\n\n${USAGE}` : "\n";
  process.stderr.write(`verify.mjs: ${error instanceof Error ? error.message : String(error)}${usage}`);
  process.exitCode = 2;
}
