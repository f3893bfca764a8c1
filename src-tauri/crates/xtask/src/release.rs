//! Makes a release: programs that tell nothing of this machine, with a signed statement of what they were made of.

use crate::app::BESIDE;
use crate::gather;
use crate::place::Place;
use crate::setup::{Purpose, setup};
use crate::shell::{say, spelled};
use crate::{Problem, app, archive, chores, licence_texts, pages, reproducible};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, Stdio};

/// What a person said.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    key: PathBuf,
    out: PathBuf,
    /// Programs that were built already.
    programs: Option<PathBuf>,
    /// Whether those were built so that others get the same bytes.
    is_remapped: bool,
    /// Keeps the log of releases.
    log: PathBuf,
}

/// The pages among the programs of a release, as `hermit update` looks for them.
const PAGES: &str = "hermit-pages";
/// How the names of packages end.
const PACKAGES: [&str; 6] = ["deb", "rpm", "AppImage", "dmg", "msi", "exe"];
const USAGE: &str = "cargo xtask release --key FILE --out DIR [--programs DIR [--remapped]] [--log DIR]";

fn asked(words: &[String]) -> Result<Asked, Problem> {
    let (mut key, mut out, mut programs, mut log, mut is_remapped) = (None, None, None, None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let place = match word.as_str() {
            "--remapped" => {
                is_remapped = true;
                continue;
            }
            "--key" => &mut key,
            "--out" => &mut out,
            "--programs" => &mut programs,
            "--log" => &mut log,
            other => return Err(format!("`{other}` means nothing here: {USAGE}")),
        };
        let value = words.next().ok_or_else(|| format!("`{word}` needs a value: {USAGE}"))?;
        *place = Some(absolute(value).map_err(|e| format!("`{value}`: {e}"))?);
    }
    let (Some(key), Some(out)) = (key, out) else {
        return Err(format!("a key and a folder are needed: {USAGE}"));
    };
    // Beside the key: it outlives checkouts and caches, as the key does.
    let log = log.unwrap_or_else(|| key.with_file_name("hermit-releases"));
    is_remapped = is_remapped || programs.is_none();
    Ok(Asked { key, out, programs, is_remapped, log })
}

/// Builds the programs, or takes those of a folder, and makes a signed release of them.
pub fn release(place: &Place, words: &[String]) -> Result<(), Problem> {
    let asked = asked(words)?;
    outside(&asked.key, &place.root)?;
    let git = |words: &[&str]| reproducible::said(Command::new("git").current_dir(&place.root).args(words));
    let status = ["status", "--porcelain", "--untracked-files=all"];
    if !git(&status)?.is_empty() {
        return Err("a release is of a commit, and there is something here that is not committed".to_owned());
    }
    let (commit, committed_at) = (git(&["rev-parse", "HEAD"])?, reproducible::committed_at(&place.root)?);
    let (builder, toolchain) = match &asked.programs {
        Some(_) => ("built elsewhere", "not known: built elsewhere".to_owned()),
        None => {
            let version = reproducible::said(Command::new("rustc").current_dir(&place.root).arg("-V"))?;
            ("cargo xtask release", version)
        }
    };
    setup(Purpose::Start)?;
    // The app has them inside.
    pages::interface_anew(place)?;
    let folder = match &asked.programs {
        Some(folder) => folder.clone(),
        None => built(place, &committed_at)?,
    };
    let version = version(&place.root)?;
    let mut programs = programs_of(&folder, &version)?;
    // The model in the box is in packages alone.
    let texts = licence_texts::packaged(place, programs.iter().any(|path| is_package(path)))?;
    programs.push(archived(&place.root.join("ui/dist"), &place.target)?);
    let source = source(&place.root)?;
    if git(&["rev-parse", "HEAD"])? != commit || !git(&status)?.is_empty() {
        return Err("the source was changed while the release was made".to_owned());
    }
    let mut maker = place.cargo();
    maker.args(["run", "--quiet", "-p", "hermit-proof", "--bin", "hermit-release", "--"]);
    for (name, path) in [
        ("--key", &asked.key),
        ("--out", &asked.out),
        ("--log", &asked.log),
        ("--root", &place.root),
        ("--texts", &texts),
    ] {
        maker.arg(name).arg(path);
    }
    let system = app::triple()?;
    maker.args(["--version", &version, "--system", &system, "--commit", &commit]);
    maker.args(["--committed-at", &committed_at, "--builder", builder, "--toolchain", &toolchain]);
    maker.args(asked.is_remapped.then_some("--paths-remapped")).args(&programs);
    fed(&mut maker, &source)?;
    say(&format!("check it with `hermit-verify --release {} --key KEY`", asked.out.display()));
    Ok(())
}

