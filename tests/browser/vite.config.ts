import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  test: {
    environment: "node",
    include: ["*.test.ts"],
    // Each file has one host and one browser for its whole walk: what a person does happens in an order. Much of it is
    // waiting for a page to be drawn, so two walk at a time.
    maxWorkers: 2,
    minWorkers: 1,
    // The limits are those of a machine on which three times as much is at work; every wait within them says what it waited for.
    testTimeout: 300_000,
    hookTimeout: 900_000,
    // What follows from a click is there when the host has done it, on a slow machine, too.
    expect: { poll: { timeout: 90_000 } },
    // Each test is named as it ends: where a run is cut off, it is seen how far it came.
    reporters: ["verbose"],
  },
});
