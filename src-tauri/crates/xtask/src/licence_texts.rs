//! The licence texts of everything in the programs, gathered from the unpacked sources of the registries into one file. It lies beside the
//! programs in every package, and `hermit licences` prints it. A package that has no text of its own is named in it, with the
//! licence that it says of itself.

use crate::packages::{Rules, of_npm};
use crate::place::{Place, cargo_home};
use crate::shell::{say, spelled};
use crate::{Problem, app, chores, dependencies, model_box, reproducible};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the file, in packages and releases.
pub const FILE: &str = "licence-texts.txt";
/// How the file begins.
pub const HEAD: &str = "Licence texts of what is in the programs of Hermit";
/// How names of files begin that hold a licence, in capitals.
const BEGINNINGS: [&str; 7] =
    ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE", "LICENSING"];
/// A folder whose files are all licences, in capitals.
const ALL_OF: [&str; 2] = ["LICENSES", "LICENCES"];
/// Endings of files that are code or data, whatever their names begin with.
const NO_TEXT: [&str; 10] = ["rs", "toml", "json", "js", "ts", "py", "c", "h", "html", "sh"];
/// Folders of a package that are in no program.
const LEFT_OUT: [&str; 7] = ["tests", "test", "benches", "examples", "node_modules", "target", ".git"];
/// How deep below a package's folder texts lie: code that a package brings along has its own.
const DEPTH_MAX: usize = 2;
/// Bytes of one text.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;
/// Packages of npm that the lock calls needed for building alone, and that the page which verifies has inside.
const IN_PAGES: [&str; 2] = ["@noble/curves", "@noble/hashes"];
/// Types of TypeScript, which leave nothing in a program.
const TYPES: &str = "@types/";
/// Licences that Rust's library is under, as its documentation names their files.
const OF_RUST: [&str; 2] = ["Apache-2.0.txt", "MIT.txt"];

/// A package that is in a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Taken {
    /// Its name and version.
    name: String,
    /// The licence that it says of itself.
    licence: Option<String>,
    /// Its texts; none where it has none.
    texts: Vec<String>,
}

/// What texts are gathered of.
#[derive(Debug, Clone, Copy, Default)]
pub struct Programs<'a> {
    /// Packages of ours.
    pub ours: &'a [&'a str],
    /// Whether the model in the box is among them.
    pub sidecar: bool,
    /// The system that they are for, as the compiler calls it; this one where none is named.
    pub target: Option<&'a str>,
}

/// Gathers the texts of what is in these programs; where the file is.
pub fn make(place: &Place, programs: &Programs<'_>) -> Result<PathBuf, Problem> {
    let (licences, rules) = dependencies::lists(&place.root)?;
    let rules = Rules::read(&licences, &rules)?;
    let mut crates = tree(place, &place.root, programs.ours, programs.target)?;
    if programs.sidecar {
        crates.extend(tree(place, &place.root.join(model_box::FOLDER), &[], programs.target)?);
    }
    crates.sort();
    crates.dedup();
    let sources = registries()?;
    let mut all = vec![ourselves(place)?, rust(place)?];
    for (name, version) in crates {
        let folder = sources.iter().map(|one| one.join(format!("{name}-{version}"))).find(|one| one.is_dir());
        let unpacked =
            || format!("the source of the crate `{name} {version}` is not unpacked here; run `cargo fetch`");
        let texts = texts_of(&folder.ok_or_else(unpacked)?)?;
        let licence = rules.licence(&name).map(str::to_owned);
        all.push(Taken { name: format!("{name} {version}"), licence, texts });
    }
    all.append(&mut of_pages(&place.root)?);
    let missing = all.iter().filter(|one| one.texts.is_empty()).count();
    let folder = place.target.join("licences");
    let file = folder.join(FILE);
    let unwritten = |e: std::io::Error| format!("cannot write `{}`: {e}", file.display());
    fs::create_dir_all(&folder).map_err(unwritten)?;
    fs::write(&file, assembled(all)).map_err(unwritten)?;
    say(&format!(
        "licence texts are in `{}`; {missing} packages bring none, and are named in it",
        file.display()
    ));
    Ok(file)
}

/// Hermit's own licence.
fn ourselves(place: &Place) -> Result<Taken, Problem> {
    let text =
        fs::read_to_string(place.root.join("LICENSE")).map_err(|e| format!("cannot read `LICENSE`: {e}"))?;
    Ok(Taken { name: "hermit".to_owned(), licence: Some("MIT OR Apache-2.0".to_owned()), texts: vec![text] })
}

