//! What is opened to a guest around its program.

use super::is_system;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders in which persons have their homes.
const HOMES: [&str; 2] = ["/home", "/Users"];

/// Whether all that a person has may lie in a folder, or it is one of the machine's own at the top.
fn holds_a_home(at: &Path) -> bool {
    at.components().count() < 3
        || HOMES.iter().any(|homes| at.parent() == Some(Path::new(homes)))
        || crate::places::persons_home().is_some_and(|home| home.starts_with(at))
}

/// What a program outside the system's folders needs: the packages of its environment, or itself alone.
pub(super) fn around(program: &Path, reads: &mut BTreeSet<PathBuf>) {
    if is_system(program) {
        return;
    }
    // An environment holds its programs in `bin`. A `pyvenv.cfg` further up, or in a person's home, opens nothing: all that lies
    // there would be the agent's to read.
    let environment = program.parent().filter(|bin| bin.ends_with("bin")).and_then(Path::parent);
    let environment = environment.filter(|at| !holds_a_home(at) && at.join("pyvenv.cfg").is_file());
    if let Some(at) = environment {
        let home = fs::read_to_string(at.join("pyvenv.cfg")).unwrap_or_default();
        let home =
            home.lines().find_map(|line| line.split_once('=').filter(|(name, _)| name.trim() == "home"));
        let base = home.and_then(|(_, bin)| Path::new(bin.trim()).canonicalize().ok());
        let base = base.and_then(|bin| bin.parent().map(Path::to_owned)).filter(|base| !is_system(base));
        // Whoever wrote that file names it: what has no libraries is no interpreter's.
        reads.extend(base.filter(|base| base.components().count() > 3 && base.join("lib").is_dir()));
        reads.insert(at.to_owned());
        return;
    }
    let packages =
        program.ancestors().filter(|at| at.file_name().is_some_and(|name| name == "node_modules")).last();
    // An interpreter with its libraries: `…/bin/node` beside `…/lib`.
    let prefix = program.parent().filter(|bin| bin.ends_with("bin")).and_then(Path::parent);
    let prefix = prefix.filter(|prefix| prefix.join("lib").is_dir() && prefix.components().count() > 4);
    reads.insert(packages.or(prefix).unwrap_or(program).to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_opened_for_its_own_programs_and_never_what_merely_lies_below_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = |name: &str| {
            let place = root.join(name);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(&place, "").unwrap();
            place
        };
        let opened = |program: &Path| {
            let mut reads = BTreeSet::new();
            around(program, &mut reads);
            reads.into_iter().collect::<Vec<_>>()
        };
        at("me/pyvenv.cfg");
        at("me/env/pyvenv.cfg");
        assert_eq!(opened(&at("me/env/bin/agent")), [root.join("me/env")]);
        for (bin, opens) in [("papers/mine", None), ("python/bin", Some("me/python"))] {
            fs::create_dir_all(root.join("me").join(bin)).unwrap();
            fs::create_dir_all(root.join("me/python/lib")).unwrap();
            let says = format!("home = {}\n", root.join("me").join(bin).display());
            fs::write(root.join("me/env/pyvenv.cfg"), says).unwrap();
            let places: Vec<PathBuf> = ["me/env"].into_iter().chain(opens).map(|at| root.join(at)).collect();
            assert_eq!(opened(&root.join("me/env/bin/agent")), places, "{bin}");
        }
        let below = at("me/work/agent");
        assert_eq!(opened(&below), [below], "not all of what stands below `me`");
    }

    #[test]
    fn all_that_a_person_has_is_no_environment_and_one_of_root_is() {
        for home in ["/", "/home", "/tmp", "/home/me", "/Users/me"] {
            assert!(holds_a_home(Path::new(home)), "{home}");
        }
        for environment in ["root/.venv", "srv/venv", "home/me/.venv", "data/me/env"] {
            assert!(!holds_a_home(&Path::new("/").join(environment)), "{environment}");
        }
    }
}
