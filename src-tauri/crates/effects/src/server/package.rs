//! The package that a server is started from, as its words tell it or as it is installed.

use crate::Executors;
use model::launch::{LaunchPackage, PackageSource, package_of, without_env};
use model::reach::Program;
use model::tool_server::ServerLaunch;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Bytes of a file that describes a package.
const DESCRIBED_MAX: u64 = 1024 * 1024;
/// Entries of a folder of packages that are looked at.
const ENTRIES_MAX: usize = 20_000;

impl Executors {
    /// The package of a launch: which one its words name, else which one its pinned program is a file of. A version that the
    /// words do not tell is the one that is installed where the server sees it.
    pub(crate) fn package(&self, launch: &ServerLaunch, pins: &[Program]) -> Option<LaunchPackage> {
        match package_of(&launch.argv) {
            Some(named) if named.version.is_some() => Some(named),
            Some(named) => {
                let version = self.installed(&named);
                Some(LaunchPackage { version, ..named })
            }
            // The program, or the file that it runs; what else its words name is only read.
            None => pins
                .iter()
                .take(2)
                .rev()
                .find_map(|pin| of_node(Path::new(&pin.path)))
                .or_else(|| self.of_python(launch)),
        }
    }

    /// The version of a package that its words name and that is installed here: `npx` starts that one.
    fn installed(&self, named: &LaunchPackage) -> Option<String> {
        if named.source != PackageSource::Npm {
            return None;
        }
        let at = self.workspace.root().join("node_modules").join(&named.name).join("package.json");
        described(&at).filter(|(name, _)| *name == named.name).map(|(_, version)| version)
    }

    /// The package of a program in a virtual environment of Python, or of the module that it runs.
    fn of_python(&self, launch: &ServerLaunch) -> Option<LaunchPackage> {
        let words: Vec<&str> = launch.argv.iter().map(String::as_str).collect();
        let words = without_env(&words);
        let program = self.workspace.root().join(words.first()?);
        let name = match words.iter().position(|word| *word == "-m") {
            Some(1) => (*words.get(2)?).to_owned(),
            Some(_) | None => program.file_name()?.to_str()?.to_owned(),
        };
        let libraries = program.parent()?.parent()?.join("lib");
        let begins = format!("{}-", name.replace(['-', '.'], "_").to_lowercase());
        let pythons = entries(&libraries)
            .filter(|at| at.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python")));
        let mut packages = pythons.flat_map(|python| entries(&python.join("site-packages")));
        let version = packages.find_map(|at| {
            let folder = at.file_name()?.to_str()?.strip_suffix(".dist-info")?;
            let own = folder.to_lowercase();
            own.strip_prefix(&begins).map(str::to_owned)
        })?;
        Some(LaunchPackage { source: PackageSource::Pypi, name, version: Some(version), told: false })
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let all = std::fs::read_dir(folder).into_iter().flatten().flatten();
    all.take(ENTRIES_MAX).map(|entry| entry.path())
}

/// The package of npm that a file is of.
fn of_node(file: &Path) -> Option<LaunchPackage> {
    let text = file.to_str()?;
    let (before, behind) = text.rsplit_once("/node_modules/")?;
    let parts = if behind.starts_with('@') { 2 } else { 1 };
    let folder: PathBuf = behind.split('/').take(parts).collect();
    let (name, version) =
        described(&Path::new(before).join("node_modules").join(&folder).join("package.json"))?;
    if Path::new(&name) != folder {
        return None;
    }
    Some(LaunchPackage { source: PackageSource::Npm, name, version: Some(version), told: false })
}

/// Name and version that a `package.json` tells.
fn described(at: &Path) -> Option<(String, String)> {
    let size = std::fs::metadata(at).ok().filter(|found| found.is_file())?.len();
    let bytes = (size <= DESCRIBED_MAX).then(|| std::fs::read(at).ok()).flatten()?;
    let told: Value = serde_json::from_slice(&bytes).ok()?;
    let word = |name: &str| told.get(name)?.as_str().map(|word| word.chars().take(214).collect::<String>());
    Some((word("name")?, word("version")?))
}
