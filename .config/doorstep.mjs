// The step before the door: what Rust cannot do for itself on a fresh machine. It makes sure that cargo and a
// linker are there, then hands everything to `cargo xtask`. Nothing else belongs here.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

const runs = (program, ...args) => spawnSync(program, args, { stdio: "ignore" }).status === 0;
const say = (...lines) => lines.forEach((line) => console.error(`hermit: ${line}`));
const asRoot = process.getuid?.() === 0;

function needCargo() {
  if (runs("cargo", "--version")) return;
  // rustup's folder, when this terminal was opened before rustup put it on the path.
  const bin = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "bin");
  if (existsSync(bin)) process.env.PATH = `${bin}${delimiter}${process.env.PATH}`;
  if (runs("cargo", "--version")) return;
  say("Rust is missing. Install it as https://rustup.rs says, open a new terminal, and run this again.");
  process.exit(1);
}

function needLinker() {
  if (process.platform === "win32" || runs("cc", "--version")) return;
  if (process.platform === "darwin") {
    say("a C compiler is missing. Run `xcode-select --install`, and then this again.");
    process.exit(1);
  }
  if (asRoot && runs("apt-get", "--version")) {
    say("a C compiler is missing; installing build-essential ...");
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const apt = (...args) => spawnSync("apt-get", args, { stdio: ["ignore", 2, 2], env }).status === 0;
    const install = () => apt("install", "-y", "--no-install-recommends", "build-essential", "pkg-config");
    if (install() || (apt("update") && install())) return;
  }
  const managers = [
    ["apt-get", "apt-get install -y build-essential pkg-config"],
    ["dnf", "dnf install -y gcc gcc-c++ make pkgconf-pkg-config"],
    ["pacman", "pacman -S --needed base-devel pkgconf"],
    ["zypper", "zypper install -y gcc gcc-c++ make pkg-config"],
    ["apk", "apk add build-base pkgconf"],
  ];
  const command = managers.find(([manager]) => runs(manager, "--version"))?.[1];
  const sudo = asRoot ? "" : "sudo ";
  say(command ? `a C compiler is missing. Run \`${sudo}${command}\`, and then this again.`
    : "a C compiler (cc) is missing. Install one with your system's package manager, and run this again.");
  process.exit(1);
}

needCargo();
needLinker();
// A conversation keeps this terminal and hears Ctrl-C itself. A long job gets a process group of its own, so that
// stopping it stops the compilers and tests below it too.
const word = process.argv[2];
const talks = word === "start" || word === "dev";
const detached = !talks && process.platform !== "win32";
const child = spawn("cargo", ["xtask", ...process.argv.slice(2)], { stdio: "inherit", detached });
const stop = (signal) => { try { process.kill(detached ? -child.pid : child.pid, signal); } catch { /* it has ended */ } };
process.on("SIGINT", () => { if (!talks) stop("SIGINT"); });
process.on("SIGTERM", () => stop("SIGTERM"));
child.on("error", (error) => { say(`cargo could not be started: ${error.message}`); process.exit(1); });
child.on("exit", (code) => process.exit(code ?? 1));
