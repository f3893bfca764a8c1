//! A package of the system that the installed app belongs to. Hermit does not write what a package manager owns: a person is told the
//! command that does.

use super::app::AppPlace;
use crate::logs::OrLogged as _;
use crate::service::asked::{Asked, ask_soon};
use crate::service::quoted;
use model::Digest;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Package managers that own single files: the question whose a file is, how their packages end, and what installs one.
const MANAGERS: [(&str, &[&str], &str, &str); 2] =
    [("dpkg", &["-S"], ".deb", "sudo apt install"), ("rpm", &["-qf"], ".rpm", "sudo rpm -U")];

/// The package that the installed app belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Package {
    /// The installed app.
    pub program: PathBuf,
    /// Whose it is: the package manager by its program.
    pub manager: String,
    /// What a person types to renew it from this release; none where the release has no package of its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The package of the installed app; none where no package manager says that the file is its own, or no app was started yet.
pub(super) fn package(folder: &Path, programs: &BTreeMap<String, Digest>) -> Option<Package> {
    let place = AppPlace::read().or_logged("where the app lies cannot be read").flatten();
    let place = place.filter(|place| !place.is_image && place.program.is_file())?;
    let program = place.program.to_str()?;
    let owns = |(manager, words, ..): &&(&str, &[&str], &str, &str)| {
        let words: Vec<&str> = words.iter().copied().chain([program]).collect();
        matches!(ask_soon(manager, &words), Asked::Done(_))
    };
    let (manager, _, ending, install) = MANAGERS.iter().find(owns)?;
    Some(Package {
        program: place.program.clone(),
        manager: (*manager).to_owned(),
        command: command(folder, programs, ending, install),
    })
}

fn command(
    folder: &Path,
    programs: &BTreeMap<String, Digest>,
    ending: &str,
    install: &str,
) -> Option<String> {
    let name = programs.keys().find(|name| name.ends_with(ending))?;
    let path =
        std::path::absolute(folder.join(name)).or_logged("the folder of the release cannot be told")?;
    Some(format!("{install} {}", quoted(&path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_of_its_kind_is_named_by_the_command_that_installs_it() {
        let row = |name: &str| (format!("programs/{name}"), Digest::of(b""));
        let programs = BTreeMap::from([row("Hermit_1.deb"), row("hermit")]);
        let folder = std::env::temp_dir().join("a release");
        let told = command(&folder, &programs, ".deb", "sudo apt install").unwrap_or_default();
        assert!(told.starts_with("sudo apt install ") && told.contains("Hermit_1.deb"), "{told}");
        assert_eq!(command(&folder, &programs, ".rpm", "sudo rpm -U"), None);
    }
}
