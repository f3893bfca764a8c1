//! What a machine needs, whether it is there, and how it gets there.

use crate::{Problem, shell};
use shell::{answers, say};
use std::path::Path;
use std::process::{Command, Stdio};

/// What the machine is being set up for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Purpose {
    /// To build and run Hermit.
    Start,
    /// To run every test besides.
    Test,
    /// To build the model in the box, and nothing else.
    ModelBox,
    /// To speak to a real mail server in tests, and nothing else.
    MailServer,
    /// To build a Bitcoin node for tests, and nothing else.
    BitcoinNode,
}

/// One thing a machine may lack.
struct Need {
    name: &'static str,
    why: &'static str,
    found: fn() -> bool,
    from: Purpose,
    /// Whether nothing works without it.
    must: bool,
    /// Package names for apt, dnf, pacman, zypper, apk and brew, in this order; empty where there is none.
    packages: [&'static str; 6],
}

const MANAGERS: [(&str, &str); 6] = [
    ("apt-get", "apt-get install -y --no-install-recommends"),
    ("dnf", "dnf install -y"),
    ("pacman", "pacman -S --needed"),
    ("zypper", "zypper install -y"),
    ("apk", "apk add"),
    ("brew", "brew install"),
];

/// Everything Hermit may need of a machine.
const NEEDS: [Need; 16] = [
    Need {
        name: "a C compiler",
        why: "builds SQLite and links every program",
        found: has_compiler,
        from: Purpose::Start,
        must: true,
        packages: ["build-essential", "gcc make", "base-devel", "gcc make", "build-base", ""],
    },
    Need {
        name: "pkg-config",
        why: "finds system libraries",
        found: has_pkg_config,
        from: Purpose::Start,
        must: false,
        packages: ["pkg-config", "pkgconf-pkg-config", "pkgconf", "pkg-config", "pkgconf", "pkgconf"],
    },
    Need {
        name: "git",
        why: "tasks on a repository",
        found: || answers("git", &["--version"]),
        from: Purpose::Start,
        must: false,
        packages: ["git", "git", "git", "git", "git", "git"],
    },
    Need {
        name: "bubblewrap",
        why: "runs commands in a sandbox",
        found: has_bubblewrap,
        from: Purpose::Start,
        must: false,
        packages: ["bubblewrap", "bubblewrap", "bubblewrap", "bubblewrap", "bubblewrap", ""],
    },
    Need {
        name: "webkit and dbus",
        why: "the window of the desktop app",
        found: crate::app::can_build,
        from: Purpose::Start,
        must: false,
        packages: [
            "libwebkit2gtk-4.1-dev libdbus-1-dev",
            "webkit2gtk4.1-devel dbus-devel",
            "webkit2gtk-4.1 dbus",
            "webkit2gtk3-devel dbus-1-devel",
            "webkit2gtk-4.1-dev dbus-dev",
            "",
        ],
    },
    Need {
        name: "openssl",
        why: "checks a proof without Hermit",
        found: || answers("openssl", &["version"]),
        from: Purpose::Test,
        must: false,
        packages: ["openssl", "openssl", "openssl", "openssl", "openssl", "openssl"],
    },
    Need {
        name: "ssh-keygen",
        why: "checks a signature without Hermit",
        found: has_ssh_keygen,
        from: Purpose::Test,
        must: false,
        packages: ["openssh-client", "openssh-clients", "openssh", "openssh-clients", "openssh-keygen", ""],
    },
    Need {
        name: "strace",
        why: "sees in tests what is synced, and lets a call fail",
        found: || answers("strace", &["-V"]),
        from: Purpose::Test,
        must: false,
        packages: ["strace", "strace", "strace", "strace", "strace", ""],
    },
    Need {
        name: "python3 with venv and pip",
        why: "serves a model in tests",
        found: has_python,
        from: Purpose::Test,
        must: false,
        packages: [
            "python3 python3-venv python3-pip",
            "python3 python3-pip",
            "python python-pip",
            "python3 python3-pip",
            "python3 py3-pip",
            "python",
        ],
    },
    Need {
        name: "go with x/mod",
        why: "reads a checkpoint with the reference implementation",
        found: has_go,
        from: Purpose::Test,
        must: false,
        packages: ["golang-go golang-golang-x-mod-dev", "golang golang-x-mod-devel", "go", "go", "go", "go"],
    },
    Need {
        name: "chromium",
        why: "opens the pages in a real browser",
        found: has_browser,
        from: Purpose::Test,
        must: false,
        packages: ["chromium", "chromium", "chromium", "chromium", "chromium", "chromium"],
    },
    Need {
        name: "a desktop without a screen",
        why: "shows the app to its tests: display, windows, keychain, notifications, WebKit's driver",
        found: has_desktop,
        from: Purpose::Test,
        must: false,
        packages: [
            "xvfb openbox dbus gnome-keyring dunst xdotool imagemagick webkit2gtk-driver",
            "xorg-x11-server-Xvfb openbox dbus-daemon gnome-keyring dunst xdotool ImageMagick webkit2gtk-driver",
            "xorg-server-xvfb openbox dbus gnome-keyring dunst xdotool imagemagick",
            "xorg-x11-server-Xvfb openbox dbus-1-daemon gnome-keyring dunst xdotool ImageMagick",
            "xvfb openbox dbus gnome-keyring dunst xdotool imagemagick",
            "",
        ],
    },
    Need {
        name: "cmake",
        why: "builds llama.cpp, the engine of the model in the box",
        found: || answers("cmake", &["--version"]),
        from: Purpose::ModelBox,
        must: true,
        packages: ["cmake", "cmake gcc-c++", "cmake", "cmake gcc-c++", "cmake g++", "cmake"],
    },
    Need {
        name: "clang",
        why: "reads the headers of llama.cpp",
        found: || answers("clang", &["--version"]),
        from: Purpose::ModelBox,
        must: true,
        packages: ["clang libclang-dev", "clang-devel", "clang", "clang-devel", "clang-dev", "llvm"],
    },
    Need {
        name: "Dovecot",
        why: "has the mailboxes of the test that speaks to a real mail server",
        found: has_dovecot,
        from: Purpose::MailServer,
        must: true,
        packages: ["dovecot-imapd", "dovecot", "dovecot", "dovecot", "dovecot", "dovecot"],
    },
    Need {
        name: "cmake, ninja and Boost",
        why: "build the node of the test that speaks to Bitcoin",
        found: has_node_builders,
        from: Purpose::BitcoinNode,
        must: true,
        packages: [
            "build-essential pkg-config cmake ninja-build libboost-dev",
            "gcc-c++ pkgconf-pkg-config cmake ninja-build boost-devel",
            "base-devel pkgconf cmake ninja boost",
            "gcc-c++ pkg-config cmake ninja libboost_headers-devel",
            "build-base pkgconf cmake samurai boost-dev linux-headers",
            "pkgconf cmake ninja boost",
        ],
    },
];

fn has_node_builders() -> bool {
    let folders = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"];
    let has_boost = folders.iter().any(|at| Path::new(at).join("boost").is_dir());
    has_boost && ["cmake", "ninja"].iter().all(|program| answers(program, &["--version"]))
}

fn has_compiler() -> bool {
    cfg!(windows) || answers("cc", &["--version"])
}

fn has_pkg_config() -> bool {
    cfg!(windows) || answers("pkg-config", &["--version"])
}

/// Only Linux builds its walls with it.
fn has_bubblewrap() -> bool {
    !cfg!(target_os = "linux") || answers("bwrap", &["--version"])
}

/// Only Linux shows the app to its tests.
fn has_desktop() -> bool {
    let programs = [
        "Xvfb",
        "openbox",
        "dbus-daemon",
        "gnome-keyring-daemon",
        "dunst",
        "xdotool",
        "import",
        "WebKitWebDriver",
    ];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = |name: &&str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    !cfg!(target_os = "linux") || programs.iter().all(is_here)
}

/// Systems keep it where only an administrator looks for programs.
fn has_dovecot() -> bool {
    answers("dovecot", &["--version"])
        || ["/usr/sbin", "/usr/local/sbin"].iter().any(|at| Path::new(at).join("dovecot").is_file())
}

fn has_ssh_keygen() -> bool {
    // It has no way to be asked its version; asked for nothing it answers with usage.
    Command::new("ssh-keygen")
        .arg("-?")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

fn has_python() -> bool {
    answers("python3", &["-c", "import venv, ensurepip, pip"])
}

fn has_go() -> bool {
    // Debian keeps sources of Go libraries here; elsewhere the proxy of the go client serves.
    let debian = Path::new("/etc/debian_version").exists();
    let library = Path::new("/usr/share/gocode/src/golang.org/x/mod/sumdb/note");
    answers("go", &["version"]) && (!debian || library.exists())
}

/// The places where the tests of the pages look.
fn has_browser() -> bool {
    let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    cfg!(not(target_os = "linux")) || places.iter().any(|place| Path::new(place).exists())
}

/// Looks for everything the purpose needs. As root on Debian or Ubuntu installs what is missing; elsewhere says
/// the exact command. An error only if something is missing without which nothing works.
pub fn setup(purpose: Purpose) -> Result<(), Problem> {
    let missing = missing(purpose);
    if missing.is_empty() {
        return Ok(());
    }
    for need in &missing {
        say(&format!("missing: {} ({})", need.name, need.why));
    }
    if may_install() {
        install(&missing);
    }
    let left: Vec<&Need> = missing.into_iter().filter(|need| !(need.found)()).collect();
    if left.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = left.iter().map(|n| n.name).collect();
    let advice = format!("to have {}, run: {}", names.join(", "), command_for(&left));
    if left.iter().any(|need| need.must) {
        return Err(format!("{advice}\nhermit: and then this again"));
    }
    say(&advice);
    say("going on without");
    Ok(())
}

fn missing(purpose: Purpose) -> Vec<&'static Need> {
    let is_due = |need: &&Need| match purpose {
        Purpose::ModelBox => need.from == purpose || need.must && need.from == Purpose::Start,
        Purpose::MailServer | Purpose::BitcoinNode => need.from == purpose,
        _ => need.from <= purpose,
    };
    NEEDS.iter().filter(is_due).filter(|need| !(need.found)()).collect()
}

/// Whether missing packages can be installed here: as root, on Debian or Ubuntu.
pub fn may_install() -> bool {
    let root = cfg!(unix) && is_root();
    root && Path::new("/etc/debian_version").exists() && answers("apt-get", &["--version"])
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    id.is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}

fn install(missing: &[&Need]) {
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages[0].split_whitespace()).collect();
    say(&format!("installing {} ...", packages.join(" ")));
    if apt_install(&packages) {
        return;
    }
    say("not in the package lists at hand; renewing them ...");
    apt(&["-q", "update"]);
    if !apt_install(&packages) {
        // One package that this release does not have must not keep the others away.
        for package in packages {
            apt_install(&[package]);
        }
    }
}

