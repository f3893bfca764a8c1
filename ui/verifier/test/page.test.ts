/** The page in a real browser, from a file, as its reader has it. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { AxeResults } from "axe-core";
import { chromium, type Browser, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { base64, textOf } from "../src/verify/read/bytes.ts";
import { VIEWS } from "../src/page/state.ts";
import { by, headers, whole } from "./anchored.ts";
import { packed } from "./build.ts";
import { conforms, part } from "./conforms.ts";
import { data, filesOf } from "./place.ts";

/** Largest page there may be. */
const PAGE_BYTES_MAX = 1_000_000;
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const folder = mkdtempSync(join(tmpdir(), "hermit-page-"));
const html = join(folder, "verify.html");
const key = textOf(data("log.pub.pem"), "key");

beforeAll(async () => {
  const configFile = fileURLToPath(new URL("../vite.config.ts", import.meta.url));
  await build({ configFile, logLevel: "error", build: { outDir: folder } });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the file", () => {
  test("is one, under a megabyte, and allows nothing but the script and the style inside it", () => {
    const size = statSync(html).size;
    console.log(`verify.html has ${size} bytes`);
    expect(size).toBeLessThan(PAGE_BYTES_MAX);
    const text = readFileSync(html, "utf8");
    expect(text).not.toMatch(/<(?:link|img|iframe|script)[^>]+(?:src|href)=/i);
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(text)?.[1] ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/);
    for (const [, inner] of text.matchAll(/<(?:script type="module"|style)>([\s\S]*?)<\/(?:script|style)>/g)) {
      expect(policy).toContain(`'sha256-${createHash("sha256").update(inner ?? "").digest("base64")}'`);
    }
    expect(text.match(/<script/g)).toHaveLength(1);
  });
});

// Where everything can be installed, a page that no browser opened is not shown.
if (CHROMIUM === undefined && process.env["HERMIT_STOCK_TOOLS"] === "must") throw new Error("no Chromium is here; `cargo xtask setup` installs it");

