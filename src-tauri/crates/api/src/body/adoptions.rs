//! Changes of Hermit itself that a person adopts, and goes back from. Each makes a task that asks; nothing changes by it.

use super::task::{channel, of_submitted};
use super::task_control::signed;
use crate::convert::opt_word;
use crate::{Host, Wire as _, fold, usage};
use ::successor::limits::FILES_MAX;
use kernel::adoption_registry::AdoptedRecord;
use kernel::command::adopting::AskedAdoption;
use model::Digest;
use model::adoption::{AdoptChange, REVIEW_BYTES_MAX, REVIEWS_MAX};
use wire::Error;
use wire::adoptions::{Adoption, AdoptionList, Back, List, Propose};
use wire::task::Submitted;

/// Edited tests at which a person looks: a file that moves has two paths.
const LOOKED_MAX: usize = 2 * FILES_MAX;
/// Parts that a person signs for.
const SIGNED_MAX: usize = 16;

pub(crate) fn propose(host: &dyn Host, p: Propose) -> Result<Submitted, Error> {
    let kernel = host.kernel()?;
    if p.reviews.len() > REVIEWS_MAX || p.signed.len() > SIGNED_MAX {
        return Err(usage(format!("a change has {REVIEWS_MAX} reviews at most")));
    }
    if p.reviews.iter().any(|review| review.len() > REVIEW_BYTES_MAX) {
        return Err(usage(format!("a review has {} KB at most", REVIEW_BYTES_MAX / 1024)));
    }
    let reviews: Vec<Vec<u8>> = p.reviews.into_iter().map(String::into_bytes).collect();
    let mut given = Vec::with_capacity(p.signed.len());
    for one in &p.signed {
        given.extend(signed(kernel, Some(one))?);
    }
    if p.looked.len() > LOOKED_MAX {
        return Err(usage(format!("a change edits tests in {LOOKED_MAX} files at most")));
    }
    let digest = |text: &String| {
        let unread =
            |_| usage(format!("`{text}` is no SHA-256 of an edited test, as `successor.show` tells it"));
        text.parse::<Digest>().map_err(unread)
    };
    let looked = p.looked.iter().map(digest).collect::<Result<Vec<Digest>, Error>>()?;
    let asked = AskedAdoption {
        trial_id: &p.trial,
        reviews: &reviews,
        although_same: p.although_same,
        signed: &given,
        looked: &looked,
    };
    let by = (channel(p.channel.as_deref())?, host.fresh_key());
    let submitted = kernel.propose_adoption(&asked, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn back(host: &dyn Host, p: Back) -> Result<Submitted, Error> {
    let kind = opt_word(p.kind.as_deref())?;
    let by = (channel(p.channel.as_deref())?, host.fresh_key());
    let submitted =
        host.kernel()?.propose_return(kind, p.reason.as_deref().unwrap_or_default(), by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn list(host: &dyn Host, _: List) -> Result<AdoptionList, Error> {
    let registry = fold::store_state(&host.reader()?)?.adoptions;
    let rows = registry.adopted.iter().rev().map(|one| row(host, one));
    Ok(AdoptionList { adoptions: rows.collect::<Result<_, _>>()? })
}

fn row(host: &dyn Host, one: &AdoptedRecord) -> Result<Adoption, Error> {
    let act = host.query()?.action(one.action_request_id).wire()?;
    // What was erased, or is damaged, is told of without its words.
    let bytes = one.change.as_ref().and_then(|at| host.artifacts().ok()?.read(&at.sha256).ok());
    let change: Option<AdoptChange> = bytes.and_then(|bytes| seal::canon::from_canonical(&bytes).ok());
    let (says, reviews, constitutional) =
        change.map_or_else(Default::default, |one| (Some(one.says), one.reviews, one.constitutional));
    Ok(Adoption {
        trial_id: one.trial_id.clone(),
        kind: one.kind,
        says,
        patch_sha256: one.patch_sha256.to_string(),
        task_id: act.map(|act| act.task_id.to_string()),
        adopted_at: one.adopted_at.0,
        at_work: one.returned.is_none(),
        returned_at: one.returned.as_ref().map(|(_, at)| at.0),
        why: one.returned.as_ref().map(|(why, _)| why.clone()),
        reviewers: reviews.into_iter().map(|one| one.by).collect(),
        constitutional,
    })
}
