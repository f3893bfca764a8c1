//! Commands of Windows: a program of Hermit's own stays beside each, and what the command may change is lent to it meanwhile.

use super::app_container::{Kind, Plan, told};
use super::shape::Shape;
use super::{Asks, NOWHERE, Sandbox};
use crate::command::view::View;
use crate::system::lent_places::LentPlaces;
use crate::system::walls;
use model::receipt::SandboxLevel;
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
        Self::reached_of(&exec, &Kind::ALL)
    }

    /// The first of these that holds what is tried against it; where none does, none.
    fn reached_of(exec: &Path, kinds: &[Kind]) -> Self {
        let mut said = Vec::new();
        for kind in kinds {
            let tried = Self::beside_by(exec.to_path_buf(), Some(*kind));
            match tried.escapes() {
                Ok(escapes) if kind.is_reached(&escapes) => {
                    said.push(escapes.to_string());
                    return Self { level: kind.level(), why: said.join("; "), ..tried };
                }
                Ok(escapes) => said.push(format!("{} is not reached: {escapes}", kind.in_words())),
                Err(why) => said.push(format!("{} does not stand here: {why}", kind.in_words())),
            }
        }
        Self { why: said.join("; "), ..Self::beside_by(exec.to_path_buf(), None) }
    }

    /// The walls around git. In an AppContainer it cannot say in which folder it is, since no file tells its whole path there; a
    /// restricted token is enough for what asks for no network. It is tried before the first change, and kept.
    pub(crate) fn of_git(&self) -> Self {
        let Some((exec, Some(Kind::AppContainer))) = &self.beside else { return self.clone() };
        let tried = self.git_tried.get_or_init(|| Self::reached_of(exec, &[Kind::Restricted]));
        Self { level: tried.level, why: tried.why.clone(), beside: tried.beside.clone(), ..self.clone() }
    }

    /// The program that stays beside a command here, with walls or without.
    pub(crate) fn beside(&self) -> Option<&Path> {
        self.beside.as_ref().map(|(exec, _)| exec.as_path())
    }

    /// Whether a program stays beside a command here, which gives it a lesser token.
    pub(crate) fn is_by_token(&self) -> bool {
        matches!(self.beside, Some((_, Some(_))))
    }

    /// A program that is spoken to over its standard streams for as long as it lives, and what it is lent for as long. Nothing marks
    /// its start. It is started only where its network is held.
    ///
    /// # Errors
    /// In words, with what to do, where nothing here holds it, or a place cannot be lent.
    pub(crate) fn spoken_to(
        &self,
        view: &View,
        argv: &[String],
        network: bool,
        cpu_seconds: u64,
    ) -> Result<(Command, LentPlaces), String> {
        if self.is_by_profile() && self.can_hold_network() {
            return self.enclosed(view, argv, cpu_seconds).map(|command| (command, LentPlaces::none()));
        }
        if let Some(command) = self.server(view, argv, network, cpu_seconds) {
            return Ok((command, LentPlaces::none()));
        }
        if !self.is_by_token() || self.level != SandboxLevel::AppContainer {
            return Err(self.lacks(Asks::Server));
        }
        if network {
            return Err(self.lacks(Asks::ServerHosts));
        }
        let argv: Vec<String> = argv.iter().map(|word| seen_word(view, word)).collect();
        self.with_one_beside(view, &argv, cpu_seconds)
    }

    /// The path at which a program sees the folder of its view.
    pub(crate) fn root_of(&self, view: &View) -> PathBuf {
        let is_in_copy = self.is_by_token() || self.is_by_profile();
        if is_in_copy { Shape::seen(view, &view.root) } else { view.root.clone() }
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

/// A word of a program that works in a copy: the copy lies elsewhere, so a place in the folder is that in the copy.
fn seen_word(view: &View, word: &str) -> String {
    if view.source.is_none() {
        return word.to_owned();
    }
    let seen = Shape::seen(view, Path::new(word)).into_os_string().into_string();
    seen.unwrap_or_else(|_| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_server_is_started_only_where_its_network_is_held() {
        let exec = || PathBuf::from("hermit-exec");
        let argv = ["node".to_owned(), "files.js".to_owned()];
        let level = |kind: Kind| Sandbox { level: kind.level(), ..Sandbox::beside_by(exec(), Some(kind)) };
        let refused = |walls: &Sandbox, network| walls.spoken_to(&View::nowhere(), &argv, network, 1).err();
        let open = level(Kind::Restricted);
        assert_eq!(refused(&open, false), Some(open.lacks(Asks::Server)), "its network is open");
        assert_eq!(refused(&open, true), Some(open.lacks(Asks::Server)));
        let best = level(Kind::AppContainer);
        assert_eq!(refused(&best, true), Some(best.lacks(Asks::ServerHosts)), "there is no way to the proxy");
        let job = Sandbox::beside_by(exec(), None);
        assert_eq!(refused(&job, false), Some(job.lacks(Asks::Server)), "a job alone is no sandbox");
        if walls::SYSTEM != walls::System::Windows {
            let tried = refused(&best, false).unwrap();
            assert!(tried.contains("access that is lent to a command"), "it would be started: {tried}");
        }
    }

    /// Nobody believes a restricted token because a container stands.
    #[test]
    fn git_has_walls_of_its_own_where_a_container_stands_and_they_are_tried() {
        let exec = || PathBuf::from("hermit-exec");
        let best = Sandbox {
            level: SandboxLevel::AppContainer,
            ..Sandbox::beside_by(exec(), Some(Kind::AppContainer)).with_memory(4096)
        };
        if walls::SYSTEM != walls::System::Windows {
            let of_git = best.of_git();
            assert_eq!((of_git.level(), of_git.has_walls()), (SandboxLevel::Unconfined, false));
            assert!(of_git.why().contains("a restricted token does not stand here"), "{}", of_git.why());
            assert_eq!((of_git.beside(), of_git.memory_bytes()), (Some(exec().as_path()), 4096));
            assert!(best.git_tried.get().is_some(), "it is tried once, and kept");
        }
        for same in [Sandbox::beside_by(exec(), Some(Kind::Restricted)), Sandbox::none(String::new())] {
            let of_git = same.of_git();
            assert_eq!((of_git.level(), of_git.beside()), (same.level(), same.beside()));
            assert!(same.git_tried.get().is_none());
        }
    }

    #[test]
    fn a_program_in_a_copy_is_told_places_of_the_copy() {
        let mut view = View::nowhere();
        view.root = PathBuf::from("/no such/lease");
        let walls = Sandbox::beside_by(PathBuf::from("hermit-exec"), Some(Kind::AppContainer));
        assert_eq!(seen_word(&view, "/no such/lease"), "/no such/lease");
        view.source = Some(PathBuf::from("/no such/tree"));
        assert_eq!(seen_word(&view, "/no such/lease"), "/no such/tree");
        assert_eq!(seen_word(&view, "--root"), "--root");
        assert_eq!(walls.root_of(&view), PathBuf::from("/no such/tree"));
        let others = Sandbox::none(String::new());
        assert_eq!(others.root_of(&view), view.root, "where a mount shows it in the folder's place");
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
