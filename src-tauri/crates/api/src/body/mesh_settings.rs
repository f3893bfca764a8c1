//! What a person gives for the mesh, as far as only the host of the command can tell it right or wrong; whoever runs the mesh checks
//! the rest.

use crate::files::absolute;
use crate::{Host, usage};
use mesh::pairing::{MEETING_LETTERS, SECRET_LETTERS};
use model::gateway::CODE_ALPHABET;
use std::collections::BTreeMap;
use wire::Error;
use wire::mesh::Set;
use wire::task::Reasoner;

/// What is to be set, with folders as they are on this machine and a model that there is.
pub(super) fn fit(host: &dyn Host, p: Set) -> Result<Set, Error> {
    let folders = p.folders.map(|folders| fit_folders(host, folders)).transpose()?;
    let model = p.model.map(|address| address.trim().to_owned());
    if let Some(address) = model.clone().filter(|address| !address.is_empty()) {
        host.reasoning(&Reasoner::Address { address })?;
    }
    Ok(Set { folders, model, signed: None, ..p })
}

/// Folders that are there and that whoever asks may name, each by its alias.
fn fit_folders(
    host: &dyn Host,
    folders: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Error> {
    let mut kept = BTreeMap::new();
    for (alias, path) in folders {
        let alias = alias.trim();
        if alias.is_empty() || alias.contains(['/', '\\']) {
            return Err(usage(format!(
                "`{alias}` is no alias: other machines know a folder by a word, never by its path"
            ))
            .hint("write the alias and then the path, such as `notes=/home/you/notes`"));
        }
        let root = host.workspace(&absolute("folders", &path)?)?;
        let root = root.to_str().ok_or_else(|| usage(format!("the path `{path}` is not UTF-8")))?;
        kept.insert(alias.to_owned(), root.to_owned());
    }
    Ok(kept)
}

/// Whether a text can be a code at all: what is none is told before another machine counts it as wrong.
pub(super) fn fit_code(code: &str) -> Result<(), Error> {
    let letters: String = code.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let letters = letters.to_ascii_uppercase();
    let many = MEETING_LETTERS + SECRET_LETTERS;
    match letters.len() == many && letters.bytes().all(|letter| CODE_ALPHABET.contains(&letter)) {
        true => Ok(()),
        false => Err(usage(format!(
            "this is no code: a code has {many} letters and digits, and neither 0, 1, I nor O"
        ))
        .hint("type it as the other machine shows it; `hermit mesh pair` shows one there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Code;

    #[test]
    fn what_is_no_code_is_told_however_it_is_written() {
        for code in ["ABCD-EFGHJK", "abcd efgh jk", "ABCDEFGHJK"] {
            fit_code(code).unwrap();
        }
        for wrong in ["", "ABCD-EFGHJ", "ABCD-EFGHJKL", "ABCD-EFGHJ0", "ABCD-EFGHJI"] {
            assert_eq!(fit_code(wrong).unwrap_err().code, Code::Usage, "{wrong}");
        }
    }
}