describe.skipIf(CHROMIUM === undefined)("the page in a browser", () => {
  let browser: Browser;
  let page: Page;
  let asked: string[] = [];
  let complaints: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }), args: FLAGS });
  });
  afterAll(() => browser.close());

  /** A fresh page; everything it asks for or complains of is noted. */
  async function fresh(colorScheme: "light" | "dark" = "light"): Promise<void> {
    page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
    [asked, complaints] = [[], []];
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(pathToFileURL(html).href);
  }

  /** Drops a file on the page, as a hand would. */
  async function drop(name: string, bytes: Uint8Array): Promise<void> {
    const transfer = await page.evaluateHandle(
      ([file, content]) => {
        const given = new DataTransfer();
        given.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], file));
        return given;
      },
      [name, base64(bytes)] as const,
    );
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    await page.waitForSelector("#verdict");
  }

  const verdict = (): Promise<string | null> => page.textContent("#verdict");

  async function end(): Promise<void> {
    expect(asked).toEqual([pathToFileURL(html).href]);
    expect(complaints).toEqual([]);
    await page.close();
  }

  test("a bundle is dropped, judged, trusted, broken by one byte, and put back", async () => {
    await fresh();
    await drop("task.zip", data("task.zip"));
    expect(await verdict()).toBe("Unverifiable");
    await page.fill("#trust", "this is no key");
    expect(await page.textContent("#trust-said")).toContain("names no key");
    await page.fill("#trust", key);
    expect(await verdict()).toBe("Valid");
    expect(await page.textContent("#trust-said")).toContain("log key");
    expect(await page.textContent("main")).toContain("unchanged and in order");
    await page.click("#nav-bytes");
    await page.selectOption("#file", "task/events.jsonl");
    await page.click('[data-offset="77"]');
    await page.click("#flip");
    expect(await verdict()).toBe("Invalid");
    expect(await page.textContent(".outcome")).toContain("Caught by: The events");
    expect(await page.textContent(".outcome")).toContain("task/events.jsonl line");
    await page.click("#nav-verdict");
    expect(await page.textContent(".rung.broke")).toContain("broke here");
    await page.click("#nav-receipts");
    expect(await page.textContent(".untold")).toContain("none of it is proven");
    await page.click("#nav-bytes");
    await page.click("#restore");
    expect(await verdict()).toBe("Valid");
    await end();
  });

  test("a checkpoint from before shows whether the log has only grown", async () => {
    await fresh();
    const rotated = data("rotated.zip");
    await drop("rotated.zip", rotated);
    await page.fill("#trust", textOf(data("rotated.before.pub.pem"), "key"));
    expect(await verdict()).toBe("Valid");
    expect(await page.textContent("main")).toContain("followed the one you named");
    await page.fill("#since", "this is no checkpoint");
    expect(await page.textContent("#since-said")).toContain("This is no checkpoint");
    expect(await verdict()).toBe("Valid");
    await page.fill("#since", textOf(data("rotated.before.checkpoint"), "note"));
    expect(await page.textContent("#since-said")).toContain("only grown");
    expect(await verdict()).toBe("Valid");
    // A head that this bundle does not lead to.
    await page.fill("#since", textOf(filesOf(data("task.zip")).get("log/checkpoint") ?? new Uint8Array(), "note"));
    expect(await page.textContent("#since-said")).not.toContain("only grown");
    expect(await verdict()).not.toBe("Valid");
    await page.fill("#since", "");
    expect(await verdict()).toBe("Valid");
    await end();
  });

  test("what clocks say is told, and proven by a certificate and headers that the reader gives", conforms(part("HV-3.6-3"), part("HV-3.9-4"), async () => {
    await fresh();
    await drop("anchored.zip", packed(whole));
    await page.fill("#trust", key);
    expect(await verdict()).toBe("Valid");
    expect(await page.textContent("#clocks")).toContain("No clock proves a time");
    expect(await page.textContent("#instance")).toContain("2 links, unbroken");
    const give = (id: string, name: string, bytes: Uint8Array): Promise<void> => page.setInputFiles(id, { name, mimeType: "application/octet-stream", buffer: Buffer.from(bytes) });
    await give("#headers", "headers.bin", headers.slice(0, -1));
    await page.waitForSelector("#headers-said.bad");
    await give("#headers", "headers.bin", headers);
    await page.waitForFunction(() => document.querySelector("#clocks")?.textContent?.includes("2 clocks agree") ?? false);
    await give("#authorities", "root.der", by.root);
    await page.waitForFunction(() => document.querySelector("#clocks")?.textContent?.includes("3 clocks agree") ?? false);
    expect(await page.textContent("#clocks")).toContain("existed before 2026-11-28 12:00:00 UTC");
    expect(await page.textContent("#clocks")).toContain("which is on trust");
    expect(await verdict()).toBe("Valid");
    // A bundle without anchors asks for nothing of it.
    await drop("task.zip", data("task.zip"));
    expect(await page.isVisible("#clock-fields")).toBe(false);
    await end();
  }));

  test("the chain behind a receipt is told from goal to change, and leads to its events and bytes", async () => {
    await fresh();
    await drop("task.zip", data("task.zip"));
    await page.click("#nav-receipts");
    const told = (await page.textContent(".chain")) ?? "";
    for (const term of ["Goal", "Evidence", "Proposed", "Policy", "Approval", "Grant", "What ran", "What changed", "Can it be undone"]) expect(told).toContain(term);
    expect(told).toContain("A person approved it");
    await page.click(".link.person .cite");
    expect(await page.getAttribute("#nav-timeline", "aria-current")).toBe("page");
    expect(await page.textContent(".split-pane")).toContain("approval.requested");
    await page.click("text=Show its bytes");
    expect(await page.inputValue("#file")).toBe("task/events.jsonl");
    const start = await page.textContent('.byte[aria-selected="true"]');
    expect(start).toBe("7b");
    await end();
  });

  test("it can be used without a mouse", async () => {
    await fresh();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Choose a file");
    await drop("receipt.zip", data("receipt.zip"));
    await page.focus("#nav-bytes");
    await page.keyboard.press("Enter");
    await page.selectOption("#file", "README.txt");
    await page.focus('[data-offset="0"]');
    for (const pressed of ["ArrowRight", "ArrowDown", "End", "ArrowLeft", "Home", "ArrowRight"]) await page.keyboard.press(pressed);
    expect(await page.evaluate(() => document.activeElement?.getAttribute("data-offset"))).toBe("1");
    await page.keyboard.press("Enter");
    expect(await verdict()).toBe("Invalid");
    expect(await page.textContent('[aria-live="polite"]')).toContain("Invalid");
    await page.keyboard.press("Enter");
    expect(await verdict()).toBe("Unverifiable");
    await end();
  });

  test("chance finds no byte whose change goes unnoticed", async () => {
    await fresh();
    await drop("receipt.zip", data("receipt.zip"));
    await page.click("#nav-bytes");
    await page.click("#trials");
    await page.waitForFunction(() => document.querySelector(".trials [role=status]")?.textContent?.startsWith("200 of 200") ?? false, undefined, { timeout: 60_000 });
    expect(await page.textContent(".trials [role=status]")).toBe("200 of 200 tried, 200 refused.");
    expect(await verdict()).toBe("Unverifiable");
    await end();
  });

  test("what is no bundle is refused with a word, and the page goes on", async () => {
    await fresh();
    await drop("photo.png", Uint8Array.from({ length: 5000 }, (_, at) => at % 251));
    expect(await verdict()).toBe("Invalid");
    expect(await page.textContent("main")).toContain("the zip");
    for (const view of VIEWS) await page.click(`#nav-${view}`);
    await drop("task.zip", data("task.zip"));
    expect(await verdict()).toBe("Unverifiable");
    await end();
  });

  test("what is larger than a page can hold is refused before it is read", async () => {
    await fresh();
    const read = await page.evaluate(async () => {
      const file = new File(["x"], "huge.zip");
      let touched = false;
      Object.defineProperty(file, "size", { value: 4 * 1024 ** 3 });
      Object.defineProperty(file, "arrayBuffer", { value: () => ((touched = true), Promise.reject(new Error("read"))) });
      const given = { files: [file], types: ["Files"] };
      document.body.dispatchEvent(Object.assign(new Event("drop", { bubbles: true, cancelable: true }), { dataTransfer: given }));
      await new Promise((next) => setTimeout(next, 50));
      return touched;
    });
    expect(read).toBe(false);
    expect(await page.textContent("#refused")).toContain("Check it with hermit-verify");
    await end();
  });

  test("no network can be reached from it", async () => {
    await fresh();
    const reached = await page.evaluate(async () => {
      const ways = [() => fetch("http://127.0.0.1:9/"), () => new Promise((done, fail) => Object.assign(new Image(), { onload: done, onerror: fail, src: "http://127.0.0.1:9/x.png" }))];
      return Promise.all(ways.map((way) => way().then(() => "reached", () => "refused")));
    });
    expect(reached).toEqual(["refused", "refused"]);
    expect(complaints.filter((line) => line.includes("Content Security Policy")).length).toBeGreaterThan(1);
    await page.close();
  });

  for (const scheme of ["light", "dark"] as const) {
    test(`every view, ${scheme}, has no serious finding of axe and nothing cut off`, async () => {
      await fresh(scheme);
      const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
      const pictures = process.env["HERMIT_PICTURES"];
      const look = async (name: string): Promise<void> => {
        await page.evaluate(axe);
        const found = await page.evaluate(async () => (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run());
        const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(serious.map(({ id, nodes }) => `${name}: ${id} at ${nodes.map(({ html: at }) => at.slice(0, 120)).join(" | ")}`)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
        if (pictures === undefined) return;
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({ path: join(pictures, `${name}-${scheme}.png`) });
      };
      await look("welcome");
      await drop("task.zip", data("task.zip"));
      await page.fill("#trust", key);
      for (const view of VIEWS) {
        await page.click(`#nav-${view}`);
        if (view === "timeline") await page.click('[data-seq="3"]');
        if (view === "artifacts") await page.click(".pick-row");
        await look(view);
      }
      await page.click("#flip");
      await look("broken-bytes");
      await page.click("#nav-verdict");
      await look("broken-verdict");
      await drop("anchored.zip", packed(whole));
      await page.setInputFiles("#headers", { name: "headers.bin", mimeType: "application/octet-stream", buffer: Buffer.from(headers) });
      await page.waitForFunction(() => document.querySelector("#clocks")?.textContent?.includes("2 clocks agree") ?? false);
      await look("clocks");
      await page.locator("#clocks").scrollIntoViewIfNeeded();
      await look("clocks-in-sight");
      expect(complaints).toEqual([]);
      await page.close();
    });
  }
});
