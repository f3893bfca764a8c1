//! What a package of the app has to hold: the app, the programs of the console beside it, the licence texts, the entry of the menu and its
//! icons. A `.deb` that was made is unpacked, and its `hermit` has to find what lies beside it.

use crate::Problem;
use crate::app::{BESIDE, PACKAGE};
use crate::licence_texts;
use crate::shell::{answers, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where programs lie in a package of Linux.
const PROGRAMS: &str = "./usr/bin/";
/// Files that are there under some name: what they are, and how their path begins and ends.
const OTHERS: [(&str, &str, &str); 5] = [
    ("the licence texts", "./usr/lib/", "licence-texts.txt"),
    ("the licence of Hermit", "./usr/share/doc/hermit/", "copyright"),
    ("the entry of the menu", "./usr/share/applications/", ".desktop"),
    ("the small icon", "./usr/share/icons/hicolor/32x32/apps/", ".png"),
    ("the icon", "./usr/share/icons/hicolor/128x128/apps/", ".png"),
];

/// A file of a package, as its listing tells it.
struct Listed<'a> {
    path: &'a str,
    bytes: u64,
    is_program: bool,
}

/// Reads a line of `dpkg-deb -c`: mode, owner, bytes, day, time, path. What is no file is none.
fn listed(line: &str) -> Option<Listed<'_>> {
    let mode = line.split_whitespace().next().filter(|mode| mode.starts_with('-'))?;
    let bytes = line.split_whitespace().nth(2)?.parse().ok()?;
    let path = &line[line.find(" ./")? + 1..];
    // Everybody may start it, or nobody but its owner could.
    Some(Listed { path, bytes, is_program: mode.ends_with("r-x") })
}

/// What a package lacks by its listing, one sentence each.
fn lacking(listing: &str) -> Vec<String> {
    let files: Vec<Listed<'_>> = listing.lines().filter_map(listed).collect();
    let mut found = Vec::new();
    for name in BESIDE.iter().chain([&PACKAGE]) {
        match files.iter().find(|file| file.path.strip_prefix(PROGRAMS) == Some(*name)) {
            None => found.push(format!("the program `{name}` is not in it")),
            Some(file) if file.bytes == 0 => found.push(format!("the program `{name}` is empty")),
            Some(file) if !file.is_program => found.push(format!("not everybody may start `{name}`")),
            Some(_) => {}
        }
    }
    for (what, begins, ends) in OTHERS {
        let is_it =
            |file: &Listed<'_>| file.path.starts_with(begins) && file.path.ends_with(ends) && file.bytes > 0;
        if !files.iter().any(is_it) {
            found.push(format!("{what}, `{begins}...{ends}`, is not in it"));
        }
    }
    found
}

/// Looks into each `.deb` of this version below the folder of packages, and asks the `hermit` in it for the licence texts. Where
/// there is no `dpkg-deb` it says so.
pub fn inspect(packages: &Path, version: &str) -> Result<(), Problem> {
    let files = fs::read_dir(packages.join("deb")).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_its = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(".deb") && name.contains(version)
    };
    let all: Vec<PathBuf> = files.filter(is_its).collect();
    if all.is_empty() {
        return Ok(());
    }
    if !answers("dpkg-deb", &["--version"]) {
        say("the .deb was not looked into: there is no `dpkg-deb` here");
        return Ok(());
    }
    for package in all {
        look_into(&package).map_err(|why| format!("`{}`: {why}", package.display()))?;
        say(&format!("`{}` holds what it has to", package.display()));
    }
    Ok(())
}

fn look_into(package: &Path) -> Result<(), Problem> {
    let listing = said(Command::new("dpkg-deb").arg("-c").arg(package))?;
    let lacking = lacking(&listing);
    if !lacking.is_empty() {
        return Err(lacking.join("; "));
    }
    let folder = package.with_extension("unpacked");
    let unpacked = said(Command::new("dpkg-deb").arg("-x").arg(package).arg(&folder));
    let told = unpacked.and_then(|_| {
        said(Command::new(folder.join("usr/bin/hermit")).env("HERMIT_HOME", &folder).arg("licences"))
    });
    fs::remove_dir_all(&folder).map_err(|e| format!("cannot remove `{}`: {e}", folder.display()))?;
    let begins = licence_texts::HEAD;
    if told?.starts_with(begins) {
        return Ok(());
    }
    Err("its `hermit licences` does not find the licence texts".to_owned())
}

