//! Who this instance is: SOUL.md, the chain of what its keys said of it, and what follows a chain from elsewhere (mesh.md 2).

use super::task::{channel, of_submitted};
use crate::convert::every;
use crate::files::{absolute, make, open};
use crate::{Host, Wire as _, failed, fold, not_found, usage};
use acts::{Action, ApprovalPacket, Register};
use identity::{Followed, Graph, follow, lines};
use kernel::identity_registry::{IdentityRegistry, SoulRecord, attestation_of};
use model::Digest;
use model::action::ActionClass;
use model::identity::{Link, SOUL_BYTES_MAX};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use wire::identity::{
    Attest, Attested, Export, Exported, Finding, Identity, Publish, Show, SoulVersion, TrustGraph, TrustLink,
    Verify, Write,
};
use wire::task::Submitted;
use wire::{Code, Error};

/// Bytes of a file of links that are read: a chain of as many links as are followed has a quarter of it.
const FILE_MAX: u64 = 32 * 1024 * 1024;
/// Bitcoin's main chain, as nodes name it.
const MAIN_CHAIN: &str = "main";
/// How a proof in one file begins.
const ZIP: &[u8] = b"PK";
/// Where the chain of an instance stands in a proof.
const IN_A_PROOF: [&str; 2] = ["identity/key.json", "identity/links.jsonl"];

type Published = BTreeMap<Digest, Vec<String>>;

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Identity, Error> {
    let state = fold::store_state(&host.reader()?)?;
    let registry = state.identity;
    let graph = registry.graph(host.artifacts()?).wire()?;
    let newest = registry.latest().map_or(0, |latest| latest.version);
    let wanted = p.version.unwrap_or(newest);
    let record = registry.souls.iter().find(|one| one.version == wanted);
    if record.is_none() && p.version.is_some() {
        return Err(not_found("version of SOUL.md", &wanted.to_string()));
    }
    let versions = registry.souls.iter().rev().map(|one| version(host, one, &graph));
    Ok(Identity {
        instance_id: state.store_id,
        version: newest,
        shown: record.map_or(0, |one| one.version),
        soul: record.map(|one| text_of(host, one)).transpose()?.flatten(),
        soul_sha256: record.map(|one| one.soul.sha256.to_string()),
        written_at: record.map(|one| one.written_at.0),
        versions: versions.collect::<Result<_, Error>>()?,
        instance_pubkey: graph.key_in_force.clone(),
        npub: graph.key_in_force.as_deref().and_then(npub),
        address: graph.key_in_force.as_deref().and_then(|key| wallet::address(key, MAIN_CHAIN).ok()),
        attested: registry.latest().is_some_and(|latest| is_attested(latest, &graph)),
        asked: asked(host)?,
        graph: told(graph, &registry.published),
    })
}

