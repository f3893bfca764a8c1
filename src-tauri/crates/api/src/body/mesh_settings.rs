//! What a person gives for the mesh, as far as it can be told right or wrong before anything is opened.

use crate::files::absolute;
use crate::{Host, usage};
use mesh::pairing::{MEETING_LETTERS, SECRET_LETTERS};
use mesh::{CAPABILITIES_MAX, RELAYS_MAX};
use model::gateway::CODE_ALPHABET;
use model::visible::is_hidden;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use wire::mesh::Set;
use wire::task::Reasoner;
use wire::{Code, Error};

/// Bytes of a name, an alias or an address.
const TEXT_BYTES_MAX: usize = 128;
/// Bytes of the address of a relay.
const RELAY_BYTES_MAX: usize = 256;

/// What is to be set, with what was spelled in another way spelled in one: folders as they are on this machine, nothing for blanks.
pub(super) fn fit(host: &dyn Host, p: Set) -> Result<Set, Error> {
    let name = p.name.map(|name| fit_name("name", &name)).transpose()?;
    let relays = p.relays.map(fit_relays).transpose()?;
    let listen = p.listen.map(|at| fit_listen(&at)).transpose()?;
    let folders = p.folders.map(|folders| fit_folders(host, folders)).transpose()?;
    let model = p.model.map(|address| address.trim().to_owned());
    if let Some(address) = model.clone().filter(|address| !address.is_empty()) {
        host.reasoning(&Reasoner::Address { address })?;
    }
    Ok(Set { on: p.on, name, relays, listen, folders, model, signed: None })
}

/// A name without blanks around it, which can be read.
fn fit_name(what: &str, name: &str) -> Result<String, Error> {
    let name = name.trim();
    match name {
        "" => Err(usage(format!("`{what}` is empty: give a name of one letter at least"))),
        name if name.len() > TEXT_BYTES_MAX || name.chars().any(is_hidden) => Err(usage(format!(
            "`{what}` is no name: it has at most {TEXT_BYTES_MAX} bytes, and letters that can be seen"
        ))),
        name => Ok(name.to_owned()),
    }
}

fn fit_relays(relays: Vec<String>) -> Result<Vec<String>, Error> {
    let mut kept: Vec<String> = Vec::new();
    for relay in relays {
        let relay = relay.trim().trim_end_matches('/').to_owned();
        if !is_relay(&relay) {
            return Err(usage(format!("`{relay}` is no address of a relay"))
                .hint("it looks like `wss://relay.example.org`"));
        }
        if !kept.contains(&relay) {
            kept.push(relay);
        }
    }
    if kept.len() > RELAYS_MAX {
        return Err(usage(format!(
            "a machine reads at {RELAYS_MAX} relays at most, and {} are named",
            kept.len()
        )));
    }
    Ok(kept)
}

