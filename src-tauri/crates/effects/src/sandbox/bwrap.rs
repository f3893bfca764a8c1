//! The view that bubblewrap builds: system folders to read, the lease root to write, everything else not there.

use super::{MERGED, READABLE, Sandbox, TMP_BYTES, inside};
use crate::command::view::View;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Where `hermit-exec` is inside.
pub(crate) const EXEC_INSIDE: &str = "/run/hermit/exec";

/// Namespaces of its own, and the folders of programs and libraries.
pub(super) fn system(command: &mut Command) {
    let mut add = |words: &[&str]| {
        command.args(words);
    };
    add(&["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]);
    add(&["--hostname", "hermit"]);
    for name in MERGED {
        match std::fs::read_link(name) {
            Ok(target) => add(&["--symlink", &target.to_string_lossy(), name]),
            Err(_) => add(&["--ro-bind-try", name, name]),
        }
    }
    for name in READABLE {
        add(&["--ro-bind-try", name, name]);
    }
}

impl Sandbox {
    /// Bubblewrap up to and including `hermit-exec`, whose own arguments follow; none where there is no bubblewrap.
    pub(super) fn shell(&self, view: &View) -> Option<Command> {
        let bwrap = self.bwrap.as_ref()?;
        let mut command = match &view.layer {
            None => Command::new(bwrap),
            Some((upper, work)) => {
                let mut command = Command::new(self.exec.as_ref()?);
                command.arg("--layer").args([&view.root, upper, work]).arg("--").arg(bwrap);
                command
            }
        };
        command.env_clear();
        system(&mut command);
        let mut add = |words: &[&str]| {
            command.args(words);
        };
        add(&["--proc", "/proc", "--dev", "/dev"]);
        add(&["--size", &TMP_BYTES.to_string(), "--tmpfs", "/tmp", "--dir", "/tmp/home"]);
        if let Some(tools) = &view.tools {
            command.arg("--ro-bind").arg(tools).arg(crate::stage::door::INSIDE);
        }
        if let Some(cord) = &view.cord {
            command.arg("--ro-bind").arg(cord).arg(crate::stage::door::CORD_INSIDE);
        }
        if let Some(home) = &view.home {
            command.arg("--bind").arg(home).arg("/tmp/home");
        }
        command.arg("--ro-bind").arg(self.exec.as_ref()?).arg(EXEC_INSIDE);
        if let Some(way) = &view.proxy {
            if let Some(socket) = &way.socket {
                command.arg("--ro-bind").arg(socket).arg(crate::egress_proxy::INSIDE);
            }
            if let Some(roots) = &way.roots {
                command.arg("--ro-bind").arg(roots).arg(crate::egress_proxy::ROOTS_INSIDE);
            }
        }
        for place in self.readable().iter().chain(&view.reads) {
            command.arg("--ro-bind-try").arg(place).arg(place);
        }
        self.bind_root(view, &mut command);
        for (name, value) in view.environment(true) {
            command.arg("--setenv").arg(name).arg(value);
        }
        command.args(["--remount-ro", "/", "--", EXEC_INSIDE]);
        Some(command)
    }

    fn bind_root(&self, view: &View, command: &mut Command) {
        if view.root == Path::new("") {
            return;
        }
        let mut add = |words: &[OsString]| {
            command.args(words);
        };
        let source = view.source.as_ref().unwrap_or(&view.root);
        let bind = if view.read_only { "--ro-bind" } else { "--bind" };
        add(&[bind.into(), source.into(), view.root.clone().into()]);
        // What Hermit may do changes by a request that says so, and by nothing that a command does beside it.
        let own = view.root.join(acts::sensitive_paths::CAPABILITY_FOLDER);
        if !view.is_staged() && own.symlink_metadata().is_ok_and(|there| there.is_dir()) {
            add(&["--ro-bind".into(), own.clone().into(), own.into()]);
        }
        for hidden in view.hidden.iter().filter_map(|hidden| inside(view, hidden)) {
            add(&["--tmpfs".into(), hidden.clone().into(), "--remount-ro".into(), hidden.into()]);
        }
        // Mounts lie on the view and not in it: what is covered is neither changed nor gone.
        for (at, is_folder) in &view.masked {
            match is_folder {
                true => add(&["--tmpfs".into(), at.into(), "--remount-ro".into(), at.into()]),
                false => add(&["--ro-bind".into(), view.blank.clone().into(), at.into()]),
            }
        }
        add(&["--chdir".into(), view.cwd.clone().into()]);
    }
}