pub(crate) fn write(host: &dyn Host, p: Write) -> Result<Submitted, Error> {
    let by = (channel(None)?, host.fresh_key());
    let submitted = host.kernel()?.propose_soul(&p.text, p.replaces, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn attest(host: &dyn Host, _: Attest) -> Result<Attested, Error> {
    let linked = host.kernel()?.attest().wire()?;
    Ok(Attested {
        number: linked.number,
        link_sha256: linked.link_sha256.to_string(),
        version: linked.version,
    })
}

pub(crate) fn publish(host: &dyn Host, p: Publish) -> Result<Submitted, Error> {
    let kernel = host.kernel()?;
    let mut relays: Vec<String> = Vec::new();
    for relay in p.relays.iter().map(|relay| relay.trim().trim_end_matches('/')) {
        if !relay.is_empty() && !relays.iter().any(|known| known == relay) {
            relays.push(relay.to_owned());
        }
    }
    if relays.is_empty() {
        let set = host.mesh().map(|mesh| mesh.settings()).transpose()?;
        relays = set.map(|set| set.relays).unwrap_or_default();
    }
    if relays.is_empty() {
        return Err(usage("no relay is named, and none is set for the mesh").hint(
            "name one with `hermit identity publish --relay wss://relay.example.org`, or set it with `hermit mesh on`",
        ));
    }
    let by = (channel(p.channel.as_deref())?, host.fresh_key());
    let submitted = kernel.propose_publication(relays, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

/// The key of an instance as it is written: 64 hexadecimal digits, or as Nostr spells it. It comes back in digits.
pub fn instance_key(text: &str) -> Option<String> {
    let text = text.trim();
    if let Ok(key) = text.to_ascii_lowercase().parse::<Digest>() {
        return Some(key.to_string());
    }
    let (hrp, bytes) = bech32::decode(text).ok()?;
    let key: [u8; 32] = bytes.try_into().ok().filter(|_| hrp.as_str() == "npub")?;
    Some(Digest(key).to_string())
}

pub(crate) fn verify(host: &dyn Host, p: Verify) -> Result<TrustGraph, Error> {
    let Some(path) = p.path else {
        let registry = registry(host)?;
        return Ok(told(registry.graph(host.artifacts()?).wire()?, &registry.published));
    };
    let path = absolute("path", &path)?;
    let none = Published::new();
    if path.is_dir() || begins(&path, ZIP)? {
        let [key, links] = IN_A_PROOF.map(|name| proof::file_of(&path, name, FILE_MAX).map_err(usage));
        let hint = "a proof tells who the instance is where that instance has said something of itself";
        let links = links?.ok_or_else(|| usage("there is no chain in this proof").hint(hint))?;
        return Ok(told(follow(key?.as_deref(), &lines(&links).1), &none));
    }
    let bytes = read(&path)?;
    let (key, links) = lines(&bytes);
    Ok(told(follow(key, &links), &none))
}

pub(crate) fn export(host: &dyn Host, p: Export) -> Result<Exported, Error> {
    let path = absolute("path", &p.path)?;
    let registry = registry(host)?;
    let (key, links) = registry.lines(host.artifacts()?).wire()?;
    if links.is_empty() {
        return Err(Error::new(Code::Conflict, "this instance has said nothing of itself yet")
            .hint("write SOUL.md with `hermit identity edit`, and attest it with `hermit identity attest`"));
    }
    if let Some(at) = links.iter().position(Vec::is_empty) {
        let number = at.saturating_add(1);
        return Err(Error::new(Code::Damaged, format!("link {number} of the chain cannot be read"))
            .hint("`hermit identity verify` says what is wrong with it"));
    }
    make(&path, |file| {
        for line in key.iter().chain(&links) {
            file.write_all(line).map_err(failed)?;
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(())
    })?;
    Ok(Exported { path: p.path, links: u64::try_from(links.len()).unwrap_or(u64::MAX) })
}

fn registry(host: &dyn Host) -> Result<IdentityRegistry, Error> {
    Ok(fold::store_state(&host.reader()?)?.identity)
}

fn version(host: &dyn Host, one: &SoulRecord, graph: &Graph) -> Result<SoulVersion, Error> {
    let act = host.query()?.action(one.action_request_id).wire()?;
    Ok(SoulVersion {
        version: one.version,
        soul_sha256: one.soul.sha256.to_string(),
        written_at: one.written_at.0,
        task_id: act.map(|act| act.task_id.to_string()),
        attested: is_attested(one, graph),
    })
}

/// Its text; none where it was erased.
fn text_of(host: &dyn Host, one: &SoulRecord) -> Result<Option<String>, Error> {
    match host.artifacts()?.read(&one.soul.sha256) {
        Ok(bytes) if bytes.len() <= SOUL_BYTES_MAX => String::from_utf8(bytes).map(Some).map_err(failed),
        Ok(_) => Err(Error::new(Code::Damaged, "SOUL.md is longer than it may be")),
        Err(_) => Ok(None),
    }
}

fn is_attested(one: &SoulRecord, graph: &Graph) -> bool {
    let Some((number, _)) = attestation_of(graph, one.version) else { return false };
    let sound = !graph.findings.iter().any(|finding| finding.number.is_none_or(|at| at <= number));
    let of_it = |link: &Followed| {
        link.number == number
            && matches!(&link.link, Link::Attestation(said) if said.soul_sha256 == one.soul.sha256)
    };
    sound && graph.links.iter().any(of_it)
}

/// The task that waits for a person's word about SOUL.md.
fn asked(host: &dyn Host) -> Result<Option<String>, Error> {
    let (query, artifacts, now) = (host.query()?, host.artifacts()?, host.now());
    for row in every(|ask| query.inbox(now, ask))? {
        if row.action_class != ActionClass::CapabilityChange {
            continue;
        }
        let bytes = artifacts.read(&row.packet_sha256).wire()?;
        let packet: ApprovalPacket = seal::canon::from_canonical(&bytes).wire()?;
        if matches!(packet.action_request.action, Action::Register(Register::Soul { .. })) {
            return Ok(Some(row.task_id.to_string()));
        }
    }
    Ok(None)
}

/// A key as Nostr spells it.
fn npub(key: &str) -> Option<String> {
    let hrp = bech32::Hrp::parse("npub").ok()?;
    let bytes = key.parse::<Digest>().ok()?;
    bech32::encode::<bech32::Bech32>(hrp, bytes.as_bytes()).ok()
}

/// Whether a file begins with these bytes.
fn begins(path: &Path, with: &[u8]) -> Result<bool, Error> {
    let (mut bytes, length) = (Vec::new(), u64::try_from(with.len()).unwrap_or(u64::MAX));
    open(path)?.take(length).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes == with)
}

/// A file, as far as one of links may be long.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    open(path)?.take(FILE_MAX.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= FILE_MAX) {
        true => Ok(bytes),
        false => Err(usage(format!("`{}` is longer than a chain can be", path.display()))),
    }
}

fn told(graph: Graph, published: &Published) -> TrustGraph {
    let finding = |one: identity::Finding| Finding { what: one.what, number: one.number, says: one.says };
    TrustGraph {
        instance_id: graph.instance_id,
        unbroken: graph.unbroken,
        key_in_force: graph.key_in_force,
        log_key: graph.log_key,
        links: graph.links.into_iter().map(|one| link(one, published)).collect(),
        findings: graph.findings.into_iter().map(finding).collect(),
    }
}

fn link(one: Followed, published: &Published) -> TrustLink {
    let (kind, said, handed, revoked) = match &one.link {
        Link::Attestation(said) => ("attestation", Some(said), None, None),
        Link::Handover(handed) => ("handover", None, Some(handed), None),
        Link::Revocation(gone) => ("revocation", None, None, Some(gone.revoked_pubkey.clone())),
    };
    let head = said.map(|said| &said.log_head).or(handed.map(|handed| &handed.log_head));
    TrustLink {
        number: one.number,
        link_sha256: one.link_sha256.to_string(),
        kind: kind.to_owned(),
        previous: one.link.previous().map(|previous| previous.to_string()),
        version: said.map(|said| said.version),
        soul_sha256: said.map(|said| said.soul_sha256.to_string()),
        reason: handed.map(|handed| handed.reason),
        revoked,
        made_at: one.link.made_at().0,
        log_size: head.map(|head| head.size),
        published: published.get(&one.link_sha256).cloned().unwrap_or_default(),
        signed_by: one.signed_by,
    }
}

#[cfg(test)]
mod tests {
    use super::{instance_key, npub};

    #[test]
    fn a_key_is_spelled_as_nostr_spells_it() {
        // The example of NIP-19.
        let key = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e";
        let spelled = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
        assert_eq!(npub(key).as_deref(), Some(spelled));
        assert_eq!(npub("no key"), None);
        for written in [key, spelled, " 7E7E9C42A91BFEF19FA929E5FDA1B72E0EBC1A4C1141673E2794234D86ADDF4E "] {
            assert_eq!(instance_key(written).as_deref(), Some(key));
        }
        let private = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5";
        for none in ["", "npub", "7e7e", &spelled.replace("npub10", "npub11"), private] {
            assert_eq!(instance_key(none), None, "{none}");
        }
    }
}
