// A real store, a real host, a real browser: everything of a test run in one folder that goes away with it.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Browser, type CDPSession, type Page, chromium } from "playwright-core";
import { build } from "vite";
import { END_MS, START_MS, ran, within } from "./within";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/** How long a page may take to show what follows from a click. */
const PAGE_MS = 90_000;
/** Characters of what a host said that are kept for whoever asks why it does not answer. */
const SAID_MAX = 8_000;

/** Processes that were begun and are at work: none of them outlives the test. */
const begun = new Set<ChildProcess>();
process.once("exit", () => begun.forEach((child) => child.kill("SIGKILL")));

/** Notes a process until it ends. */
function noted<C extends ChildProcess>(child: C): C {
  begun.add(child);
  child.once("exit", () => begun.delete(child));
  return child;
}

/** Whether a process is over, by itself or by a signal. */
const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

/** Waits until a process that was told to is over. One that goes on is killed, and that is said. */
async function ended(child: ChildProcess, what: string, said: () => string): Promise<void> {
  if (isOver(child)) return;
  const gone = new Promise<void>((done) => child.once("exit", () => done()));
  try {
    await within(END_MS, `the end of ${what}`, gone, said);
  } catch (late) {
    child.kill("SIGKILL");
    throw late;
  }
}

function program(name: string): string {
  const targets = [process.env["HERMIT_PROGRAMS"], process.env["CARGO_TARGET_DIR"] && join(process.env["CARGO_TARGET_DIR"], "debug"), join(ROOT, "target/debug")];
  const found = targets.filter((dir) => dir !== undefined && dir !== "").map((dir) => join(dir as string, name)).find(existsSync);
  if (found === undefined) throw new Error(`there is no \`${name}\`; build it with \`cargo build --bins\` first`);
  return found;
}

export class World {
  readonly dir = mkdtempSync(join(tmpdir(), "hermit-browser-"));
  readonly folder = join(this.dir, "downloads");
  readonly #home: string;
  readonly #env: NodeJS.ProcessEnv;
  #host: ChildProcess | null = null;
  #meter: CDPSession | null = null;
  #port = 0;
  /** What the host that runs said last. */
  #said = "";
  browser!: Browser;
  page!: Page;
  /** What the page complained about; a content policy that was broken would be here. */
  readonly complaints: string[] = [];

  /** `home`: a store that is there already, and stays. */
  constructor(home?: string) {
    mkdirSync(this.folder);
    this.#home = home ?? join(this.dir, "store");
    const words = { vault: "a passphrase of a test", approval: "another passphrase of a test" };
    for (const [name, word] of Object.entries(words)) writeFileSync(join(this.dir, name), `${word}\n`, { mode: 0o600 });
    this.#env = { ...process.env, HERMIT_HOME: this.#home, HERMIT_PASSPHRASE_FILE: join(this.dir, "vault"), HERMIT_UI_DIR: process.env["HERMIT_UI_DIR"] ?? join(this.dir, "ui") };
  }

