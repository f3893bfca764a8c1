//! Commands of Windows: a program of Hermit's own stays beside each, and what the command may change is lent to it meanwhile.

use super::app_container::{Kind, Plan, told};
use super::shape::Shape;
use super::{NOWHERE, Sandbox};
use crate::command::view::View;
use crate::system::lent_places::LentPlaces;
use crate::system::walls;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables that name a place of a command's own.
const OWN_PLACES: [&str; 7] = ["HOME", "TMPDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"];

impl Sandbox {
    /// The best walls of Windows that hold what is tried against them; where none do, commands that a person allows without walls
    /// still end with all that they have started.
    pub(super) fn by_token(exec: &Path) -> Self {
        let exec = match exec.canonicalize() {
            Ok(exec) => walls::plain(exec),
            Err(error) => {
                return Self::none(format!("`hermit-exec` is not at `{}`: {error}", exec.display()));
            }
        };
        let mut said = Vec::new();
        for kind in Kind::ALL {
            let tried = Self::beside_by(exec.clone(), Some(kind));
            match tried.escapes() {
                Ok(escapes) if kind.is_reached(&escapes) => {
                    said.push(escapes.to_string());
                    return Self { level: kind.level(), why: said.join("; "), ..tried };
                }
                Ok(escapes) => said.push(format!("{} is not reached: {escapes}", kind.in_words())),
                Err(why) => said.push(format!("{} does not stand here: {why}", kind.in_words())),
            }
        }
        Self { why: said.join("; "), ..Self::beside_by(exec, None) }
    }

    /// Whether a program stays beside a command here, which gives it a lesser token.
    pub(crate) fn is_by_token(&self) -> bool {
        matches!(self.beside, Some((_, Some(_))))
    }

    fn beside_by(exec: PathBuf, kind: Option<Kind>) -> Self {
        Self { beside: Some((exec, kind)), ..Self::none(String::new()) }
    }

    /// The command as that program starts it, without the network, and what it is lent. Nothing marks its start.
    ///
    /// # Errors
    /// In words, when the program is not there, or a place cannot be lent.
    pub(crate) fn with_one_beside(
        &self,
        view: &View,
        argv: &[String],
        cpu_seconds: u64,
    ) -> Result<(Command, LentPlaces), String> {
        let (exec, kind) = self.beside.as_ref().ok_or_else(|| {
            format!("nothing here ends a command with all that it has started ({})", self.why())
        })?;
        let shape = Shape::of(self, view, None, cpu_seconds);
        let lent = match kind {
            Some(kind) => LentPlaces::lend(&Plan::of(*kind, &shape).lending(&shape))?,
            None => LentPlaces::none(),
        };
        let mut command = Command::new(exec);
        self.environment(view, &mut command);
        if shape.private.is_none() {
            // A program of Hermit's own has no folder for it.
            command.envs(OWN_PLACES.map(|name| (name, NOWHERE)));
        }
        command.current_dir(if shape.folder.is_some() {
            Shape::begins(view)
        } else {
            PathBuf::from(NOWHERE)
        });
        command.args(told(*kind, lent.who(), std::process::id(), &shape)).arg("--").args(argv);
        Ok((command, lent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::receipt::SandboxLevel;

    #[test]
    fn without_walls_a_program_stays_beside_a_command_all_the_same() {
        let mut view = View::nowhere();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        (view.root, view.cwd, view.private) = (root.clone(), root.clone(), root.clone());
        let walls =
            Sandbox::beside_by(PathBuf::from("hermit-exec"), None).with_processes(8).with_memory(4096);
        let argv = ["cmd", "/c", "echo a b"].map(str::to_owned);
        let (command, lent) = walls.with_one_beside(&view, &argv, 60).unwrap();
        let host = std::process::id().to_string();
        let told: Vec<&str> = command.get_args().filter_map(|word| word.to_str()).collect();
        let limits = ["--own", "--host", &host, "--memory", "4096", "--processes", "8", "--cpu", "60", "--"];
        assert_eq!(told, [&limits[..], &["cmd", "/c", "echo a b"]].concat());
        assert_eq!(command.get_current_dir(), Some(walls::plain(root).as_path()));
        assert_eq!(lent.who(), "");
        assert!(lent.take_back().is_empty());
        assert_eq!(
            (walls.level(), walls.has_walls(), walls.marks_start()),
            (SandboxLevel::Unconfined, false, false)
        );
    }

    #[test]
    fn what_has_no_folder_has_a_home_in_which_nothing_can_be_made() {
        let walls = Sandbox::beside_by(PathBuf::from("hermit-exec"), None);
        let (command, _) = walls.with_one_beside(&View::nowhere(), &["x".to_owned()], 1).unwrap();
        for name in OWN_PLACES {
            let value = command.get_envs().find(|(known, _)| *known == name).and_then(|(_, value)| value);
            assert_eq!(value, Some(std::ffi::OsStr::new(NOWHERE)), "{name}");
        }
    }

    /// Where access cannot be lent nothing runs in its place.
    #[test]
    fn walls_that_cannot_be_put_up_are_not_left_out() {
        if walls::SYSTEM == walls::System::Windows {
            return;
        }
        for kind in Kind::ALL {
            let walls = Sandbox::beside_by(PathBuf::from("hermit-exec"), Some(kind));
            let refused = walls.with_one_beside(&View::nowhere(), &["x".to_owned()], 1);
            assert!(refused.is_err_and(|why| why.contains("not have this on this system yet")), "{kind:?}");
        }
    }
}
