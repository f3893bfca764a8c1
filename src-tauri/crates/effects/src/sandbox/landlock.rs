//! What `hermit-exec` is told to leave open.

use super::{MERGED, READABLE, Sandbox, bwrap};
use crate::command::view::View;
use std::ffi::OsString;
use std::path::Path;

/// What programs need of `/proc` and what tells of no other process.
const PROC_OF_NOBODY: [&str; 9] = [
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
];

/// `--read` and `--write` arguments. Inside namespaces the devices and the private folders are their own; without
/// them the machine's are there, and few are opened.
pub(super) fn paths(sandbox: &Sandbox, view: &View, namespaces: bool) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |flag: &str, path: &Path| {
        arguments.push(flag.into());
        arguments.push(path.into());
    };
    let processes: &[&str] = if namespaces { &["/proc"] } else { &PROC_OF_NOBODY };
    for name in READABLE.iter().chain(&MERGED).chain(processes) {
        add("--read", Path::new(name));
    }
    for place in sandbox.readable().iter().chain(&view.reads) {
        add("--read", place);
    }
    if namespaces {
        add("--read", Path::new(bwrap::EXEC_INSIDE));
        if view.proxy.as_ref().is_some_and(|way| way.roots.is_some()) {
            add("--read", Path::new(crate::egress_proxy::ROOTS_INSIDE));
        }
        add("--write", Path::new("/dev"));
        add("--write", Path::new("/tmp"));
    } else {
        for name in ["/dev/null", "/dev/zero", "/dev/full"] {
            add("--write", Path::new(name));
        }
        for name in ["/dev/random", "/dev/urandom"] {
            add("--read", Path::new(name));
        }
        add("--write", &view.private);
    }
    add(if view.read_only { "--read" } else { "--write" }, &view.root);
    arguments
}
