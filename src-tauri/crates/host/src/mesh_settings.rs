//! What this machine is in the mesh of its person's machines, as `config.json` says it. It is off until a person turns it on.

use api::MeshShown;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use wire::mesh::Set;

/// Relays at which this machine reads: one place of those that it tells is kept for its own address.
const RELAYS_SET_MAX: usize = mesh::RELAYS_MAX - 1;
/// The longest address of a relay, in bytes.
const RELAY_BYTES_MAX: usize = 256;
/// The longest name of this machine, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// The longest alias of a folder, in bytes.
const ALIAS_BYTES_MAX: usize = 64;
/// The longest address of a model, in bytes.
const MODEL_BYTES_MAX: usize = 512;
/// How the address begins at which a machine is reached directly.
pub const DIRECT: &str = "hermit://";

/// This machine in the mesh.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeshSettings {
    /// Whether it is on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub on: bool,
    /// As its person calls it; the name that the system has when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Addresses of relays at which it reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relays: Vec<String>,
    /// Where paired machines of the same network reach it; nowhere when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    /// Folders that other machines may send goals to, by alias.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub folders: BTreeMap<String, PathBuf>,
    /// Who proposes in goals of other machines; the standard model when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether everybody who reads its relays may see that it is here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
}

impl MeshSettings {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What no setting can be, in words.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), String> {
        if let Some(name) = &self.name {
            is_name("a name", name, NAME_BYTES_MAX)?;
        }
        if self.relays.len() > RELAYS_SET_MAX {
            return Err(format!("`relays` are {RELAYS_SET_MAX} at most"));
        }
        for url in &self.relays {
            if relay(url)? != *url {
                return Err(format!("`{url}` is written `{}`", relay(url)?));
            }
        }
        if let Some(at) = self.listen {
            let ip = at.ip().to_canonical();
            let is_one = at.port() != 0 && !ip.is_unspecified() && !ip.is_multicast();
            if !is_one {
                return Err(format!(
                    "`{at}` is nowhere that other machines can reach; name the address that this machine has in \
                     its network, and a port, such as `192.168.1.5:7447`"
                ));
            }
        }
        if self.folders.len() > mesh::CAPABILITIES_MAX {
            return Err(format!("`folders` are {} at most", mesh::CAPABILITIES_MAX));
        }
        for (alias, path) in &self.folders {
            is_name("the alias of a folder", alias, ALIAS_BYTES_MAX)?;
            if alias.contains(['/', '\\']) {
                return Err(format!("`{alias}` is a path; other machines know a folder by an alias"));
            }
            if !path.is_absolute() {
                return Err(format!("the folder `{alias}` is `{}`; give an absolute path", path.display()));
            }
        }
        if let Some(model) = &self.model {
            is_name("the address of a model", model, MODEL_BYTES_MAX)?;
        }
        Ok(())
    }

    /// Takes what is said in place of what was; an empty word takes a setting away.
    ///
    /// # Errors
    /// In words, where an address is none.
    pub fn take(&mut self, wanted: &Set) -> Result<(), String> {
        let word = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        if let Some(name) = &wanted.name {
            self.name = word(name);
        }
        if let Some(all) = &wanted.relays {
            let mut relays = Vec::new();
            for url in all.iter().filter_map(word) {
                let url = relay(&url)?;
                if !relays.contains(&url) {
                    relays.push(url);
                }
            }
            self.relays = relays;
        }
        if let Some(at) = &wanted.listen {
            let none = |at: &String| format!("`{at}` is no address with a port, such as `192.168.1.5:7447`");
            let at = word(at).map(|at| at.parse::<SocketAddr>().map_err(|_| none(&at)));
            self.listen = at.transpose()?;
        }
        if let Some(all) = &wanted.folders {
            let trimmed = |(alias, path): (&String, &String)| (alias.trim().to_owned(), PathBuf::from(path));
            self.folders = all.iter().map(trimmed).collect();
        }
        if let Some(model) = &wanted.model {
            self.model = word(model);
        }
        if let Some(on) = wanted.on {
            self.on = on;
        }
        if let Some(public) = wanted.public {
            self.public = public;
        }
        self.check()
    }

    /// As surfaces show them.
    pub fn shown(&self) -> MeshShown {
        MeshShown {
            on: self.on,
            name: self.name.clone(),
            relays: self.relays.clone(),
            listen: self.listen.map(|at| at.to_string()),
            folders: self.folders.clone(),
            model: self.model.clone(),
            public: self.public,
        }
    }

    /// As its person calls it, or the system.
    pub fn machine_name(&self) -> String {
        self.name.clone().or_else(system_name).unwrap_or_else(|| "this machine".to_owned())
    }

    /// Where other machines are told to write: at its relays, and to itself where it listens.
    pub fn told(&self) -> Vec<String> {
        let own = self.listen.map(|at| format!("{DIRECT}{at}"));
        self.relays.iter().cloned().chain(own).collect()
    }
}

/// The name that the system has for this machine.
fn system_name() -> Option<String> {
    let name = crate::machine_name::machine_name()?;
    is_name("a name", &name, NAME_BYTES_MAX).ok().map(|()| name)
}

fn is_name(what: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    if text.is_empty() || text.len() > bytes_max {
        return Err(format!("{what} has 1 to {bytes_max} bytes"));
    }
    if text.chars().any(model::visible::is_hidden) || text.chars().any(char::is_control) {
        return Err(format!("{what} holds a character that nobody sees"));
    }
    Ok(())
}

