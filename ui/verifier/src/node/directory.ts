/** A bundle as a folder, for Node. */
import { closeSync, existsSync, lstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { checkName, refuseVersion, type Container } from "../verify/container.ts";
import { FILES_MAX, README } from "../verify/layout.ts";
import { Stop } from "../verify/read/stop.ts";

/** No file of a bundle lies deeper. */
const DEPTH_MAX = 4;

/** What this program reads whole: it holds a file in memory, and `hermit-verify` does not. */
const FILE_BYTES_MAX = 1_500_000_000;

/** Refuses to read what would not fit, without a verdict on it. */
export function checkSize(name: string, size: number): void {
  if (size > FILE_BYTES_MAX) throw new Error(`\`${name}\` has ${size} bytes, more than this program can hold; check it with hermit-verify`);
}

/** The first bytes of a file of any size. */
function beginning(path: string, length: number): string {
  const [bytes, file] = [Buffer.alloc(length), openSync(path, "r")];
  try {
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** Lists a folder's files without reading them. */
export function openDirectory(root: string): Container {
  const readme = join(root, README);
  if (existsSync(readme) && lstatSync(readme).isFile()) refuseVersion(beginning(readme, 104));
  const sizes = new Map<string, number>();
  walk(root, "", 0, sizes);
  const sorted = new Map([...sizes].sort(([left], [right]) => (left < right ? -1 : 1)));
  return {
    sizes: sorted,
    open(name) {
      if (!sorted.has(name)) throw new Stop(name, "it is missing");
      checkSize(name, sorted.get(name) ?? 0);
      const bytes = new Uint8Array(readFileSync(join(root, name)));
      return bytes.length === sorted.get(name) ? { bytes } : { bytes, fault: "its size changed while it was read" };
    },
  };
}

function walk(folder: string, prefix: string, depth: number, sizes: Map<string, number>): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = `${prefix}${entry.name}`;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (depth === DEPTH_MAX) throw new Stop(name, "folders nest deeper than in any bundle");
      walk(path, `${name}/`, depth + 1, sizes);
    } else if (entry.isFile()) {
      checkName(name);
      sizes.set(name, lstatSync(path).size);
      if (sizes.size > FILES_MAX) throw new Stop("the directory", "it has more files than any bundle");
    } else {
      throw new Stop(name, "it is a link or a special file, and a bundle has none");
    }
  }
}
