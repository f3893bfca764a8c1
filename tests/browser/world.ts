// A real store, a real host, a real browser: everything of a test run in one folder that goes away with it.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type Page, chromium } from "playwright-core";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

function program(name: string): string {
  const targets = [process.env["HERMIT_PROGRAMS"], process.env["CARGO_TARGET_DIR"] && join(process.env["CARGO_TARGET_DIR"], "debug"), join(ROOT, "target/debug")];
  const found = targets.filter((dir) => dir !== undefined && dir !== "").map((dir) => join(dir as string, name)).find(existsSync);
  if (found === undefined) throw new Error(`there is no \`${name}\`; build it with \`cargo build --bins\` first`);
  return found;
}

export class World {
  readonly dir = mkdtempSync(join(tmpdir(), "hermit-browser-"));
  readonly folder = join(this.dir, "downloads");
  readonly #env: NodeJS.ProcessEnv;
  #host: ChildProcess | null = null;
  #port = 0;
  browser!: Browser;
  page!: Page;
  /** What the page complained about; a content policy that was broken would be here. */
  readonly complaints: string[] = [];

  constructor() {
    mkdirSync(this.folder);
    const words = { vault: "a passphrase of a test", approval: "another passphrase of a test" };
    for (const [name, word] of Object.entries(words)) writeFileSync(join(this.dir, name), `${word}\n`, { mode: 0o600 });
    this.#env = { ...process.env, HERMIT_HOME: join(this.dir, "store"), HERMIT_PASSPHRASE_FILE: join(this.dir, "vault"), HERMIT_UI_DIR: join(this.dir, "ui") };
  }

  /** Runs `hermit`; what it printed. Waiting for a person (4) is how most of these end. */
  hermit(...words: string[]): string {
    try {
      return execFileSync(program("hermit"), words, { env: this.#env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    } catch (thrown) {
      const { status, stdout, stderr } = thrown as { status: number; stdout: string; stderr: string };
      if (status === 4) return stdout;
      throw new Error(`hermit ${words.join(" ")} ended with ${status}: ${stderr}`);
    }
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
    return readFileSync(join(this.dir, "store", "gateway.token"), "utf8").trim();
  }

  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  /** Keys, which want their passphrases on file descriptors. */
  keys(): void {
    execFileSync("sh", ["-c", '"$0" keys init --store file --passphrase-fd 3 --approval-passphrase-fd 4 3<vault 4<approval', program("hermit")], {
      cwd: this.dir, env: this.#env, stdio: "pipe",
    });
  }

  async ui(): Promise<void> {
    await build({ configFile: join(ROOT, "ui/vite.config.ts"), logLevel: "error", build: { outDir: join(this.dir, "ui"), emptyOutDir: true } });
  }

  /** Starts the host; the link for a browser. The same port again after the first time. */
  serve(): Promise<string> {
    const port = this.#port === 0 ? [] : ["--port", String(this.#port)];
    const host = spawn(program("hermit"), ["serve", ...port], { env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    this.#host = host;
    return new Promise((done, failed) => {
      let said = "";
      host.stdout.on("data", (bytes: Buffer) => {
        said += bytes.toString();
        const link = /http:\/\/127\.0\.0\.1:(\d+)\/#token=\w+/.exec(said);
        if (link !== null) {
          this.#port = Number(link[1]);
          done(link[0]);
        }
      });
      host.on("exit", (code) => failed(new Error(`the host ended with ${code}: ${said}`)));
    });
  }

  /** Ends the host, by the signal named. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const host = this.#host;
    if (host === null || host.exitCode !== null) return;
    const gone = new Promise((done) => host.once("exit", done));
    host.kill(signal);
    await gone;
  }

  async open(link: string): Promise<void> {
    const executablePath = CHROMIUM.find(existsSync);
    if (executablePath === undefined) throw new Error("there is no Chromium; `cargo xtask setup` installs it");
    this.browser = await chromium.launch({ executablePath, args: FLAGS });
    this.page = await this.browser.newPage({ viewport: { width: 1280, height: 800 } });
    this.page.on("pageerror", (error) => this.complaints.push(error.message));
    this.page.on("console", (message) => {
      // A host that is gone is part of a test, and the browser reports it by itself.
      if (message.type() === "error" && !/net::ERR|401|Failed to load resource/.test(message.text())) this.complaints.push(message.text());
    });
    await this.page.goto(link);
  }

  /** Goes to a screen within the page. */
  async go(path: string): Promise<void> {
    await this.page.evaluate((to) => { location.hash = to; }, path);
  }

  async close(): Promise<void> {
    await this.browser?.close();
    await this.end("SIGTERM");
    rmSync(this.dir, { recursive: true, force: true });
  }
}