  /** Runs `hermit`; what it printed. Waiting for a person (4) is how most of these end. */
  hermit(...words: string[]): string {
    try {
      return ran(program("hermit"), words, { env: this.#env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    } catch (thrown) {
      const { status, stdout, stderr } = thrown as { status?: number; stdout: string; stderr: string };
      if (status === 4) return stdout;
      if (status === undefined) throw thrown;
      throw new Error(`hermit ${words.join(" ")} ended with ${status}: ${stderr}`);
    }
  }

  /** Keeps a secret, whose value is no argument; the hosts that it may go to. */
  secret(name: string, value: string, ...hosts: string[]): void {
    ran(program("hermit"), ["secret", "set", name, ...hosts.flatMap((host) => ["--host", host])], { env: this.#env, encoding: "utf8", input: value, stdio: ["pipe", "pipe", "pipe"] });
  }

  /** Starts `hermit`, which goes on; its lines, as they come, and what ends it. */
  begin(...words: string[]): { line: () => Promise<string>; end: () => Promise<void> } {
    const what = `\`hermit ${words.join(" ")}\``;
    const child = noted(spawn(program("hermit"), words, { env: this.#env, stdio: ["ignore", "pipe", "inherit"] }));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const line = async () => {
      const next = await within(START_MS, `a line of ${what}`, lines.next());
      if (next.done === true) throw new Error(`${what} ended and said nothing more`);
      return next.value;
    };
    const end = async () => {
      child.kill("SIGTERM");
      await ended(child, what, () => "");
    };
    return { line, end };
  }

  /** What the verifier says of a proof, which knows nothing of the store; it throws where it is not valid. */
  verify(...words: string[]): string {
    return ran(program("hermit-verify"), words, { encoding: "utf8" });
  }

  file(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** The approval passphrase of this store's person. */
  get passphrase(): string {
    return readFileSync(join(this.dir, "approval"), "utf8").trim();
  }

  /** What lets programs in. */
  token(): string {
    return readFileSync(join(this.#home, "gateway.token"), "utf8").trim();
  }

  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  /**
   * Keys, which want their passphrases on file descriptors. A new store gets the files of a try that broke off, as
   * `testkit::cheap_keys` leaves them: a guess at their passphrases costs next to nothing, and so does each start.
   */
  keys(): void {
    if (!existsSync(this.#home)) {
      mkdirSync(this.#home, { mode: 0o700 });
      for (const name of ["vault.key", "approval.key"]) {
        copyFileSync(join(ROOT, "tests/browser/keys", name), join(this.#home, name));
        chmodSync(join(this.#home, name), 0o600);
      }
    }
    ran("sh", ["-c", '"$0" keys init --store file --passphrase-fd 3 --approval-passphrase-fd 4 3<vault 4<approval', program("hermit")], {
      cwd: this.dir, env: this.#env, encoding: "utf8", stdio: "pipe",
    });
  }

  /** Builds the pages, unless HERMIT_UI_DIR names some that are built. */
  async ui(): Promise<void> {
    if (process.env["HERMIT_UI_DIR"] !== undefined) return;
    await build({ configFile: join(ROOT, "ui/vite.config.ts"), logLevel: "error", build: { outDir: join(this.dir, "ui"), emptyOutDir: true } });
  }

  /** Runs `hermit` at a terminal of its own, in front of which a person is; what stood there. No browser is opened. */
  atTerminal(...words: string[]): string {
    const { DISPLAY: _, WAYLAND_DISPLAY: __, ...env } = this.#env;
    return ran("script", ["-qec", [program("hermit"), ...words].map((word) => `"${word}"`).join(" "), "/dev/null"], { env, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
  }

  /** Starts the host, with more of its options; the link for a browser. The same port again after the first time. */
  serve(...more: string[]): Promise<string> {
    const port = this.#port === 0 ? [] : ["--port", String(this.#port)];
    return this.#begin(spawn(program("hermit"), ["serve", ...port, ...more], { env: this.#env, stdio: ["ignore", "pipe", "pipe"] }));
  }

  /** The same at a terminal of its own (`script` of util-linux), by a person who has set nothing up; no keychain is there. */
  serveAtTerminal(): Promise<string> {
    const { HERMIT_PASSPHRASE_FILE: _, ...env } = this.#env;
    return this.#begin(spawn("script", ["-qec", `"${program("hermit")}" serve`, "/dev/null"], { env: { ...env, DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" }, stdio: ["pipe", "pipe", "pipe"] }));
  }

  /** Ends the host at its terminal, as a person does. */
  async interrupt(): Promise<void> {
    const host = this.#host;
    if (host === null || isOver(host)) return;
    host.stdin?.write("\u0003");
    await ended(host, "the host that a person interrupted", () => this.#said);
  }

  #begin(host: ChildProcess): Promise<string> {
    this.#host = noted(host);
    this.#said = "";
    const hear = (bytes: Buffer) => { this.#said = (this.#said + bytes.toString()).slice(-SAID_MAX); };
    // A pipe that nobody reads becomes full, and whoever writes to it stands still.
    host.stderr?.on("data", hear);
    const link = new Promise<string>((done, failed) => {
      let first = "";
      host.stdout?.on("data", (bytes: Buffer) => {
        hear(bytes);
        if (first.length > SAID_MAX) return;
        first += bytes.toString();
        const found = /http:\/\/127\.0\.0\.1:(\d+)\/#token=\w+/.exec(first);
        if (found !== null) {
          this.#port = Number(found[1]);
          done(found[0]);
        }
      });
      host.once("error", failed);
      host.once("exit", (code, signal) => failed(new Error(`the host ended with ${code ?? signal}: ${this.#said}`)));
    });
    return within(START_MS, "the link of the host", link, () => this.#said);
  }

  /** Ends the host, by the signal named. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const host = this.#host;
    if (host === null || isOver(host)) return;
    host.kill(signal);
    await ended(host, `the host after ${signal}`, () => this.#said);
  }

  async open(link: string): Promise<void> {
    const executablePath = CHROMIUM.find(existsSync);
    if (executablePath === undefined) throw new Error("there is no Chromium; `cargo xtask setup` installs it");
    this.browser = await chromium.launch({ executablePath, args: FLAGS, timeout: START_MS });
    // A context of its own, in which further tabs can be opened.
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(PAGE_MS);
    this.page = await context.newPage();
    this.page.on("pageerror", (error) => this.complaints.push(error.message));
    this.page.on("console", (message) => {
      // A host that is gone is part of a test, and the browser reports it by itself.
      if (message.type() === "error" && !/net::ERR|401|Failed to load resource/.test(message.text())) this.complaints.push(message.text());
    });
    await this.page.goto(link);
  }

  /** Opens a link of a host that was started again in the tab that is open: the page takes it, is loaded anew and stands where it was. */
  async reopen(link: string): Promise<void> {
    // A link of the same host changes the fragment alone: `goto` is done before the page begins to load itself.
    const loaded = this.page.waitForEvent("load", { timeout: PAGE_MS });
    await this.page.goto(link);
    await loaded;
    // Before the screen stands, nothing hears where to go.
    await this.page.locator("#main").waitFor();
  }

  /** The longest stretch in which the page heard nobody, while `work` went on, in milliseconds. */
  async longest(work: () => Promise<void>): Promise<number> {
    await this.page.evaluate(() => {
      const kept = window as unknown as { longest: number; watch?: PerformanceObserver };
      kept.longest = 0;
      kept.watch?.disconnect();
      kept.watch = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) kept.longest = Math.max(kept.longest, entry.duration);
      });
      kept.watch.observe({ type: "longtask" });
    });
    await work();
    await this.page.waitForTimeout(300);
    return this.page.evaluate(() => Math.round((window as unknown as { longest: number }).longest));
  }

  /** What the page's own thread has worked so far, in milliseconds of processor time: other people's load is not in it. */
  async worked(): Promise<number> {
    if (this.#meter === null) {
      // Counted from here on; one that is opened anew begins at nought.
      this.#meter = await this.page.context().newCDPSession(this.page);
      await this.#meter.send("Performance.enable", { timeDomain: "timeTicks" });
    }
    const { metrics } = await this.#meter.send("Performance.getMetrics");
    const thread = metrics.find((metric) => metric.name === "ThreadTime");
    if (thread === undefined) throw new Error("this browser does not tell what its page works");
    return thread.value * 1000;
  }

  /** How many times as long as its own work the page takes now, because others want the processor as well; at least 1. */
  async busy(): Promise<number> {
    const before = await this.worked();
    const wall = await this.page.evaluate(() => {
      const begun = performance.now();
      let sum = 0;
      for (let at = 0; at < 60_000_000; at += 1) sum = (sum + at) | 0;
      return performance.now() - begun + (sum === 1 ? 1 : 0);
    });
    return Math.max(1, wall / Math.max(1, await this.worked() - before));
  }

  /** A person says yes on the card in sight; its risk, where the card wants that typed. What is critical is held, not clicked. */
  async approve(risk?: "high" | "critical"): Promise<void> {
    const button = (name: string) => this.page.getByRole("button", { name, exact: true }).and(this.page.locator(":not([aria-disabled])"));
    await button("Approve with passphrase").click();
    if (risk !== undefined) await this.page.getByLabel(new RegExp(`Type ${risk} to confirm`)).fill(risk);
    await this.page.getByLabel("Approval passphrase", { exact: true }).fill(this.passphrase);
    if (risk !== "critical") return button("Approve").click();
    const hold = button("Hold to approve");
    await hold.hover();
    await this.page.mouse.down();
    await this.page.getByRole("button", { name: "Hold to approve", exact: true }).waitFor({ state: "detached" });
    await this.page.mouse.up();
  }

  /** Opens a new conversation about the folder, from the page of all of them. */
  async converse(title: string): Promise<void> {
    const button = (name: string) => this.page.getByRole("button", { name, exact: true });
    await button("New conversation").click();
    await this.page.getByLabel("Folder to work in").fill(this.folder);
    await this.page.getByLabel("Title", { exact: true }).fill(title);
    await button("Open").click();
  }

  /** Goes to a screen within the page. */
  async go(path: string): Promise<void> {
    await this.page.evaluate((to) => { location.hash = to; }, path);
  }

  async close(): Promise<void> {
    try {
      // Not there where the test broke off before it was opened.
      await within(END_MS, "the end of the browser", this.browser?.close() ?? Promise.resolve());
    } finally {
      try {
        await this.end("SIGTERM");
      } finally {
        rmSync(this.dir, { recursive: true, force: true });
      }
    }
  }
}
