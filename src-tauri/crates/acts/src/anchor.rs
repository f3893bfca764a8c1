//! Asking a clock elsewhere to stamp a head of the log, or how a stamp stands (mesh.md 3).

use crate::{ActionRequest, Counts, Line, LineKind, Tool, visible};
use model::action::{ActionClass, ExpectedEffect};
use model::anchor::{AnchorClock, AnchorSubject, BlockTime};
use model::artifact::{ArtifactRef, TrustTier};
use model::web::WebUrl;
use model::witness::Fingerprint;
use model::{Digest, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Servers of one act.
const SERVERS_MAX: usize = 16;
/// Letters of a nonce: 16 bytes.
const NONCE_LETTERS: usize = 32;

/// One clock is asked about one digest. Only the kernel proposes it; a model cannot call it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// The number of the anchor.
    pub number: u64,
    /// The clock.
    pub clock: AnchorClock,
    /// What it is given: 32 bytes.
    pub digest: Digest,
    /// What that is the digest of.
    pub subject: AnchorSubject,
    /// Whether it is asked how the stamp stands; else it is asked to stamp.
    pub completes: bool,
    /// Addresses of authorities, in the order in which they are asked, or of calendars.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
    /// The address of the person's own Bitcoin node, which makes a transaction, or is asked for a block when a stamp is completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// 16 bytes in hex that nobody else knows, the same for every repeat of this act.
    pub nonce: String,
    /// Blocks, the first among them, that must stand before a block counts.
    pub depth: u32,
    /// The proof as far as there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<ArtifactRef>,
    /// The block that proved it the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<BlockTime>,
    /// What a transaction may cost at most, in satoshi.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee_max: Option<u64>,
}

impl Anchor {
    /// Addresses of servers that are spoken with now.
    fn spoken_with(&self) -> impl Iterator<Item = &String> {
        let asks_node = self.completes || self.clock == AnchorClock::OpReturn;
        self.at.iter().chain(self.node.iter().filter(move |_| asks_node))
    }

    /// Every server that is spoken with, as `name:port`; none for an address that is none.
    pub fn hosts(&self) -> Option<BTreeSet<String>> {
        self.spoken_with().map(|url| url.parse::<WebUrl>().ok().map(|url| url.server())).collect()
    }

    /// Those, and the node that is asked when it is completed.
    pub fn hosts_to_the_end(&self) -> Option<BTreeSet<String>> {
        let urls = self.at.iter().chain(&self.node);
        urls.map(|url| url.parse::<WebUrl>().ok().map(|url| url.server())).collect()
    }

    /// Whether it costs money.
    pub const fn costs(&self) -> bool {
        matches!(self.clock, AnchorClock::OpReturn) && !self.completes
    }

    fn named(&self) -> String {
        match &self.subject {
            AnchorSubject::Head { size, .. } => format!("the head of your log with {size} notes"),
            AnchorSubject::Link { number } => format!("link {number} of this instance's identity"),
        }
    }

    /// The clock, as a person knows it.
    const fn kind(&self) -> &'static str {
        match self.clock {
            AnchorClock::Rfc3161 => "a time-stamp authority",
            AnchorClock::OpenTimestamps => "calendars of OpenTimestamps",
            AnchorClock::OpReturn => "Bitcoin",
        }
    }
}

impl Tool for Anchor {
    fn classes(&self) -> BTreeSet<ActionClass> {
        BTreeSet::from([ActionClass::NetworkWrite])
    }

    fn resources(&self, _: WorkspaceId) -> BTreeSet<ResourceId> {
        let urls = self.spoken_with().filter_map(|url| url.parse::<WebUrl>().ok());
        urls.map(|url| ResourceId::Host(url.host().to_owned(), url.port())).collect()
    }

    fn check(&self) -> Result<(), String> {
        if self.at.len() > SERVERS_MAX {
            return Err(format!("a clock is asked at {SERVERS_MAX} servers at most"));
        }
        if self.hosts_to_the_end().is_none() || self.hosts().is_none_or(|hosts| hosts.is_empty()) {
            return Err("a clock is asked at an address such as `https://example.com/tsr`".to_owned());
        }
        let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if self.nonce.len() != NONCE_LETTERS || !self.nonce.chars().all(is_hex) {
            return Err("a nonce has 16 bytes in hex".to_owned());
        }
        if self.depth == 0 || self.costs() != self.fee_max.is_some() {
            return Err(
                "a depth is at least 1, and what a transaction may cost is said for one alone".to_owned()
            );
        }
        let fits = match self.clock {
            AnchorClock::Rfc3161 => !self.completes && !self.at.is_empty() && self.prior.is_none(),
            AnchorClock::OpenTimestamps => self.completes == self.prior.is_some(),
            AnchorClock::OpReturn => self.at.is_empty() && self.node.is_some(),
        };
        if fits { Ok(()) } else { Err("this is nothing that this clock can be asked".to_owned()) }
    }

