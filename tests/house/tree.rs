//! The checkout as the house tests read it: its root, its rooms, its text files. No git, no network.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder of the root `Cargo.toml`. Asked at run time: a test binary of a shared target folder may have
/// been compiled for another clone.
pub fn root() -> PathBuf {
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    Path::new(&here).parent().expect("tests/ lies in the root").to_owned()
}

/// One text file of the checkout.
pub struct Source {
    /// Path from the root, with forward slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// Whether this is Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The room's name for a file under `src-tauri/crates/`.
    pub fn room(&self) -> Option<&str> {
        self.path.strip_prefix("src-tauri/crates/")?.split('/').next()
    }
}

/// Every text file that belongs to the project, sorted by path. Binary files and build output are left out.
pub fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let mut found = Vec::new();
        walk(&root(), "", &mut found);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    })
}

fn walk(dir: &Path, prefix: &str, found: &mut Vec<Source>) {
    for entry in fs::read_dir(dir).expect("a project folder can be listed") {
        let entry = entry.expect("a project folder can be listed");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("a file has a type");
        if kind.is_dir() {
            if !is_build_output(&name) {
                walk(&entry.path(), &format!("{path}/"), found);
            }
        } else if kind.is_file()
            && name != ".git"
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            found.push(Source { path, text });
        }
    }
}

fn is_build_output(name: &str) -> bool {
    matches!(name, ".git" | "target" | "node_modules" | "dist" | "gen")
}

/// One room: a workspace package, as `cargo metadata` sees it.
pub struct Room {
    /// The package name without `hermit-`.
    pub name: String,
    /// The one-line purpose.
    pub description: String,
    /// Folder from the root.
    pub folder: String,
    /// The packages it needs to build, by their full names; dev-dependencies left out.
    pub needs: Vec<String>,
    /// How many test binaries it links beside its unit tests.
    pub test_binaries: usize,
}

/// Every room of the workspace, from `cargo metadata --no-deps`: no third-party crate has to be at hand.
pub fn rooms() -> &'static [Room] {
    static ROOMS: OnceLock<Vec<Room>> = OnceLock::new();
    ROOMS.get_or_init(|| {
        let root = root();
        let metadata = cargo_metadata::MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .no_deps()
            .other_options(vec!["--offline".to_owned()])
            .exec()
            .expect("cargo metadata reads the workspace");
        metadata.packages.iter().map(room).collect()
    })
}

fn room(package: &cargo_metadata::Package) -> Room {
    let manifest = package.manifest_path.as_std_path();
    let folder = manifest.parent().and_then(|p| p.strip_prefix(root()).ok());
    let needs = package.dependencies.iter();
    let needs = needs.filter(|d| d.kind != cargo_metadata::DependencyKind::Development);
    Room {
        name: short(&package.name),
        description: package.description.clone().unwrap_or_default(),
        folder: folder.expect("a room lies in the root").to_string_lossy().replace('\\', "/"),
        needs: needs.map(|d| d.name.clone()).collect(),
        test_binaries: package.targets.iter().filter(|t| t.is_test()).count(),
    }
}

/// `hermit-ledger` is the room `ledger`.
pub fn short(package: &str) -> String {
    package.strip_prefix("hermit-").unwrap_or(package).to_owned()
}