/// What a program says on standard output.
fn said(command: &mut Command) -> Result<String, Problem> {
    let shown = crate::shell::spelled(command);
    let output = command.output().map_err(|e| format!("`{shown}` could not be started: {e}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{shown}` failed ({}): {}", output.status, why.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "\
drwxr-xr-x 0/0               0 2026-11-29 10:00 ./usr/bin/
-rwxr-xr-x 0/0        61000000 2026-11-29 10:00 ./usr/bin/hermit
-rwxr-xr-x 0/0        90000000 2026-11-29 10:00 ./usr/bin/hermit-desktop
-rwxr-xr-x 0/0         2000000 2026-11-29 10:00 ./usr/bin/hermit-exec
-rwxr-xr-x 0/0         9000000 2026-11-29 10:00 ./usr/bin/hermit-verify
-rw-r--r-- 0/0          900000 2026-11-29 10:00 ./usr/lib/Hermit/licence-texts.txt
-rw-r--r-- 0/0             300 2026-11-29 10:00 ./usr/share/applications/Hermit.desktop
-rw-r--r-- 0/0            1200 2026-11-29 10:00 ./usr/share/doc/hermit/copyright
-rw-r--r-- 0/0            2000 2026-11-29 10:00 ./usr/share/icons/hicolor/128x128/apps/hermit-desktop.png
-rw-r--r-- 0/0            1000 2026-11-29 10:00 ./usr/share/icons/hicolor/32x32/apps/hermit-desktop.png
";

    #[test]
    fn whatever_a_package_lacks_is_named_by_its_listing() {
        assert_eq!(lacking(WHOLE), Vec::<String>::new());
        for line in WHOLE.lines().skip(1) {
            let without: String =
                WHOLE.lines().filter(|other| *other != line).map(|other| format!("{other}\n")).collect();
            assert_eq!(lacking(&without).len(), 1, "{line}");
        }
        let closed = WHOLE.replace("-rwxr-xr-x 0/0         2000000", "-rwx------ 0/0         2000000");
        assert_eq!(lacking(&closed), ["not everybody may start `hermit-exec`"]);
        let empty = WHOLE.replace(" 9000000 ", "       0 ");
        assert_eq!(lacking(&empty), ["the program `hermit-verify` is empty"]);
    }

    /// Where there is no `dpkg-deb`, the listing above stands alone.
    #[cfg(unix)]
    #[test]
    fn a_deb_that_was_made_is_unpacked_and_its_hermit_is_asked() {
        use std::os::unix::fs::PermissionsExt as _;
        if !answers("dpkg-deb", &["--version"]) {
            return;
        }
        let folder = std::env::temp_dir().join(format!("hermit-deb-{}", std::process::id()));
        let tree = folder.join("tree");
        let control = "Package: hermit\nVersion: 0.1.0\nArchitecture: all\nMaintainer: Ana <ana@example.test>\nDescription: a test\n";
        let put = |path: &str, text: &str, mode: u32| {
            let file = tree.join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(&file, text).expect("a file");
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("a mode");
        };
        put("DEBIAN/control", control, 0o644);
        // Whatever this machine takes away from new folders, dpkg wants this one open to read.
        fs::set_permissions(tree.join("DEBIAN"), fs::Permissions::from_mode(0o755)).expect("a mode");
        for line in WHOLE.lines().filter_map(listed) {
            let mode = if line.is_program { 0o755 } else { 0o644 };
            put(line.path.trim_start_matches("./"), "#!/bin/sh\nexit 0\n", mode);
        }
        fs::create_dir_all(folder.join("made/deb")).expect("a folder");
        let deb = folder.join("made/deb/Hermit_0.1.0_all.deb");
        let pack = || {
            said(Command::new("dpkg-deb").args(["--root-owner-group", "-b"]).arg(&tree).arg(&deb))
                .expect("a package")
        };
        pack();
        let mute = inspect(&folder.join("made"), "0.1.0");
        put("usr/bin/hermit", &format!("#!/bin/sh\necho '{}'\n", licence_texts::HEAD), 0o755);
        pack();
        let (whole, of_another) =
            (inspect(&folder.join("made"), "0.1.0"), inspect(&folder.join("made"), "0.2.0"));
        fs::remove_file(tree.join("usr/bin/hermit-exec")).expect("it goes");
        pack();
        let lacks = inspect(&folder.join("made"), "0.1.0");
        fs::remove_dir_all(&folder).expect("it goes");
        assert!(mute.is_err_and(|why| why.contains("does not find the licence texts")));
        assert_eq!((whole, of_another), (Ok(()), Ok(())));
        assert!(lacks.is_err_and(|why| why.contains("`hermit-exec` is not in it")));
    }
}
