import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Puts script and style into the page itself and allows exactly them, by their hashes, and nothing else: the page can
 * then be mailed as one file, opened from a disk, and reach no network.
 */
function oneFile(): Plugin {
  const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("there is no page to put things into");
      let [script, style] = ["", ""];
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") script += part.code;
        else if (name.endsWith(".css")) style += String(part.source);
        else continue;
        delete bundle[name];
      }
      // What would end the element it stands in, or open another, is spelled so that it does not.
      const code = `\n${script.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--")}\n`;
      const look = `\n${style.trim()}\n`;
      const policy = `default-src 'none'; script-src ${hash(code)}; style-src ${hash(look)}; base-uri 'none'; form-action 'none'`;
      const html = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace("</head>", () => `  <meta http-equiv="Content-Security-Policy" content="${policy}" />\n    <style>${look}</style>\n  </head>`)
        .replace("</body>", () => `  <script type="module">${code}</script>\n  </body>`);
      page.source = html;
      page.fileName = "verify.html";
    },
  };
}

/** `vite build` makes the page, `vite build --mode node` the same verifier for Node. */
export default defineConfig(({ mode }) => ({
  root: here("."),
  base: "./",
  plugins: mode === "node" ? [] : [oneFile()],
  build: {
    outDir: "dist",
    emptyOutDir: false,
    target: mode === "node" ? "node20" : "es2022",
    assetsInlineLimit: 0,
    modulePreload: false as const,
    reportCompressedSize: false,
    ...(mode === "node" && { ssr: "src/node/main.ts", rollupOptions: { output: { entryFileNames: "verify.mjs" } } }),
  },
  ssr: { noExternal: true as const },
  test: {
    environment: "node",
    include: ["test/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // By itself Vitest leaves one processor free: of two, the half.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
}));