    fn counts(&self) -> Counts {
        Counts { network: true, targets: 1, ..Counts::default() }
    }

    /// What failed was not stamped.
    fn has_no_effect_where_it_failed(&self) -> bool {
        true
    }

    /// What came back was checked by its signature or its hashes before it was kept.
    fn trust(&self) -> TrustTier {
        TrustTier::Observed
    }

    fn title(&self) -> String {
        match (self.clock, self.completes) {
            (AnchorClock::OpReturn, false) => {
                format!("make a Bitcoin transaction that carries the digest of anchor {}", self.number)
            }
            (_, false) => format!("send the digest of anchor {} to {}", self.number, self.kind()),
            (_, true) => format!("look at how anchor {} stands at {}", self.number, self.kind()),
        }
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        let gone = |text: String| Line { kind: LineKind::Unrecoverable, text };
        let fact = |text: String| Line { kind: LineKind::Fact, text };
        let hosts = self.hosts().unwrap_or_default().into_iter();
        let mut lines = Vec::new();
        match (self.clock, self.completes) {
            (AnchorClock::Rfc3161, _) => {
                lines.extend(
                    self.at.iter().map(|url| gone(format!("SEND these 32 bytes to {}", visible(url)))),
                );
                lines.push(fact(
                    "in this order, to the first that answers properly and to none after it".to_owned(),
                ));
            }
            (AnchorClock::OpenTimestamps, false) => {
                let sent = |url: &String| gone(format!("SEND 32 bytes made from them to {}", visible(url)));
                lines.extend(self.at.iter().map(sent));
                lines.push(fact("each is sent the digest with 16 random bytes, hashed".to_owned()));
            }
            (AnchorClock::OpenTimestamps, true) => {
                let asked =
                    |url: &String| gone(format!("ASK {} for 32 bytes that it has had before", visible(url)));
                lines.extend(self.at.iter().map(asked));
            }
            (AnchorClock::OpReturn, false) => {
                lines.push(gone(
                    "PUBLISH these 32 bytes in a Bitcoin transaction, for ever and to everybody".to_owned(),
                ));
                let most = self.fee_max.unwrap_or_default();
                lines.push(gone(format!(
                    "PAY a fee of at most {most} satoshi from the wallet of this instance"
                )));
            }
            (AnchorClock::OpReturn, true) => {}
        }
        lines.extend(hosts.map(|host| Line::effect(format!("speaks with {}", visible(&host)))));
        if let Some(node) = self.node.as_ref().filter(|_| self.completes) {
            lines.push(Line::effect(format!("asks the Bitcoin node {} for the block", visible(node))));
        }
        lines.push(fact(format!(
            "the bytes are the digest of {}; nothing of what is in your log",
            self.named()
        )));
        if self.clock != AnchorClock::Rfc3161 {
            let blocks = crate::count(self.depth as usize, "block");
            lines.push(fact(format!(
                "it counts as anchored when {blocks} of Bitcoin stand, its own among them"
            )));
        }
        lines
    }

    fn details(&self) -> Vec<String> {
        vec![format!("the bytes: {}", self.digest)]
    }

    fn expected(&self, _: WorkspaceId, _: &[Fingerprint]) -> Vec<ExpectedEffect> {
        let effect = if self.completes { "fetch" } else { "send" };
        let urls = self.spoken_with().filter_map(|url| url.parse::<WebUrl>().ok());
        let told = |url: WebUrl| ExpectedEffect {
            resource: ResourceId::Host(url.host().to_owned(), url.port()),
            effect: effect.to_owned(),
            before_sha256: None,
            after_sha256: Some(self.digest),
            byte_size: Some(self.digest.0.len() as u64),
        };
        urls.map(told).collect()
    }

    fn precondition(&self) -> String {
        "the clock answers, and what it answers can be checked".to_owned()
    }
}
