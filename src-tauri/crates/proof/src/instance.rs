//! Who the instance is, as a bundle says it: whether its chain leads back to genesis, and belongs to this log (mesh.md 2).

use crate::layout as l;
use identity::Graph;
use seal::PublicKey;

/// Where and why a chain is not believed: the first finding there is, or another instance or log than the bundle's.
/// `log_keys`: the log's key in force and all that it followed.
pub(crate) fn wrong(graph: &Graph, log_id: &str, log_keys: &[PublicKey]) -> Option<(&'static str, String)> {
    if let Some(found) = graph.findings.first() {
        return Some(match found.number {
            Some(number) => (l::IDENTITY_LINKS, format!("line {number}: {}: {}", found.what, found.says)),
            None => (l::IDENTITY_KEY, format!("{}: {}", found.what, found.says)),
        });
    }
    if !graph.unbroken {
        return Some((l::IDENTITY_LINKS, "it does not lead back to genesis".to_owned()));
    }
    if graph.instance_id.as_deref() != Some(log_id) {
        return Some((l::IDENTITY_KEY, "it is of another instance than this log".to_owned()));
    }
    if !log_keys.iter().any(|key| graph.log_key.as_ref() == Some(&key.to_string())) {
        let why = "the log's key that it names is neither this bundle's nor one that it followed";
        return Some((l::IDENTITY_KEY, why.to_owned()));
    }
    None
}
