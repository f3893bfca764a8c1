/** Where things are. */
import { readFileSync } from "node:fs";
import { openZip } from "../src/verify/zip.ts";

/** The checkout. */
export const root = new URL("../../../", import.meta.url);

export function data(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`./data/${name}`, import.meta.url)));
}

/** The files of a bundle by name. */
export function filesOf(zip: Uint8Array): Map<string, Uint8Array> {
  const opened = openZip(zip);
  return new Map([...opened.sizes.keys()].map((name) => [name, opened.open(name).bytes]));
}
