//! Which clocks elsewhere heads of the log are anchored at, as `config.json` says it. Nothing is set until a person does.

use kernel::command::anchors::AnchorTerms;
use model::web::WebUrl;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use wire::anchors::{ClockSettings, SetClocks};

/// Blocks that must stand before a head counts as anchored, where nobody said another number.
pub const DEPTH: u32 = 6;
/// And at most.
const DEPTH_MAX: u32 = 1_000;
/// Servers of one kind.
const SERVERS_MAX: usize = 8;
/// Hours between anchors that are made by themselves, at most: a year.
const HOURS_MAX: u32 = 366 * 24;

/// Clocks elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnchorSettings {
    /// Addresses of time-stamp authorities (RFC 3161), in the order in which they are asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authorities: Vec<String>,
    /// Addresses of calendars of OpenTimestamps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calendars: Vec<String>,
    /// The address of a Bitcoin node of one's own, with its port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitcoin_node: Option<String>,
    /// That node's cookie file, on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitcoin_cookie: Option<PathBuf>,
    /// Or the handle of the secret that holds `name:password` of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitcoin_secret: Option<String>,
    /// A file of Bitcoin's headers, where there is no node: 80 bytes each, or a line of hex each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers_file: Option<PathBuf>,
    /// Blocks, the first among them, that must stand before a head counts as anchored; 6 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Hours between anchors that are made by themselves; none are when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_hours: Option<u32>,
}

