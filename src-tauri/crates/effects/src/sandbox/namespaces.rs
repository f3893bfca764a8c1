//! The walls of Linux: put up once around a trivial command, and believed as far as nothing got through that was tried behind them.

use super::Sandbox;
use crate::command::view::View;
use model::receipt::SandboxLevel;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

impl Sandbox {
    /// As [`Sandbox::probe`] on Linux, with a bubblewrap that is named.
    pub fn probe_by(bwrap: &Path, exec: &Path) -> Self {
        match exec.canonicalize() {
            Ok(exec) => Self::of_namespaces(exec, &[bwrap]),
            Err(error) => Self::none(format!("`hermit-exec` is not at `{}`: {error}", exec.display())),
        }
    }

    /// Walls by the first bubblewrap behind which nothing gets through; where there is none, those without namespaces.
    pub(super) fn of_namespaces(exec: PathBuf, bubblewraps: &[&Path]) -> Self {
        let mut said = Vec::new();
        for bwrap in bubblewraps {
            let tried = Self { bwrap: Some(bwrap.to_path_buf()), ..Self::with(exec.clone()) };
            match tried.check() {
                Ok(standing) => match tried.reached(&standing, &said).held() {
                    Ok(walls) => return walls,
                    Err(open) => said.push(format!("bubblewrap is not believed here: {open}")),
                },
                Err(why) => said.push(format!("bubblewrap does not work here: {why}")),
            }
        }
        if said.is_empty() {
            said.push("bubblewrap is not installed".to_owned());
        }
        Self::without_namespaces(exec, &said)
    }

    /// As [`Sandbox::probe`], for a machine where bubblewrap is not wanted.
    pub fn probe_without_namespaces(exec: &Path) -> Self {
        match exec.canonicalize() {
            Ok(exec) => Self::without_namespaces(exec, &["bubblewrap is not wanted".to_owned()]),
            Err(error) => Self::none(format!("`hermit-exec` is not at `{}`: {error}", exec.display())),
        }
    }

    fn without_namespaces(exec: PathBuf, said: &[String]) -> Self {
        let tried = Self::with(exec);
        match tried.check() {
            Ok(standing) => {
                let walls = tried.reached(&standing, said);
                walls.clone().held().unwrap_or_else(|open| {
                    let why = format!("{}; it is not believed: {open}", walls.why);
                    Self { level: SandboxLevel::Unconfined, why, ..walls }
                })
            }
            Err(why) => Self::none(format!("{}; `hermit-exec` does not work here: {why}", said.join("; "))),
        }
    }

    fn reached(mut self, standing: &str, said: &[String]) -> Self {
        let has = |word: &str| standing.split_whitespace().any(|w| w == word);
        let landlock = has("landlock=full") || has("landlock=part");
        let seccomp = has("seccomp=yes");
        self.level = match (self.bwrap.is_some(), landlock, seccomp) {
            (true, true, true) => SandboxLevel::NamespacesLandlock,
            (true, _, _) => SandboxLevel::Namespaces,
            (false, true, true) => SandboxLevel::Landlock,
            (false, _, _) => SandboxLevel::Unconfined,
        };
        let mut why = said.to_vec();
        why.push(standing.trim().to_owned());
        self.why = why.join("; ");
        self
    }

    /// The same walls once the table of escapes was tried behind them, with what was refused and what this machine lacks to be tried in
    /// the reason; an error that names what got through, where something did.
    fn held(mut self) -> Result<Self, String> {
        if self.level == SandboxLevel::Unconfined {
            return Ok(self);
        }
        match self.escapes_at_once() {
            Ok(escapes) if !escapes.through.is_empty() => return Err(escapes.to_string()),
            Ok(escapes) => self.why = format!("{}; {escapes}", self.why),
            Err(why) => self.why = format!("{}; not tried: {why}", self.why),
        }
        Ok(self)
    }

    /// Runs `hermit-exec --check` behind the walls; its answer, or why there is none.
    fn check(&self) -> Result<String, String> {
        let view = View::nowhere();
        let mut command = match &self.bwrap {
            Some(_) => self.shell(&view).ok_or("no bubblewrap")?,
            None => Command::new(self.exec.as_ref().ok_or("no hermit-exec")?),
        };
        let output =
            command.arg("--check").env_clear().stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() && stdout.contains("seccomp=") {
            return Ok(stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("{} {}", output.status, stderr.trim()))
    }

    /// A command of this system without the network whose start nothing marks, in namespaces or not; none where `hermit-exec` is not.
    pub(super) fn behind_exec(&self, view: &View, argv: &[String], cpu_seconds: u64) -> Option<Command> {
        let mut command = match self.shell(view) {
            Some(command) => command,
            None => {
                let mut command = Command::new(self.exec.as_ref()?);
                self.environment(view, &mut command);
                command
            }
        };
        command.args(self.exec_arguments(view, false, cpu_seconds)).arg("--").args(argv);
        Some(command)
    }
}