fn apt_install(packages: &[&str]) -> bool {
    apt(&[&["-q", "install", "-y", "--no-install-recommends"], packages].concat())
}

/// Waits for another run of apt instead of failing, and asks nothing.
fn apt(args: &[&str]) -> bool {
    let mut command = Command::new("apt-get");
    command.arg("-oDPkg::Lock::Timeout=300").args(args).env("DEBIAN_FRONTEND", "noninteractive");
    command.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command that installs these here, as exact as the machine lets it be.
fn command_for(needs: &[&Need]) -> String {
    let manager = MANAGERS.iter().position(|(program, _)| answers(program, &["--version"]));
    let sudo = if manager == Some(5) || !cfg!(unix) || is_root() { "" } else { "sudo " };
    match manager {
        Some(at) => format!("{sudo}{} {}", MANAGERS[at].1, packages_for(needs, at)),
        None if cfg!(target_os = "macos") => "xcode-select --install".to_owned(),
        None => format!("your system's package manager for {}", packages_for(needs, 0)),
    }
}

fn packages_for(needs: &[&Need], manager: usize) -> String {
    let packages: Vec<_> =
        needs.iter().map(|need| need.packages[manager]).filter(|p| !p.is_empty()).collect();
    packages.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn testing_needs_all_that_starting_needs() {
        let start: Vec<_> = NEEDS.iter().filter(|n| n.from <= Purpose::Start).map(|n| n.name).collect();
        let test: Vec<_> = NEEDS.iter().filter(|n| n.from <= Purpose::Test).map(|n| n.name).collect();
        assert!(start.iter().all(|name| test.contains(name)));
        assert!(test.len() > start.len());
    }

    #[test]
    fn every_need_has_a_package_on_debian() {
        assert!(NEEDS.iter().all(|need| !need.packages[0].is_empty()));
    }

    #[test]
    fn the_advice_leaves_out_what_a_system_does_not_package() {
        let all: Vec<&Need> = NEEDS.iter().collect();
        assert!(!packages_for(&all, 5).contains("bubblewrap"));
        assert!(packages_for(&all, 0).contains("golang-golang-x-mod-dev"));
        assert!(!packages_for(&all, 5).contains("  "));
    }
}
