// What a run leaves: pictures beside the built programs, and the requirements that a test has shown.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { markOf } from "../../ui/verifier/test/conforms";

/** Where pictures are kept, outside the checkout. */
export function pictures(): string {
  const built = process.env["HERMIT_PROGRAMS"] ?? (process.env["CARGO_TARGET_DIR"] && join(process.env["CARGO_TARGET_DIR"], "debug"));
  const folder = join(built === undefined || built === "" ? tmpdir() : dirname(built), "browser");
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Pictures of the page in both widths and themes, each looked at by whoever says how. */
export async function picture(page: Page, name: string, look: (width: number, at: string) => Promise<void> = async () => {}): Promise<void> {
  for (const [size, width, height] of [["wide", 1280, 800], ["phone", 390, 844]] as const) {
    for (const theme of ["light", "dark"] as const) {
      await page.setViewportSize({ width, height });
      // Without it colours are still on their way from one theme to the other.
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await page.screenshot({ path: join(pictures(), `${name}-${size}-${theme}.png`) });
      await look(width, `${name} at ${width} in ${theme}`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light", reducedMotion: null });
}

/** The page is no wider than the window. */
export async function fits(page: Page, width: number, at: string): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth), at).toBeLessThanOrEqual(width);
}

/** The same pictures of a page that fits and has nothing serious for a reader of screens. */
export async function soundPicture(page: Page, name: string): Promise<void> {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await picture(page, name, async (width, at) => {
    await fits(page, width, at);
    await page.evaluate(axe);
    const found = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as { violations: { id: string; impact: string; nodes: { html: string }[] }[] };
    const serious = found.violations.filter((one) => one.impact === "serious" || one.impact === "critical").flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`));
    expect(serious, at).toEqual([]);
  });
}

/** The mark of a test of the pages that proves requirements. */
export const conforms = markOf("browser");