/// Rust's library, which is in every program.
fn rust(place: &Place) -> Result<Taken, Problem> {
    let version = reproducible::said(Command::new("rustc").current_dir(&place.root).arg("-V"))?;
    let root =
        reproducible::said(Command::new("rustc").current_dir(&place.root).args(["--print", "sysroot"]))?;
    let folder = Path::new(&root).join("share/doc/rust/licenses");
    let texts = OF_RUST.iter().filter_map(|name| fs::read_to_string(folder.join(name)).ok()).collect();
    let name = format!("the library of {version}");
    Ok(Taken { name, licence: Some("MIT OR Apache-2.0".to_owned()), texts })
}

/// Folders with the unpacked sources of crates, one for each registry.
fn registries() -> Result<Vec<PathBuf>, Problem> {
    let folder = cargo_home()?.join("registry/src");
    let entries = fs::read_dir(&folder).map_err(|e| format!("cannot read `{}`: {e}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
}

/// Crates of others in these packages, as name and version; of all in the folder where no package is said.
fn tree(
    place: &Place,
    folder: &Path,
    ours: &[&str],
    target: Option<&str>,
) -> Result<Vec<(String, String)>, Problem> {
    let mut cargo = place.cargo();
    cargo.args(["tree", "--locked", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    cargo.args(["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]);
    cargo.args(ours.iter().flat_map(|package| ["-p", package]));
    cargo.args(target.into_iter().flat_map(|target| ["--target", target]));
    let shown = spelled(&cargo);
    let output = cargo.output().map_err(|e| format!("`{shown}` could not be started: {e}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{shown}` failed ({}): {}", output.status, why.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(crate_of).collect())
}

/// Reads `name v1.2.3`, with `(*)` behind it where cargo has said it before; what has its folder behind it is ours.
fn crate_of(line: &str) -> Option<(String, String)> {
    let (name, rest) = line.trim().split_once(" v")?;
    let (version, behind) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_others = behind.split(' ').all(|word| ["", "(*)"].contains(&word));
    is_others.then(|| (name.to_owned(), version.to_owned()))
}

/// Packages of npm that the pages have inside.
fn of_pages(root: &Path) -> Result<Vec<Taken>, Problem> {
    let lock = fs::read_to_string(root.join("package-lock.json"));
    let lock = lock.map_err(|e| format!("cannot read `package-lock.json`: {e}"))?;
    let is_inside = |name: &str, only_to_build: bool| {
        (!only_to_build || IN_PAGES.contains(&name)) && !name.starts_with(TYPES)
    };
    let packages = of_npm(&lock).into_iter().filter(|one| is_inside(&one.name, one.only_to_build));
    packages
        .map(|one| {
            let folder = root.join(&one.place);
            if !folder.is_dir() {
                return Err(format!("the package `{}` of npm is not unpacked here; run `npm ci`", one.name));
            }
            let texts = texts_of(&folder)?;
            Ok(Taken { name: format!("{} {} (npm)", one.name, one.version), licence: one.licence, texts })
        })
        .collect()
}

/// The licence texts of an unpacked package, in the order of their paths.
fn texts_of(folder: &Path) -> Result<Vec<String>, Problem> {
    let (mut files, mut open) = (Vec::new(), vec![(folder.to_owned(), 0, false)]);
    while let Some((at, depth, is_all)) = open.pop() {
        let Ok(entries) = fs::read_dir(&at) else { continue };
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let Ok(kind) = entry.file_type() else { continue };
            let capitals = name.to_uppercase();
            if kind.is_dir() && depth < DEPTH_MAX && !LEFT_OUT.contains(&name.as_str()) {
                open.push((path, depth + 1, ALL_OF.contains(&capitals.as_str())));
            } else if kind.is_file() && (is_all || is_licence(&capitals)) && !is_code(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let unread = |why: String| format!("cannot read `{}`: {why}", file.display());
        let size = fs::metadata(&file).map_err(|e| unread(e.to_string()))?.len();
        if size > TEXT_BYTES_MAX {
            return Err(unread(format!("it has {size} bytes, and a licence has at most {TEXT_BYTES_MAX}")));
        }
        let bytes = fs::read(&file).map_err(|e| unread(e.to_string()))?;
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    Ok(texts)
}

fn is_licence(capitals: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| capitals.starts_with(beginning))
}

fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|ending| NO_TEXT.iter().any(|one| ending == *one))
}

/// The file: packages without a text first, then each text once, below the names of all packages that bring it.
fn assembled(all: Vec<Taken>) -> String {
    let count = all.len();
    let (mut bare, mut order) = (Vec::new(), Vec::new());
    let mut whose: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in all {
        let licence = one.licence.unwrap_or_else(|| "no licence is named".to_owned());
        let name = format!("{}: {licence}", one.name);
        if one.texts.is_empty() {
            bare.push(name.clone());
        }
        for text in one.texts {
            // Line ends and blanks at them make no other text.
            let text =
                text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned();
            let names = whose.entry(text.clone()).or_default();
            if names.is_empty() {
                order.push(text);
            }
            if !names.contains(&name) {
                names.push(name.clone());
            }
        }
    }
    let mut file = format!("{HEAD}: {count} packages, {} texts.\n", order.len());
    if !bare.is_empty() {
        let _ = write!(file, "\nThese bring no text along ({}), and say of themselves:\n\n", bare.len());
        bare.iter().for_each(|name| file.push_str(&format!("  {name}\n")));
    }
    let rule = "=".repeat(100);
    for text in order {
        let names = whose.get(&text).map(|names| names.join("\n")).unwrap_or_default();
        let _ = write!(file, "\n{rule}\n{names}\n{rule}\n\n{text}\n");
    }
    file
}

/// The same of what is in a package: the app, the programs beside it, and with `sidecar` the model in the box.
pub fn packaged(place: &Place, sidecar: bool) -> Result<PathBuf, Problem> {
    let ours: Vec<&str> = chores::PROGRAMS.into_iter().chain([app::PACKAGE]).collect();
    make(place, &Programs { ours: &ours, sidecar, target: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_others_are_read_from_what_cargo_says_and_rooms_of_ours_are_left_out() {
        let read = |line: &str| crate_of(line).map(|(name, version)| format!("{name} {version}"));
        assert_eq!(read("serde v1.0.228"), Some("serde 1.0.228".to_owned()));
        assert_eq!(read("toml v1.2.1+spec-1.1.0 (*)"), Some("toml 1.2.1+spec-1.1.0".to_owned()));
        for ours in
            ["hermit-seal v0.1.0 (/home/ana/my hermit/src-tauri/crates/seal) (*)", "", "[dependencies]"]
        {
            assert_eq!(read(ours), None, "{ours}");
        }
    }

    #[test]
    fn texts_are_found_by_name_also_in_code_that_a_package_brings_along_and_nothing_else_is() {
        let folder = std::env::temp_dir().join(format!("hermit-texts-{}", std::process::id()));
        for (path, text) in [
            ("LICENSE-MIT", "mit"),
            ("COPYING", "copying"),
            ("license.rs", "code"),
            ("README.md", "words"),
            ("lamp/LICENSE", "lamp"),
            ("LICENSES/BSD.txt", "bsd"),
            ("tests/LICENSE", "tests"),
            ("a/b/c/LICENSE", "too deep"),
        ] {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, text).expect("a file");
        }
        let found = texts_of(&folder);
        let absent = texts_of(&folder.join("nowhere"));
        fs::write(folder.join("NOTICE"), vec![b'a'; 2 * 1024 * 1024]).expect("a file");
        let too_large = texts_of(&folder);
        fs::remove_dir_all(&folder).expect("it goes");
        assert_eq!(found, Ok(["copying", "mit", "bsd", "lamp"].map(str::to_owned).to_vec()));
        assert_eq!(absent, Ok(Vec::new()));
        assert!(too_large.is_err_and(|why| why.contains("NOTICE")));
    }

    #[test]
    fn each_text_stands_once_below_all_who_bring_it_and_who_brings_none_is_named() {
        let taken = |name: &str, texts: &[&str]| Taken {
            name: name.to_owned(),
            licence: (name != "c 3").then(|| "MIT".to_owned()),
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        };
        let file = assembled(vec![
            taken("a 1", &["Do what you like.\n"]),
            taken("b 2", &["Do what you like.  \r\n", "Name us.\n"]),
            taken("c 3", &[]),
        ]);
        let rule = "=".repeat(100);
        let wanted = format!(
            "Licence texts of what is in the programs of Hermit: 3 packages, 2 texts.\n\n\
             These bring no text along (1), and say of themselves:\n\n  c 3: no licence is named\n\n\
             {rule}\na 1: MIT\nb 2: MIT\n{rule}\n\nDo what you like.\n\n{rule}\nb 2: MIT\n{rule}\n\nName us.\n"
        );
        assert_eq!(file, wanted);
    }
}
