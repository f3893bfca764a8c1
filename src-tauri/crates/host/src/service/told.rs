//! What a person is told of the service: how it stands, and what to type at a terminal.

use super::{Stands, check_passphrase_file, folder_of, look, stands};
use crate::Home;
use std::path::Path;
use wire::Code;
use wire::host::{Fact, Level, ServiceStands, ServiceState};

/// How the service stands with this store, with the fact of it for the doctor; none where no service can be.
#[must_use]
pub(crate) fn told(home: &Home) -> Option<(ServiceStands, Fact)> {
    let (state, level, value, advice) = standing(home)?;
    let words = match state {
        ServiceState::Absent | ServiceState::Ended => "install",
        ServiceState::Elsewhere | ServiceState::Broken => "install --replace",
        ServiceState::Runs => "remove",
        ServiceState::Foreign | ServiceState::Unknown => "status",
    };
    let stands =
        ServiceStands { state, says: value.clone(), command: typed(home.dir(), &format!("service {words}")) };
    Some((stands, Fact { name: "service".to_owned(), level, value, advice }))
}

/// The command of `hermit` with these words for this store, as it is typed in the shell of this system.
pub(crate) fn typed(store: &Path, words: &str) -> String {
    if crate::places::stores().is_ok_and(|standard| standard == store) {
        return format!("hermit {words}");
    }
    format!("hermit --home {} {words}", quoted(store))
}

/// A path as one word of that shell.
pub(crate) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    match std::env::consts::OS {
        "windows" => format!("\"{path}\""),
        _ => format!("'{}'", path.replace('\'', "'\\''")),
    }
}

/// How it stands, how grave that is, the same in words, and what to do about it.
fn standing(home: &Home) -> Option<(ServiceState, Level, String, String)> {
    let found = match look() {
        Ok(found) => found,
        Err(error) if error.code == Code::Failed && folder_of("HOME").is_some() => {
            return Some((ServiceState::Unknown, Level::Trouble, error.message, error.hint));
        }
        Err(_) => return None,
    };
    let file = found.file.display();
    let Some(terms) = &found.terms else {
        let foreign = format!("`{file}` is there, and Hermit did not write it");
        return Some(match found.is_there {
            true => {
                let advice = "move it away to have Hermit as a service".to_owned();
                (ServiceState::Foreign, Level::Note, foreign, advice)
            }
            false => (
                ServiceState::Absent,
                Level::Fine,
                "none; work pauses when the program that has the store open ends, and `hermit service install` changes that".to_owned(),
                String::new(),
            ),
        });
    };
    if Path::new(&terms.store) != home.dir() {
        let value = format!("for another store, `{}`", terms.store);
        return Some((ServiceState::Elsewhere, Level::Fine, value, String::new()));
    }
    let broken = |value: String| {
        let again = "run `hermit service install --replace`".to_owned();
        Some((ServiceState::Broken, Level::Trouble, value, again))
    };
    if !Path::new(&terms.program).is_file() {
        return broken(format!("its program `{}` is not there any more", terms.program));
    }
    if let Some(lost) = terms.passphrase_file.as_deref().filter(|path| !Path::new(path).is_file()) {
        return broken(format!("its passphrase file `{lost}` is not there any more"));
    }
    if let Some(Err(error)) =
        terms.passphrase_file.as_deref().map(|file| check_passphrase_file(home, Path::new(file)))
    {
        let value = format!("it starts no more: {}", error.message);
        return Some((ServiceState::Broken, Level::Trouble, value, error.hint));
    }
    let changed = if found.is_changed { ", changed by hand" } else { "" };
    let keys = match home.needs_passphrase() && terms.passphrase_file.is_none() {
        true => "; its keys stay locked after each start until you run `hermit unlock`",
        false => "",
    };
    Some(match stands() {
        Ok(Stands::Runs) => {
            (ServiceState::Runs, Level::Fine, format!("runs, by `{file}`{changed}{keys}"), String::new())
        }
        Ok(Stands::Ended(how)) => (
            ServiceState::Ended,
            Level::Trouble,
            format!("`{file}`{changed} {how}"),
            "run `hermit service install`, which starts it".to_owned(),
        ),
        Ok(Stands::Unknown(why)) => {
            (ServiceState::Unknown, Level::Note, format!("`{file}`{changed}; {why}"), String::new())
        }
        Err(error) => (ServiceState::Unknown, Level::Note, error.message, error.hint),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_the_store_where_it_is_not_the_standard_one() {
        let odd = typed(Path::new("/srv/ana's store"), "service install");
        let quoted = match std::env::consts::OS {
            "windows" => "\"/srv/ana's store\"",
            _ => "'/srv/ana'\\''s store'",
        };
        assert_eq!(odd, format!("hermit --home {quoted} service install"));
        if let Ok(standard) = crate::places::stores() {
            assert_eq!(typed(&standard, "service remove"), "hermit service remove");
        }
    }
}
