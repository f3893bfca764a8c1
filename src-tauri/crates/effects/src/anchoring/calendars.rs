//! Calendars of OpenTimestamps: each is given the digest with a nonce, hashed, and later asked for the way into a block of Bitcoin.

use super::{Answered, Asked, ask, blank, block_at, node_is_covered};
use crate::tools::Execution;
use crate::{AnchorCame, Undelivered};
use acts::Anchor;
use anchor::ots::{Attestation, Timestamp};
use anchor::{Trust, check};
use model::web::{Method, WebUrl};
use std::collections::BTreeSet;

/// What a calendar answers with.
const STAMP: &str = "application/vnd.opentimestamps.v1";
const BYTES: &str = "application/octet-stream";
/// Calendars that are asked about one stamp, and how often: whoever stamped may have named one many times.
const CALENDARS_MAX: usize = 16;

/// The calendars that a stamp waited for, as they named themselves in it: addresses alone, each once, and not too many.
///
/// # Errors
/// In words, when it is no stamp.
pub fn calendars_of(proof: &[u8]) -> Result<Vec<String>, String> {
    let stamp = Timestamp::read(proof).map_err(|e| e.to_string())?;
    let named: BTreeSet<String> = awaited(&stamp).into_iter().map(|(uri, _)| uri).collect();
    Ok(named.into_iter().take(CALENDARS_MAX).collect())
}

/// What each calendar has, also where a block is named already: the chain may have gone another way since.
fn awaited(stamp: &Timestamp) -> Vec<(String, Vec<u8>)> {
    let (mut found, mut left) = (Vec::new(), vec![stamp.root()]);
    while let Some(node) = left.pop() {
        for attestation in &node.attestations {
            if let Attestation::Pending(uri) = attestation
                && uri.parse::<WebUrl>().is_ok()
            {
                found.push((uri.clone(), node.message.clone()));
            }
        }
        left.extend(node.ops.iter().map(|(_, next)| next));
    }
    found
}

/// Gives it to every calendar; one that takes it is enough.
pub(crate) fn stamped(act: &Execution<'_>, anchor: &Anchor) -> Result<Answered, Undelivered> {
    let (commitment, mut stamp) = Timestamp::stamp_request(&anchor.digest, nonce(anchor)?);
    let (mut came, mut refused) = (blank(act), Vec::new());
    for uri in &anchor.at {
        let url = below(uri, "digest");
        let asked = Asked {
            method: Method::Post,
            url: &url,
            body: Some((BYTES, commitment.as_slice())),
            wants: STAMP,
        };
        match ask(act, &asked) {
            Ok((server, reply)) if reply.status == 200 => match stamp.merge(&commitment, &reply.body) {
                Ok(()) => came.at.push(server),
                Err(error) => refused.push(format!("{server}: {error}")),
            },
            Ok((server, reply)) => refused.push(format!("{server} answered with status {}", reply.status)),
            Err(why) => refused.push(why),
        }
    }
    if came.at.is_empty() {
        return Err(Undelivered::NotSent(refused.join("; ")));
    }
    let proof = bytes_of(&stamp)?;
    let checked = check(anchor.clock, &proof, &anchor.digest, &Trust::default());
    checked.map_err(|e| Undelivered::NotSent(e.to_string()))?;
    came.says.push("a block of Bitcoin holds it in a few hours".to_owned());
    came.says.append(&mut refused);
    Ok(Answered { came, proof: Some(proof) })
}

