import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { shell } from "./shell/plugin";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const host = process.env["HERMIT_HOST"] ?? "http://127.0.0.1:8757";
// Seen from the host, the page must come from the host itself.
const handed = {
  target: host,
  changeOrigin: true,
  headers: { origin: host },
  configure: (proxy: { on(event: "proxyReq", heard: (request: { removeHeader(name: string): void }) => void): void }) =>
    proxy.on("proxyReq", (request) => request.removeHeader("sec-fetch-site")),
};

// The app freezes the prototypes that everything inherits from. What would then be refused, naming a constructor by
// assignment, is said another way.
const frozen = {
  name: "frozen-prototypes",
  transform: (code: string, id: string) =>
    id.includes("/node_modules/d3-color/")
      ? code.replace("prototype.constructor = constructor", 'Object.defineProperty(prototype, "constructor", { value: constructor })')
      : null,
};

export default defineConfig({
  root: here("."),
  base: "./",
  plugins: [react(), frozen, shell()],
  resolve: { alias: { "~": here("src") } },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    // What is served under a strict content policy: no inline script, no data URLs for code.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    // A page for each window of the app: the one a yes is given in shares no page with any other.
    rollupOptions: { input: { index: here("index.html"), approval: here("approval.html"), tray: here("tray.html") } },
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    strictPort: true,
    proxy: { "/api": handed, "/v1": handed },
  },
  test: {
    environment: "jsdom",
    testTimeout: 60_000,
    // By itself Vitest leaves one processor free: of two, the half.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    include: ["src/**/*.test.{ts,tsx}", "shell/**/*.test.ts"],
    setupFiles: ["src/test/setup.ts"],
    css: { modules: { classNameStrategy: "non-scoped" } },
  },
});
