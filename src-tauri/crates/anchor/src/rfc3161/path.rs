//! The path from a signer's certificate to an authority that the caller named.

use super::certificate::Certificate;
use model::UnixMs;

/// Certificates on one path, the signer's and the authority's among them.
const PATH_MAX: usize = 6;
/// Signatures that are checked while a path is looked for.
const TRIES_MAX: usize = 64;

/// The name of the named authority that a path leads to. Each certificate on it was valid at that time, may issue as many levels as
/// are below it, and signed the one below.
pub(super) fn authority(
    signer: &Certificate<'_>,
    others: &[Certificate<'_>],
    named: &[Certificate<'_>],
    at: UnixMs,
) -> Option<String> {
    let is_named = named.iter().any(|one| one.raw == signer.raw);
    if is_named {
        return Some(signer.subject());
    }
    let mut search = Search { others, named, at, tries: 0 };
    search.above(&mut vec![signer])
}

struct Search<'s, 'a> {
    others: &'s [Certificate<'a>],
    named: &'s [Certificate<'a>],
    at: UnixMs,
    tries: usize,
}

impl<'s, 'a> Search<'s, 'a> {
    /// Goes on above the last certificate of the path, to named ones first. [`PATH_MAX`] bounds how deep.
    fn above(&mut self, path: &mut Vec<&'s Certificate<'a>>) -> Option<String> {
        let (named, others) = (self.named, self.others);
        if let Some(found) = named.iter().find(|one| self.fits(one, path)) {
            return Some(found.subject());
        }
        if path.len() + 1 >= PATH_MAX {
            return None;
        }
        for one in others {
            let is_on_it = path.iter().any(|on| on.raw == one.raw);
            if is_on_it || !self.fits(one, path) {
                continue;
            }
            path.push(one);
            let found = self.above(path);
            path.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Whether a certificate stands above the last of the path.
    fn fits(&mut self, one: &Certificate<'_>, path: &[&Certificate<'_>]) -> bool {
        let Some((last, below)) = path.split_last() else { return false };
        let may = one.owner == last.issuer && one.is_valid_at(self.at) && one.may_issue(below.len());
        if !may || self.tries >= TRIES_MAX {
            return false;
        }
        self.tries += 1;
        one.issued(last)
    }
}