fn is_relay(address: &str) -> bool {
    let rest = address.strip_prefix("wss://").or_else(|| address.strip_prefix("ws://"));
    address.len() <= RELAY_BYTES_MAX
        && rest.is_some_and(|rest| {
            rest.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[')
                && !rest.chars().any(|letter| letter.is_whitespace() || is_hidden(letter) || letter == '@')
        })
}

/// Where this machine listens; an empty text for nowhere.
fn fit_listen(at: &str) -> Result<String, Error> {
    let at = at.trim();
    if at.is_empty() {
        return Ok(String::new());
    }
    let says = |why: &str| {
        usage(format!("`{at}` {why}"))
            .hint("give an address of this machine and a port, such as `192.168.1.5:7447`")
    };
    let address: SocketAddr = at.parse().map_err(|_| says("is no address and port"))?;
    if address.ip().is_unspecified() || address.ip().is_multicast() {
        return Err(says("is the address of no machine: the others are told where they reach this one"));
    }
    Ok(address.to_string())
}

fn fit_folders(
    host: &dyn Host,
    folders: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Error> {
    if folders.len() > CAPABILITIES_MAX {
        return Err(usage(format!(
            "at most {CAPABILITIES_MAX} folders are told, and {} are named",
            folders.len()
        )));
    }
    let mut kept = BTreeMap::new();
    for (alias, path) in folders {
        let alias = fit_name("alias of a folder", &alias)?;
        if alias.contains(['/', '\\']) {
            return Err(usage(format!(
                "`{alias}` is a path, and other machines are told an alias, never a path"
            ))
            .hint("write `alias=/path`, such as `notes=/home/you/notes`"));
        }
        let root = host.workspace(&absolute("folders", &path)?)?;
        let root = root
            .to_str()
            .map(str::to_owned)
            .ok_or_else(|| usage(format!("the path `{path}` is not UTF-8")))?;
        kept.insert(alias, root);
    }
    Ok(kept)
}

/// Whether a text can be a code at all.
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

/// Where both machines meet: relays, or the other machine itself.
pub(super) fn fit_meeting(at: &[String]) -> Result<(), Error> {
    if at.len() > RELAYS_MAX {
        return Err(usage(format!("at most {RELAYS_MAX} places to meet are named")));
    }
    let wrong = at.iter().find(|at| !is_relay(at.trim().trim_end_matches('/')) && !is_machine(at.trim()));
    match wrong {
        None => Ok(()),
        Some(at) => Err(Error::new(Code::Usage, format!("`{at}` is no place where machines meet"))
            .hint("name a relay, such as `wss://relay.example.org`, or the other machine, such as `192.168.1.5:7447`")),
    }
}

/// A host and a port.
fn is_machine(at: &str) -> bool {
    let named = at.rsplit_once(':').is_some_and(|(host, port)| {
        let is_host = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
        !host.is_empty() && host.chars().all(is_host) && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    at.len() <= TEXT_BYTES_MAX && (named || at.parse::<SocketAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn relays_are_addresses_of_relays_each_once() {
        let given = ["wss://a.example/", " wss://a.example", "ws://127.0.0.1:7000", "wss://[::1]:7/x"];
        let kept = fit_relays(given.map(str::to_owned).to_vec()).unwrap();
        assert_eq!(kept, ["wss://a.example", "ws://127.0.0.1:7000", "wss://[::1]:7/x"]);
        for wrong in
            ["", "https://a.example", "wss://", "wss:///x", "wss://a b", "wss://user@a.example", "a.example"]
        {
            assert_eq!(fit_relays(vec![wrong.to_owned()]).unwrap_err().code, Code::Usage, "{wrong}");
        }
        let many = (0..9).map(|n| format!("wss://{n}.example")).collect();
        assert!(fit_relays(many).unwrap_err().message.contains("8 relays"));
    }

    #[test]
    fn a_machine_listens_at_an_address_that_it_has_or_nowhere() {
        assert_eq!(fit_listen(" 192.168.1.5:7447 ").unwrap(), "192.168.1.5:7447");
        assert_eq!(fit_listen("  ").unwrap(), "");
        for wrong in ["0.0.0.0:7447", "[::]:7447", "224.0.0.1:1", "7447", "host:7447", "192.168.1.5"] {
            assert_eq!(fit_listen(wrong).unwrap_err().code, Code::Usage, "{wrong}");
        }
    }

    #[test]
    fn what_is_no_code_and_no_place_to_meet_is_told_before_anything_is_sent() {
        for code in ["ABCD-EFGHJK", "abcd efgh jk", "ABCDEFGHJK"] {
            fit_code(code).unwrap();
        }
        for wrong in ["", "ABCD-EFGHJ", "ABCD-EFGHJKL", "ABCD-EFGHJ0", "ABCD-EFGHJI"] {
            assert_eq!(fit_code(wrong).unwrap_err().code, Code::Usage, "{wrong}");
        }
        fit_meeting(
            &["wss://a.example", "192.168.1.5:7447", "desk.local:7447", "[::1]:80"].map(str::to_owned),
        )
        .unwrap();
        for wrong in ["", "desk", "desk:0", "desk:70000", "a b:80", "https://a.example"] {
            assert!(fit_meeting(&[wrong.to_owned()]).unwrap_err().message.contains(wrong), "{wrong}");
        }
        assert!(fit_meeting(&vec!["wss://a.example".to_owned(); 9]).is_err());
    }

    #[test]
    fn a_name_can_be_read() {
        assert_eq!(fit_name("name", " my desk ").unwrap(), "my desk");
        for wrong in ["", "  ", "a\u{202e}b", &"x".repeat(129)] {
            assert_eq!(fit_name("name", wrong).unwrap_err().code, Code::Usage, "{wrong}");
        }
    }
}