/// Whether the key lies where no commit can take it along.
fn outside(key: &Path, root: &Path) -> Result<(), Problem> {
    let real = |path: &Path| path.canonicalize().map_err(|e| format!("`{}`: {e}", path.display()));
    if real(key)?.starts_with(real(root)?) {
        return Err(format!("the key `{}` lies in the checkout; keep it elsewhere", key.display()));
    }
    Ok(())
}

/// Builds the programs with the folders of this machine taken out, in a target folder of their own.
fn built(place: &Place, committed_at: &str) -> Result<PathBuf, Problem> {
    let target = place.target.join("remapped");
    let mut cargo = reproducible::cargo(place, &place.root, &target, committed_at)?;
    cargo.arg("--bins").args(chores::PROGRAMS.iter().flat_map(|package| ["-p", package]));
    if app::can_build() {
        cargo.args(["-p", app::PACKAGE]);
    } else {
        say("the app cannot be built here, so this release has none; what is missing is said above");
    }
    crate::shell::run(&mut cargo)?;
    Ok(target.join("release"))
}

/// Whether a file is a package that `bundle` made, by how its name ends. On Windows a program ends as an installer does.
fn is_package(path: &Path) -> bool {
    let is_named = |name: &&str| path.file_stem().is_some_and(|stem| stem == *name);
    !BESIDE.iter().chain([&app::PACKAGE]).any(is_named)
        && path.extension().is_some_and(|ending| PACKAGES.iter().any(|one| ending == *one))
}

/// The programs of a folder, the app where it is among them, and the packages that `bundle` made of them.
fn programs_of(folder: &Path, version: &str) -> Result<Vec<PathBuf>, Problem> {
    let mut programs = Vec::new();
    for name in BESIDE {
        let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if !program.is_file() {
            return Err(format!("there is no `{}`", program.display()));
        }
        programs.push(program);
    }
    // What an update starts in the place of an installed app; on macOS that is a folder of files.
    let app = folder.join(format!("{}{}", app::PACKAGE, std::env::consts::EXE_SUFFIX));
    if app.is_file() && std::env::consts::OS != "macos" {
        programs.push(app);
    }
    let kinds = fs::read_dir(folder.join("bundle")).into_iter().flatten().flatten();
    let files = kinds.flat_map(|kind| fs::read_dir(kind.path())).flatten().flatten().map(|file| file.path());
    let mut packages: Vec<PathBuf> = files.filter(|path| path.is_file() && is_package(path)).collect();
    packages.sort();
    let is_other =
        |path: &&PathBuf| !path.file_name().is_some_and(|name| name.to_string_lossy().contains(version));
    if let Some(other) = packages.iter().find(is_other) {
        return Err(format!("`{}` is not of version {version}", other.display()));
    }
    programs.append(&mut packages);
    Ok(programs)
}

/// The built pages as one file, which an update lays out beside its program.
fn archived(pages: &Path, target: &Path) -> Result<PathBuf, Problem> {
    let failed = |e: std::io::Error| format!("the pages of `{}` cannot be archived: {e}", pages.display());
    let names = gather::listed(pages).map_err(failed)?;
    let mut files = gather::read(pages, &names).map_err(failed)?;
    files.values_mut().for_each(|(is_executable, _)| *is_executable = false);
    if !files.contains_key("index.html") {
        return Err(format!("`{}` holds no built pages", pages.display()));
    }
    let path = target.join(PAGES);
    fs::write(&path, archive::pack(&files).map_err(|e| e.to_string())?).map_err(failed)?;
    Ok(path)
}

/// The archive of what git tracks, as a release build of `hermit` carries it.
fn source(root: &Path) -> Result<Vec<u8>, Problem> {
    let listed = Command::new("git").current_dir(root).args(["ls-files", "-z", "--cached"]).output();
    let listed = listed.map_err(|e| format!("git could not be started: {e}"))?;
    let listed = String::from_utf8(listed.stdout).map_err(|e| e.to_string())?;
    let names: BTreeSet<String> =
        listed.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let files = gather::read(root, &names).map_err(|e| format!("the source cannot be read: {e}"))?;
    archive::pack(&files).map_err(|e| e.to_string())
}

/// The version of the workspace.
pub fn version(root: &Path) -> Result<String, Problem> {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).map_err(|e| format!("Cargo.toml: {e}"))?;
    let package = manifest.split_once("[workspace.package]").map(|(_, behind)| behind);
    let line = package.and_then(|behind| behind.lines().find_map(|line| line.strip_prefix("version = \"")));
    let version = line.and_then(|rest| rest.strip_suffix('"'));
    version.map(str::to_owned).ok_or_else(|| "Cargo.toml does not say which version this is".to_owned())
}

