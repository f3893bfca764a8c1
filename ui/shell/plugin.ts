// Writes the worker of the installed page beside the page that was built: with the files of its shell, and a version that is
// another one whenever one of them is.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What stands in `public`, and is served as it is. */
const PUBLIC = ["offline.html", "offline.css", "offline.js", "icon.svg"];
/** Pictures of the program, for the place where a system keeps its apps. */
const ICONS: Readonly<Record<string, string>> = { "icon-256.png": "128x128@2x.png", "icon-512.png": "icon.png" };

/** The worker for a shell of files, each with what is in it. */
export function workerOf(source: string, files: ReadonlyMap<string, string | Uint8Array>): string {
  const names = [...files.keys()].sort();
  const hash = createHash("sha256");
  for (const name of names) hash.update(name).update("\0").update(files.get(name) ?? "").update("\0");
  const version = hash.update(source).digest("hex").slice(0, 16);
  return source.replace('"__VERSION__"', JSON.stringify(version)).replace('["__SHELL__"]', JSON.stringify(names));
}

export function shell(): Plugin {
  return {
    name: "shell",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const [name, icon] of Object.entries(ICONS)) {
        this.emitFile({ type: "asset", fileName: name, source: readFileSync(here(`../../icons/${icon}`)) });
      }
      // What the page in a browser loads; the windows of the app have files of their own.
      const wanted = new Set<string>();
      const follow = (name: string) => {
        const part = bundle[name];
        if (part === undefined || wanted.has(name)) return;
        wanted.add(name);
        if (part.type !== "chunk") return;
        [...part.imports, ...part.dynamicImports, ...(part.viteMetadata?.importedCss ?? [])].forEach(follow);
      };
      for (const part of Object.values(bundle)) if (part.type === "chunk" && part.isEntry && part.name === "index") follow(part.fileName);
      const files = new Map<string, string | Uint8Array>(PUBLIC.map((name) => [name, readFileSync(here(`../public/${name}`))]));
      for (const name of wanted) {
        const part = bundle[name];
        if (part !== undefined) files.set(name, part.type === "chunk" ? part.code : part.source);
      }
      this.emitFile({ type: "asset", fileName: "sw.js", source: workerOf(readFileSync(here("worker.js"), "utf8"), files) });
    },
  };
}