/// The address of a relay, in the one spelling by which it is known.
///
/// # Errors
/// In words, when it is none.
pub fn relay(url: &str) -> Result<String, String> {
    if url.contains('@') {
        // It is not said again: a password may stand in it.
        return Err("an address of a relay holds no name and no password".to_owned());
    }
    let none = || format!("`{url}` is no address of a relay, such as `wss://relay.example`");
    if url.len() > RELAY_BYTES_MAX || url.contains('#') || !url.is_ascii() {
        return Err(none());
    }
    let parsed = url.parse::<ureq::http::Uri>().map_err(|_| none())?;
    let scheme = parsed.scheme_str().map(str::to_ascii_lowercase);
    let scheme = scheme.filter(|scheme| matches!(scheme.as_str(), "ws" | "wss")).ok_or_else(none)?;
    let at = parsed.authority().ok_or_else(none)?.as_str().to_ascii_lowercase();
    if parsed.host().is_none_or(str::is_empty) {
        return Err(none());
    }
    let path = parsed.path_and_query().map_or("", |path| path.as_str());
    Ok(format!("{scheme}://{at}{}", if path == "/" { "" } else { path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(settings: &mut MeshSettings, change: impl FnOnce(&mut Set)) -> Result<(), String> {
        let mut wanted = Set::default();
        change(&mut wanted);
        settings.take(&wanted)
    }

    #[test]
    fn what_is_not_said_stays_and_an_empty_word_takes_away() {
        let mut settings = MeshSettings::default();
        assert!(settings.is_empty() && !settings.on && !settings.public, "nothing is on by itself");
        set(&mut settings, |s| s.public = Some(true)).unwrap();
        assert!(settings.shown().public);
        set(&mut settings, |s| s.public = Some(false)).unwrap();
        let relays =
            vec![" WSS://Relay.Example/ ".to_owned(), "wss://relay.example".to_owned(), String::new()];
        set(&mut settings, |s| (s.relays, s.name) = (Some(relays), Some(" laptop ".to_owned()))).unwrap();
        assert_eq!(settings.relays, ["wss://relay.example"], "one relay in one spelling");
        set(&mut settings, |s| s.listen = Some("192.168.1.5:7447".to_owned())).unwrap();
        assert_eq!(settings.told(), ["wss://relay.example", "hermit://192.168.1.5:7447"]);
        assert_eq!((settings.machine_name().as_str(), settings.on), ("laptop", false));
        let folders = BTreeMap::from([("notes".to_owned(), "/home/kim/notes".to_owned())]);
        set(&mut settings, |s| (s.folders, s.on) = (Some(folders), Some(true))).unwrap();
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<MeshSettings>(&text).unwrap(), settings);
        set(&mut settings, |s| {
            (s.name, s.listen, s.on) = (Some(" ".to_owned()), Some(String::new()), Some(false));
            (s.relays, s.folders) = (Some(Vec::new()), Some(BTreeMap::new()));
        })
        .unwrap();
        assert!(settings.is_empty());
        assert!(!settings.machine_name().is_empty(), "the system has a name for it");
    }

    #[test]
    fn what_cannot_be_is_refused_in_words() {
        let refused = |change: &dyn Fn(&mut Set), says: &str| {
            let why = set(&mut MeshSettings::default(), |s| change(s)).expect_err(says);
            assert!(why.contains(says), "{says}: {why}");
        };
        for url in [
            "relay.example",
            "https://relay.example",
            "wss://",
            "wss://relay.example/#a",
            "hermit://10.0.0.1:1",
        ] {
            refused(&|s| s.relays = Some(vec![url.to_owned()]), "no address of a relay");
        }
        let told = set(&mut MeshSettings::default(), |s| {
            s.relays = Some(vec![concat!("wss://me:", "word@relay.example").to_owned()]);
        });
        assert!(told.is_err_and(|why| !why.contains("me:word")));
        let many = |count: usize| Some((0..count).map(|n| format!("wss://r{n}.example")).collect::<Vec<_>>());
        refused(&|s| s.relays = many(RELAYS_SET_MAX + 1), "at most");
        assert_eq!(set(&mut MeshSettings::default(), |s| s.relays = many(RELAYS_SET_MAX)), Ok(()));
        for at in ["laptop.local:7447", "192.168.1.5", "192.168.1.5:70000"] {
            refused(&|s| s.listen = Some(at.to_owned()), "no address with a port");
        }
        for at in ["0.0.0.0:7447", "[::]:7447", "192.168.1.5:0", "224.0.0.1:7447"] {
            refused(&|s| s.listen = Some(at.to_owned()), "nowhere");
        }
        let folder = |alias: &str, path: &str| Some(BTreeMap::from([(alias.to_owned(), path.to_owned())]));
        refused(&|s| s.folders = folder("a/b", "/a"), "is a path");
        refused(&|s| s.folders = folder("notes", "notes"), "absolute path");
        refused(&|s| s.folders = folder("", "/notes"), "1 to 64 bytes");
        refused(&|s| s.folders = folder("n\u{202e}otes", "/notes"), "nobody sees");
        refused(&|s| s.name = Some("n".repeat(NAME_BYTES_MAX + 1)), "1 to 128 bytes");
    }
}