/// Runs a program to its end with these bytes as its input.
fn fed(command: &mut Command, input: &[u8]) -> Result<(), Problem> {
    let shown = spelled(command);
    let failed = |e: std::io::Error| format!("`{shown}` could not be started: {e}");
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(failed)?;
    // One that ends before it has read all says itself why.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    match child.wait().map_err(failed)? {
        status if status.success() => Ok(()),
        status => Err(format!("no release was made ({status})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn programs_that_were_built_elsewhere_count_as_remapped_only_where_somebody_says_so() {
        let told =
            |text: &str| asked(&words(text)).map(|asked| (asked.programs.is_some(), asked.is_remapped));
        assert_eq!(told("--key /k/key.pem --out /o"), Ok((false, true)));
        assert_eq!(told("--key /k/key.pem --out /o --programs /p"), Ok((true, false)));
        assert_eq!(told("--key /k/key.pem --out /o --programs /p --remapped"), Ok((true, true)));
        for odd in ["--key /k", "--out /o", "--key", "--key /k --out /o more"] {
            assert!(told(odd).is_err(), "{odd}");
        }
        let log = asked(&words("--key /k/key.pem --out /o")).map(|asked| asked.log);
        assert!(log.is_ok_and(|log| log.ends_with("k/hermit-releases")));
    }

    #[test]
    fn a_package_is_told_from_a_program_also_where_both_end_alike() {
        for package in ["Hermit_0.1.0_amd64.deb", "Hermit-0.1.0-1.x86_64.rpm", "Hermit_0.1.0_x64-setup.exe"] {
            assert!(is_package(Path::new(package)), "{package}");
        }
        for program in
            ["hermit", "hermit.exe", "hermit-desktop", "hermit-desktop.exe", "hermit-verify.exe", "a.txt"]
        {
            assert!(!is_package(Path::new(program)), "{program}");
        }
    }

    #[test]
    fn the_app_of_a_folder_of_programs_is_in_a_release_and_a_folder_without_one_makes_one_as_well() {
        let folder = std::env::temp_dir().join(format!("hermit-programs-{}", std::process::id()));
        fs::create_dir_all(folder.join("bundle/deb")).expect("a folder");
        let suffix = std::env::consts::EXE_SUFFIX;
        for name in BESIDE {
            fs::write(folder.join(format!("{name}{suffix}")), "a program").expect("a file");
        }
        fs::write(folder.join("bundle/deb/Hermit_1.2.3_amd64.deb"), "a package").expect("a file");
        let names = |programs: Result<Vec<PathBuf>, Problem>| -> Vec<String> {
            let programs = programs.expect("programs");
            programs
                .iter()
                .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
                .collect()
        };
        let without = names(programs_of(&folder, "1.2.3"));
        fs::write(folder.join(format!("{}{suffix}", app::PACKAGE)), "an app").expect("a file");
        let with = names(programs_of(&folder, "1.2.3"));
        let other = programs_of(&folder, "1.2.4");
        fs::remove_dir_all(&folder).expect("it goes");
        assert_eq!(without.len(), BESIDE.len() + 1, "{without:?}");
        let has_app = with.contains(&format!("{}{suffix}", app::PACKAGE));
        assert_eq!(has_app, std::env::consts::OS != "macos", "{with:?}");
        assert!(other.is_err_and(|why| why.contains("is not of version 1.2.4")));
    }

    #[test]
    fn built_pages_become_one_file_that_is_the_same_each_time() {
        let folder = std::env::temp_dir().join(format!("hermit-pages-{}", std::process::id()));
        let dist = folder.join("dist");
        fs::create_dir_all(dist.join("assets")).expect("a folder");
        fs::write(dist.join("assets/a.js"), "1").expect("a file");
        let none = archived(&dist, &folder);
        fs::write(dist.join("index.html"), "<p>").expect("a file");
        let made = archived(&dist, &folder).map(|path| fs::read(path).expect("a file"));
        fs::remove_dir_all(&folder).expect("it goes");
        assert!(none.is_err_and(|why| why.contains("no built pages")));
        let made = made.expect("an archive");
        let read = archive::Archive::read(&made).expect("an archive");
        let paths: Vec<&str> = read.files().iter().map(|file| file.path).collect();
        assert_eq!(paths, ["assets/a.js", "index.html"]);
    }

    #[test]
    fn a_key_in_the_checkout_is_refused_and_the_version_of_the_workspace_is_read() {
        let folder = std::env::temp_dir().join(format!("hermit-release-{}", std::process::id()));
        let root = folder.join("checkout");
        fs::create_dir_all(&root).expect("a folder");
        fs::write(root.join("key.pem"), "a key").expect("a file");
        fs::write(folder.join("key.pem"), "a key").expect("a file");
        fs::write(root.join("Cargo.toml"), "[workspace.package]\nedition = \"2024\"\nversion = \"1.2.3\"\n")
            .expect("a file");
        let (inside, beside) =
            (outside(&root.join("key.pem"), &root), outside(&folder.join("key.pem"), &root));
        let read = version(&root);
        fs::remove_dir_all(&folder).expect("it goes");
        assert!(inside.is_err_and(|why| why.contains("lies in the checkout")));
        assert_eq!((beside, read), (Ok(()), Ok("1.2.3".to_owned())));
    }
}
