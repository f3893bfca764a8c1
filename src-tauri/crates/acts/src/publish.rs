//! Publishing who this instance is: its chain, signed as relays keep it (mesh.md 2).

use crate::{ActionRequest, Counts, Line, LineKind, Tool, count, visible};
use model::action::{ActionClass, ExpectedEffect};
use model::receipt::ReceiptClass;
use model::web::WebUrl;
use model::witness::Fingerprint;
use model::{Digest, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Relays of one act.
const RELAYS_MAX: usize = 8;
/// Events of one act, and bytes of one.
const EVENTS_MAX: usize = 8;
const EVENT_BYTES_MAX: usize = 64 * 1024;

/// The chain of this instance is given to relays. Only the kernel proposes it; a model cannot call it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// The instance.
    pub instance_id: String,
    /// Its key in force, 32 bytes in hex, which signed the events.
    pub instance_pubkey: String,
    /// Links of the chain.
    pub links: u64,
    /// SHA-256 of the newest link's canonical bytes.
    pub link_sha256: Digest,
    /// The exact events that are sent, in order; the newest link is in the last.
    pub events: Vec<String>,
    /// Addresses of the relays.
    pub relays: Vec<String>,
}

impl Publish {
    /// The server of a relay.
    ///
    /// # Errors
    /// In words, where it is no address of a relay.
    pub fn server_of(relay: &str) -> Result<WebUrl, String> {
        let http = match (relay.strip_prefix("wss://"), relay.strip_prefix("ws://")) {
            (Some(rest), _) => format!("https://{rest}"),
            (_, Some(rest)) => format!("http://{rest}"),
            _ => return Err("a relay has an address such as `wss://relay.example`".to_owned()),
        };
        http.parse().map_err(|e: model::Error| e.to_string())
    }

    fn servers(&self) -> impl Iterator<Item = WebUrl> {
        self.relays.iter().filter_map(|relay| Self::server_of(relay).ok())
    }

    fn bytes(&self) -> u64 {
        self.events.iter().map(|event| u64::try_from(event.len()).unwrap_or(u64::MAX)).sum()
    }
}

impl Tool for Publish {
    fn classes(&self) -> BTreeSet<ActionClass> {
        BTreeSet::from([ActionClass::NetworkWrite, ActionClass::Publication])
    }

    fn resources(&self, _: WorkspaceId) -> BTreeSet<ResourceId> {
        self.servers().map(|url| ResourceId::Host(url.host().to_owned(), url.port())).collect()
    }

    fn check(&self) -> Result<(), String> {
        if !(1..=RELAYS_MAX).contains(&self.relays.len()) {
            return Err(format!("it is published at 1 to {RELAYS_MAX} relays"));
        }
        self.relays.iter().try_for_each(|relay| Self::server_of(relay).map(|_| ()))?;
        let distinct: BTreeSet<&String> = self.relays.iter().collect();
        if distinct.len() != self.relays.len() {
            return Err("each relay is named once".to_owned());
        }
        let fits = (1..=EVENTS_MAX).contains(&self.events.len())
            && self.events.iter().all(|event| event.len() <= EVENT_BYTES_MAX);
        if fits { Ok(()) } else { Err("the chain is longer than relays are given".to_owned()) }
    }

    fn counts(&self) -> Counts {
        Counts {
            network: true,
            targets: i64::try_from(self.relays.len()).unwrap_or(i64::MAX),
            ..Counts::default()
        }
    }

    /// What no relay took was not published.
    fn has_no_effect_where_it_failed(&self) -> bool {
        true
    }

    fn receipt_class(&self) -> ReceiptClass {
        ReceiptClass::Publish
    }

    fn title(&self) -> String {
        format!("send the signed chain of this instance to {}", count(self.relays.len(), "relay"))
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        let fact = |text: String| Line { kind: LineKind::Fact, text };
        let sent = |relay: &String| Line {
            kind: LineKind::Unrecoverable,
            text: format!("PUBLISH it at {}, for everybody", visible(relay)),
        };
        let mut lines: Vec<Line> = self.relays.iter().map(sent).collect();
        lines.extend(
            self.servers().map(|url| Line::effect(format!("speaks with {}", visible(&url.server())))),
        );
        let links = count(usize::try_from(self.links).unwrap_or(usize::MAX), "link");
        lines.push(fact(format!("the chain has {links}, signed by the key of this instance")));
        lines.push(fact(
            "everybody sees the id of this instance, its keys, the digests and times of its versions of SOUL.md, and heads of \
             your log; no word of SOUL.md and nothing of what is in your log"
                .to_owned(),
        ));
        lines.push(fact(format!(
            "a relay keeps it for as long as it wants; {} in {}",
            count(usize::try_from(self.bytes()).unwrap_or(usize::MAX), "byte"),
            count(self.events.len(), "event")
        )));
        lines
    }

    fn details(&self) -> Vec<String> {
        vec![
            format!("the newest link of the chain: {}", self.link_sha256),
            format!("the key of this instance: {}", visible(&self.instance_pubkey)),
            format!("the id of this instance: {}", visible(&self.instance_id)),
        ]
    }

    fn expected(&self, _: WorkspaceId, _: &[Fingerprint]) -> Vec<ExpectedEffect> {
        let told = |url: WebUrl| ExpectedEffect {
            resource: ResourceId::Host(url.host().to_owned(), url.port()),
            effect: "send".to_owned(),
            before_sha256: None,
            after_sha256: Some(self.link_sha256),
            byte_size: Some(self.bytes()),
        };
        self.servers().map(told).collect()
    }

    fn precondition(&self) -> String {
        "at least one relay takes all of it".to_owned()
    }
}