/// Asks every calendar that it waits for, and looks for the blocks that they name.
pub(crate) fn completed(act: &Execution<'_>, anchor: &Anchor) -> Result<Answered, Undelivered> {
    node_is_covered(act, anchor)?;
    let prior =
        anchor.prior.as_ref().ok_or_else(|| Undelivered::NotSent("there is no stamp yet".to_owned()))?;
    let prior = act.executors.contents.read(&prior.sha256).map_err(Undelivered::NotSent)?;
    let mut stamp = Timestamp::read(&prior).map_err(|e| Undelivered::NotSent(e.to_string()))?;
    let (mut came, mut refused) = (blank(act), Vec::new());
    // Whom a person was shown, and nobody else.
    let asked = awaited(&stamp).into_iter().filter(|(uri, _)| anchor.at.contains(uri));
    for (uri, commitment) in asked.take(CALENDARS_MAX) {
        let hex: String = commitment.iter().map(|byte| format!("{byte:02x}")).collect();
        let url = below(&uri, &format!("timestamp/{hex}"));
        match ask(act, &Asked { method: Method::Get, url: &url, body: None, wants: STAMP }) {
            Ok((server, reply)) if reply.status == 200 => match stamp.merge(&commitment, &reply.body) {
                Ok(()) => came.at.push(server),
                Err(error) => refused.push(format!("{server}: {error}")),
            },
            Ok((server, reply)) if reply.status == 404 => {
                came.says.push(format!("{server} has it in no block yet"));
                came.at.push(server);
            }
            Ok((server, reply)) => refused.push(format!("{server} answered with status {}", reply.status)),
            Err(why) => refused.push(why),
        }
    }
    if came.at.is_empty() && !refused.is_empty() && stamp.in_blocks().is_empty() {
        return Err(Undelivered::NotSent(refused.join("; ")));
    }
    came.says.append(&mut refused);
    let proof = bytes_of(&stamp)?;
    look_for_blocks(act, anchor, (&stamp, &proof), &mut came)?;
    Ok(Answered { came, proof: Some(proof) })
}

/// Looks for each block that is named, the lowest first, until one stands deep enough.
fn look_for_blocks(
    act: &Execution<'_>,
    anchor: &Anchor,
    (stamp, proof): (&Timestamp, &[u8]),
    came: &mut AnchorCame,
) -> Result<(), Undelivered> {
    if let Some(was) = &anchor.was {
        let now = act.executors.clocks.block(was.height)?;
        came.is_gone = now.is_some_and(|now| now.block.hash != was.hash);
    }
    let (mut wrong, mut is_found) = (None, false);
    for named in stamp.in_blocks() {
        let height = named.height;
        let Some((seen, headers)) = block_at(act, height)? else {
            is_found = true;
            let says = "set a Bitcoin node, or a file of headers, to have that looked for";
            came.says.push(format!("in block {height} by the calendar's word; {says}"));
            continue;
        };
        let trust = Trust { authorities: &[], headers: Some(&headers) };
        let proven = match check(anchor.clock, proof, &anchor.digest, &trust) {
            Ok(checked) => checked.proven,
            Err(error) => {
                wrong = Some(error.to_string());
                continue;
            }
        };
        let Some(proven) = proven else { continue };
        is_found = true;
        if seen.block.depth >= u64::from(anchor.depth) {
            came.not_after = Some(proven.not_after);
            came.says
                .push(format!("block {height} holds it, and {} blocks stand from there", seen.block.depth));
            came.block = Some(seen.block);
            return Ok(());
        }
        let (stand, wanted) = (seen.block.depth, anchor.depth);
        came.says.push(format!("block {height} holds it, and {stand} of {wanted} blocks stand"));
    }
    match wrong {
        // After the chain went another way an old block is no lie of a calendar.
        Some(why) if !is_found && !came.is_gone => Err(Undelivered::NotSent(why)),
        Some(why) => {
            came.says.push(why);
            Ok(())
        }
        None => Ok(()),
    }
}

fn nonce(anchor: &Anchor) -> Result<[u8; 16], Undelivered> {
    let nonce = u128::from_str_radix(&anchor.nonce, 16).map_err(|e| Undelivered::NotSent(e.to_string()))?;
    Ok(nonce.to_be_bytes())
}

fn bytes_of(stamp: &Timestamp) -> Result<Vec<u8>, Undelivered> {
    stamp.to_bytes().map_err(|e| Undelivered::NotSent(e.to_string()))
}

fn below(uri: &str, path: &str) -> String {
    format!("{}/{path}", uri.trim_end_matches('/'))
}
