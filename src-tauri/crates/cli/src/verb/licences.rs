//! `hermit licences`: under which licence each package is that Hermit is built of, with the texts where they lie beside this program.

use super::Came;
use super::mcp_install::own_program;
use crate::args::LicencesArgs;
use crate::context::Context;
use crate::output::Tone;
use crate::text::plain;
use serde::Serialize;
use std::path::{Path, PathBuf};
use wire::{Code, Error, exit};

/// What each crate says of its licence: name, licence.
const LISTED: &str = include_str!("../../../../../tests/house/licences.tsv");
/// The file of the texts, as packages have it.
const FILE: &str = "licence-texts.txt";
/// Where packages put it, seen from the folder of this program: beside it, on Linux, in an app of macOS.
const PLACES: [&str; 3] = ["", "../lib/Hermit", "../Resources"];
/// Bytes of the texts.
const BYTES_MAX: u64 = 32 * 1024 * 1024;

#[derive(Serialize)]
struct Licences {
    /// The file of the texts, where there is one.
    file: Option<String>,
    /// What is in it.
    texts: Option<String>,
    /// Each package with the licence that it says of itself.
    packages: Vec<Package>,
}

#[derive(Serialize)]
struct Package {
    name: &'static str,
    licence: &'static str,
}

/// `hermit licences`.
pub fn licences(context: &Context, args: &LicencesArgs) -> Came {
    let program = PathBuf::from(own_program()?);
    let file = program.parent().filter(|_| !args.list).and_then(beside);
    let texts = file.as_deref().map(read).transpose()?;
    let told = Licences { file: file.map(|path| path.display().to_string()), texts, packages: packages() };
    context.out.answer(&told, |out, told| match &told.texts {
        Some(texts) => texts.lines().for_each(|line| out.whole(Tone::Plain, &plain(line))),
        None => told.packages.iter().for_each(|one| out.line(format!("{}: {}", one.name, one.licence))),
    })?;
    if told.texts.is_none() && !args.list {
        context.out.note(
            "The licence texts do not lie beside this program. Packages of Hermit have them, and in its source \
             `cargo xtask licences` gathers them.",
        );
    }
    Ok(exit::DONE)
}

fn packages() -> Vec<Package> {
    let lines = LISTED.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('\t')).map(|(name, licence)| Package { name, licence }).collect()
}

/// The file of the texts, for a program in this folder.
fn beside(folder: &Path) -> Option<PathBuf> {
    PLACES.iter().map(|place| folder.join(place).join(FILE)).find(|file| file.is_file())
}

fn read(file: &Path) -> Result<String, Error> {
    let unread = |why: String| Error::new(Code::Failed, format!("cannot read `{}`: {why}", file.display()));
    let size = std::fs::metadata(file).map_err(|e| unread(e.to_string()))?.len();
    if size > BYTES_MAX {
        return Err(unread(format!("it has {size} bytes, more than {BYTES_MAX}")));
    }
    let bytes = std::fs::read(file).map_err(|e| unread(e.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_are_found_where_each_kind_of_package_puts_them() {
        for (program, texts) in [
            ("hermit", "."),
            ("usr/bin", "usr/lib/Hermit"),
            ("Hermit.app/Contents/MacOS", "Hermit.app/Contents/Resources"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let (program, texts) = match texts {
                "." => (folder.path().join(program), folder.path().join(program)),
                _ => (folder.path().join(program), folder.path().join(texts)),
            };
            std::fs::create_dir_all(&program).unwrap();
            std::fs::create_dir_all(&texts).unwrap();
            assert_eq!(beside(&program), None);
            std::fs::write(texts.join(FILE), "a text").unwrap();
            let found = beside(&program).map(|file| read(&file).unwrap());
            assert_eq!(found.as_deref(), Some("a text"), "{}", program.display());
        }
    }

    #[test]
    fn every_package_of_the_list_has_its_licence() {
        let all = packages();
        assert!(all.len() > 800, "{}", all.len());
        assert!(all.iter().any(|one| (one.name, one.licence) == ("sha2", "MIT OR Apache-2.0")));
    }
}
