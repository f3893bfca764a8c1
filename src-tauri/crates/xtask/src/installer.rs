//! The installer of the console programs for Windows, for NSIS: for one person, without an administrator. Its script is made here by pure
//! code from the list of programs; `makensis` makes the installer of it where it is here.
//!
//! The path of programs that a person has set stays as it is: NSIS cuts a long one off. The menu has a console that knows the
//! programs instead.

use crate::app::BESIDE;
use crate::licence_texts::Programs;
use crate::place::Place;
use crate::shell::{answers, run, say};
use crate::{Problem, chores, licence_texts, release};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const USAGE: &str = "cargo xtask installer [--programs DIR]";
/// The system that it is for.
const SYSTEM: &str = "x86_64-pc-windows-gnu";
/// The script's name.
const SCRIPT: &str = "hermit.nsi";
/// Hermit's own licence, which is shown before anything is installed.
const LICENCE: &str = "LICENSE";
/// Where Windows keeps what can be uninstalled.
const UNINSTALL: &str = "Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\HermitConsole";

/// Files that are installed.
fn installed() -> Vec<String> {
    let programs = BESIDE.iter().map(|name| format!("{name}.exe"));
    programs.chain([LICENCE.to_owned(), licence_texts::FILE.to_owned()]).collect()
}

/// The script of the installer of a version. Its files lie beside it.
fn script(version: &str) -> String {
    let mut put = String::new();
    let mut taken = String::new();
    for file in installed() {
        let _ = writeln!(put, "  File \"{file}\"");
        let _ = writeln!(taken, "  Delete \"$INSTDIR\\{file}\"");
    }
    format!(
        "; Made by `cargo xtask installer`; do not edit.
Unicode true
Name \"Hermit {version}\"
OutFile \"hermit-console-{version}-setup.exe\"
RequestExecutionLevel user
InstallDir \"$LOCALAPPDATA\\Programs\\Hermit\"
InstallDirRegKey HKCU \"Software\\Hermit\" \"InstallDir\"
SetCompressor /SOLID lzma
LicenseData \"{LICENCE}\"
Page license
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

Section \"Hermit\"
  SetOutPath \"$INSTDIR\"
{put}  WriteUninstaller \"$INSTDIR\\uninstall.exe\"
  CreateDirectory \"$SMPROGRAMS\\Hermit\"
  CreateShortcut \"$SMPROGRAMS\\Hermit\\Hermit console.lnk\" \"$SYSDIR\\cmd.exe\" '/k set \"PATH=$INSTDIR;%PATH%\"'
  WriteRegStr HKCU \"Software\\Hermit\" \"InstallDir\" \"$INSTDIR\"
  WriteRegStr HKCU \"{UNINSTALL}\" \"DisplayName\" \"Hermit (console)\"
  WriteRegStr HKCU \"{UNINSTALL}\" \"DisplayVersion\" \"{version}\"
  WriteRegStr HKCU \"{UNINSTALL}\" \"UninstallString\" '\"$INSTDIR\\uninstall.exe\"'
  WriteRegDWORD HKCU \"{UNINSTALL}\" \"NoModify\" 1
  WriteRegDWORD HKCU \"{UNINSTALL}\" \"NoRepair\" 1
SectionEnd

Section \"Uninstall\"
  ; A service would go on looking for its program.
  nsExec::Exec '\"$INSTDIR\\hermit.exe\" --no-input service remove'
  Pop $0
{taken}  Delete \"$INSTDIR\\uninstall.exe\"
  RMDir \"$INSTDIR\"
  Delete \"$SMPROGRAMS\\Hermit\\Hermit console.lnk\"
  RMDir \"$SMPROGRAMS\\Hermit\"
  DeleteRegKey HKCU \"{UNINSTALL}\"
  DeleteRegKey HKCU \"Software\\Hermit\"
  DetailPrint \"Your tasks, keys and receipts stay where they are.\"
SectionEnd
"
    )
}

/// The folder of programs that a person named.
fn programs(words: &[String]) -> Result<Option<PathBuf>, Problem> {
    match words {
        [] => Ok(None),
        [flag, folder] if flag == "--programs" => {
            std::path::absolute(folder).map(Some).map_err(|e| format!("`{folder}`: {e}"))
        }
        other => Err(format!("`{}` means nothing here: {USAGE}", other.join(" "))),
    }
}

/// Writes the script, puts the files beside it where the programs are named, and makes the installer where `makensis` is here.
pub fn make(place: &Place, words: &[String]) -> Result<(), Problem> {
    let programs = programs(words)?;
    let version = release::version(&place.root)?;
    let folder = place.target.join("installer");
    let unwritten = |path: &Path, e: std::io::Error| format!("cannot write `{}`: {e}", path.display());
    fs::create_dir_all(&folder).map_err(|e| unwritten(&folder, e))?;
    let file = folder.join(SCRIPT);
    fs::write(&file, script(&version)).map_err(|e| unwritten(&file, e))?;
    say(&format!("the script of the installer is `{}`", file.display()));
    let Some(programs) = programs else {
        say("name the programs of Windows with `--programs DIR`, and the installer is made of it");
        return Ok(());
    };
    let inside = Programs { ours: &chores::PROGRAMS, sidecar: false, target: Some(SYSTEM) };
    let texts = licence_texts::make(place, &inside)?;
    for name in installed() {
        let from = match name.as_str() {
            LICENCE => place.root.join(LICENCE),
            licence_texts::FILE => texts.clone(),
            program => programs.join(program),
        };
        let to = folder.join(&name);
        fs::copy(&from, &to).map_err(|e| format!("cannot copy `{}`: {e}", from.display()))?;
    }
    if !answers("makensis", &["-VERSION"]) {
        say("the installer was not made: there is no `makensis` here (Debian's package `nsis` has it)");
        return Ok(());
    }
    run(Command::new("makensis").current_dir(&folder).args(["-V2", SCRIPT]))?;
    say(&format!("the installer is in `{}`", folder.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_the_one_that_was_looked_at() {
        let wanted = include_str!("installer.nsi").replace("\r\n", "\n");
        assert_eq!(script("1.2.3"), wanted);
    }

    #[test]
    fn what_is_installed_is_taken_away_again_and_nothing_else_is() {
        let script = script("1.2.3");
        let (put, taken) = script.split_once("Section \"Uninstall\"").expect("two sections");
        for name in installed() {
            assert!(put.contains(&format!("File \"{name}\"\n")), "{name}");
            assert!(taken.contains(&format!("Delete \"$INSTDIR\\{name}\"\n")), "{name}");
        }
        assert!(!taken.contains("RMDir /r") && !taken.contains("Delete \"$INSTDIR\\*"), "{taken}");
        assert!(script.contains("RequestExecutionLevel user") && !script.contains("HKLM"), "{script}");
    }

    #[test]
    fn a_folder_of_programs_is_named_by_its_word_and_nothing_else_is_taken() {
        let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(programs(&[]), Ok(None));
        assert!(programs(&words(&["--programs", "/a"])).is_ok_and(|folder| folder.is_some()));
        for odd in [&["--programs"][..], &["/a"], &["--out", "/a"]] {
            assert!(programs(&words(odd)).is_err(), "{odd:?}");
        }
    }
}