impl AnchorSettings {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What no setting can be, in words.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), String> {
        for (named, all) in [("authorities", &self.authorities), ("calendars", &self.calendars)] {
            if all.len() > SERVERS_MAX {
                return Err(format!("`{named}` are {SERVERS_MAX} at most"));
            }
        }
        for url in self.authorities.iter().chain(&self.calendars).chain(&self.bitcoin_node) {
            url.parse::<WebUrl>().map_err(|e| match url.contains('@') {
                // It is not said again: a password may stand in it.
                true => "an address holds no name and no password; a secret does".to_owned(),
                false => format!("`{url}`: {e}"),
            })?;
        }
        if self.bitcoin_cookie.is_some() && self.bitcoin_secret.is_some() {
            return Err("a Bitcoin node is shown its cookie file or a secret, not both".to_owned());
        }
        if self.depth.is_some_and(|depth| !(1..=DEPTH_MAX).contains(&depth)) {
            return Err(format!("`depth` is a number of blocks from 1 to {DEPTH_MAX}"));
        }
        if self.every_hours.is_some_and(|hours| hours > HOURS_MAX) {
            return Err(format!("`every_hours` is a number of hours up to {HOURS_MAX}; 0 for none"));
        }
        Ok(())
    }

    /// As the kernel takes them; nothing is asked of a node for this.
    pub fn terms(&self) -> AnchorTerms {
        AnchorTerms {
            authorities: self.authorities.clone(),
            calendars: self.calendars.clone(),
            node: self.bitcoin_node.clone(),
            depth: self.depth.unwrap_or(DEPTH),
            every_hours: self.every_hours.unwrap_or(0),
            fee: None,
        }
    }

    /// As surfaces show them.
    pub fn shown(&self) -> ClockSettings {
        ClockSettings {
            authorities: self.authorities.clone(),
            calendars: self.calendars.clone(),
            bitcoin_node: self.bitcoin_node.clone(),
            has_bitcoin_cookie: self.bitcoin_cookie.is_some(),
            has_bitcoin_secret: self.bitcoin_secret.is_some(),
            has_headers_file: self.headers_file.is_some(),
            depth: self.depth.unwrap_or(DEPTH),
            every_hours: self.every_hours.unwrap_or(0),
        }
    }

    /// Takes what is said in place of what was; an empty word takes a setting away.
    pub fn take(&mut self, wanted: &SetClocks) {
        let trimmed = |all: &Vec<String>| {
            let all = all.iter().map(|url| url.trim().to_owned()).filter(|url| !url.is_empty());
            all.collect::<Vec<_>>()
        };
        let word = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        if let Some(all) = &wanted.authorities {
            self.authorities = trimmed(all);
        }
        if let Some(all) = &wanted.calendars {
            self.calendars = trimmed(all);
        }
        if let Some(url) = &wanted.bitcoin_node {
            self.bitcoin_node = word(url);
        }
        if let Some(path) = &wanted.bitcoin_cookie {
            self.bitcoin_cookie = word(path).map(PathBuf::from);
        }
        if let Some(handle) = &wanted.bitcoin_secret {
            self.bitcoin_secret = word(handle);
        }
        // A node is shown one of them: the one that is named takes the place of the other.
        match (&wanted.bitcoin_cookie, &wanted.bitcoin_secret) {
            (Some(_), None) if self.bitcoin_cookie.is_some() => self.bitcoin_secret = None,
            (None, Some(_)) if self.bitcoin_secret.is_some() => self.bitcoin_cookie = None,
            _ => {}
        }
        if let Some(path) = &wanted.headers_file {
            self.headers_file = word(path).map(PathBuf::from);
        }
        if let Some(depth) = wanted.depth {
            self.depth = Some(depth).filter(|depth| *depth != DEPTH);
        }
        if let Some(hours) = wanted.every_hours {
            self.every_hours = Some(hours).filter(|hours| *hours > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_stays_and_an_empty_word_takes_away() {
        let mut settings = AnchorSettings::default();
        assert!(settings.is_empty() && settings.terms().free().is_empty(), "nothing is on by itself");
        settings.take(&SetClocks {
            calendars: Some(vec![" https://calendar.example ".to_owned(), String::new()]),
            bitcoin_node: Some("http://127.0.0.1:8332".to_owned()),
            depth: Some(2),
            ..SetClocks::default()
        });
        settings.take(&SetClocks { every_hours: Some(24), ..SetClocks::default() });
        assert_eq!(settings.check(), Ok(()));
        assert_eq!(settings.calendars, ["https://calendar.example"]);
        assert_eq!((settings.depth, settings.every_hours), (Some(2), Some(24)));
        settings.take(&SetClocks { bitcoin_cookie: Some("/cookie".to_owned()), ..SetClocks::default() });
        assert!(settings.shown().has_bitcoin_cookie && !settings.shown().has_bitcoin_secret);
        settings.take(&SetClocks { bitcoin_secret: Some("node".to_owned()), ..SetClocks::default() });
        assert_eq!(settings.check(), Ok(()), "one takes the place of the other");
        assert!(settings.shown().has_bitcoin_secret && !settings.shown().has_bitcoin_cookie);
        settings.take(&SetClocks {
            calendars: Some(Vec::new()),
            bitcoin_node: Some(String::new()),
            bitcoin_secret: Some(String::new()),
            depth: Some(DEPTH),
            every_hours: Some(0),
            ..SetClocks::default()
        });
        assert!(settings.is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |change: &dyn Fn(&mut AnchorSettings)| {
            let mut settings = AnchorSettings::default();
            change(&mut settings);
            settings.check().is_err()
        };
        assert!(refused(&|s| s.calendars = vec!["calendar".to_owned()]));
        assert!(refused(&|s| s.authorities = vec!["https://tsa.example/tsr".to_owned(); SERVERS_MAX + 1]));
        let node = Some(concat!("http://me:", "word@127.0.0.1:8332").to_owned());
        let told = AnchorSettings { bitcoin_node: node, ..AnchorSettings::default() }.check().unwrap_err();
        assert!(told.contains("a secret does") && !told.contains("me:word"), "{told}");
        assert!(refused(&|s| s.depth = Some(0)));
        assert!(refused(&|s| s.every_hours = Some(HOURS_MAX + 1)));
        assert!(refused(&|s| {
            (s.bitcoin_cookie, s.bitcoin_secret) = (Some(PathBuf::from("/cookie")), Some("node".to_owned()));
        }));
    }
}
