//! One question to every clock: by when did the digest exist, and what has one to take on trust for it?

use crate::bitcoin::{Headers, Place, spelled};
use crate::op_return::OpReturnProof;
use crate::{Error, ots, rfc3161};
use model::UnixMs;
use model::anchor::{AnchorClock, BlockTime};
use seal::Digest;

/// What a caller brings along to check proofs with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Trust<'a> {
    /// The certificates of the time-stamp authorities that the caller named, in DER.
    pub authorities: &'a [Vec<u8>],
    /// The headers that the caller holds for Bitcoin's.
    pub headers: Option<&'a Headers>,
}

/// What a proof shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The clock.
    pub clock: AnchorClock,
    /// By when the digest existed; none where nothing is proven with what was given.
    pub proven: Option<Proven>,
    /// Whether the clock has it and will say more.
    pub pending: bool,
    /// What was found, in words.
    pub says: Vec<String>,
    /// What one has to take on trust, in words.
    pub on_trust: Vec<String>,
}

/// A time by which a digest existed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    /// The time.
    pub not_after: UnixMs,
    /// The block that proves it, for clocks that count by blocks.
    pub block: Option<BlockTime>,
}

/// Checks the proof of a clock for this digest.
///
/// A time stamp proves the time that it states plus the accuracy that it states. A block proves the time in its header.
///
/// # Errors
/// The proof is malformed, of another digest, or does not hold. A proof that is pending, or cannot be judged with what was given, is
/// no error, and proves nothing.
pub fn check(clock: AnchorClock, proof: &[u8], digest: &Digest, trust: &Trust<'_>) -> Result<Checked, Error> {
    let mut checked = Checked { clock, proven: None, pending: false, says: Vec::new(), on_trust: Vec::new() };
    let done = match clock {
        AnchorClock::Rfc3161 => by_authority(proof, digest, trust, &mut checked),
        AnchorClock::OpenTimestamps => by_calendars(proof, digest, trust, &mut checked),
        AnchorClock::OpReturn => by_transaction(proof, digest, trust, &mut checked),
    };
    match done {
        Err(Error::Unsupported { what }) => {
            checked.proven = None;
            checked.says.push(format!("{what} cannot be checked here, so nothing is proven"));
            Ok(checked)
        }
        Err(error) => Err(error),
        Ok(()) => Ok(checked),
    }
}

fn by_authority(
    proof: &[u8],
    digest: &Digest,
    trust: &Trust<'_>,
    checked: &mut Checked,
) -> Result<(), Error> {
    let stamp = rfc3161::read(proof)?;
    if stamp.digest != *digest {
        return Err(Error::OtherDigest { what: "time stamp" });
    }
    let vouched = stamp.verify(trust.authorities)?;
    let signer = &vouched.signer;
    let Some(authority) = vouched.authority else {
        checked.says.push(format!(
            "signed by {signer}, whom you did not name; name the certificate of its authority to have it proven"
        ));
        return Ok(());
    };
    checked.proven = Some(Proven { not_after: stamp.not_after(), block: None });
    checked.says.push(format!("signed by {signer}, whose certificate leads to {authority}, whom you named"));
    checked.on_trust.push(format!("that {signer} states the right time and kept its key to itself"));
    checked.on_trust.push(format!("that {authority} had not revoked its certificate: nobody was asked"));
    if stamp.accuracy_ms.is_none() {
        checked.on_trust.push("how exact its clock is: it does not say".to_owned());
    }
    Ok(())
}

fn by_calendars(
    proof: &[u8],
    digest: &Digest,
    trust: &Trust<'_>,
    checked: &mut Checked,
) -> Result<(), Error> {
    const PROOF: &str = "OpenTimestamps file";
    let stamp = ots::Timestamp::read(proof)?;
    if stamp.digest != *digest {
        return Err(Error::OtherDigest { what: PROOF });
    }
    let blocks = stamp.in_blocks();
    checked.pending = blocks.is_empty() && !stamp.commitments_pending().is_empty();
    let mut wrong = None;
    for block in &blocks {
        match in_block(block, trust.headers)? {
            Found::Proven(proven, place) => {
                let is_earliest =
                    checked.proven.as_ref().is_none_or(|before| proven.not_after < before.not_after);
                if is_earliest {
                    checked.on_trust.clear();
                    of_headers(trust.headers, &place, &mut checked.on_trust);
                    checked.proven = Some(proven);
                }
                checked.says.push(format!("the block of Bitcoin at height {} commits to it", block.height));
            }
            Found::Unproven(says) => checked.says.push(says),
            Found::Wrong(says) => {
                checked.says.push(says.clone());
                wrong = Some(says);
            }
        }
    }
    for (uri, _) in stamp.commitments_pending() {
        checked.says.push(format!(
            "the calendar {uri} has it, and no block of Bitcoin yet, as far as this file tells"
        ));
    }
    if stamp.unknown() > 0 {
        checked.says.push(format!("{} attestations are of a kind that is not known here", stamp.unknown()));
    }
    match wrong {
        Some(reason) if checked.proven.is_none() => Err(Error::wrong(PROOF, reason)),
        _ => Ok(()),
    }
}

enum Found<'h> {
    Proven(Proven, Place<'h>),
    Unproven(String),
    Wrong(String),
}

/// What the headers say of one block that an OpenTimestamps file names.
fn in_block<'h>(block: &ots::InBlock, headers: Option<&'h Headers>) -> Result<Found<'h>, Error> {
    let height = block.height;
    let Some(root) = block.merkle_root else {
        return Ok(Found::Wrong(format!("what leads to the block at height {height} is no Merkle root")));
    };
    let Some(headers) = headers else {
        return Ok(Found::Unproven(format!(
            "the block of Bitcoin at height {height} is said to commit to it, with the Merkle root {}; give headers of \
             Bitcoin to have that checked",
            spelled(&root)
        )));
    };
    let place = match headers.at(height) {
        Some(place) if place.header.merkle_root == root => Some(place),
        Some(_) => {
            return Ok(Found::Wrong(format!(
                "the block at height {height} of the headers given has another Merkle root"
            )));
        }
        // Headers that do not tell their heights: the Merkle root finds the block.
        None => headers.of_merkle_root(&root).filter(|place| place.height.is_none()),
    };
    Ok(place.map_or_else(
        || Found::Unproven(format!("the block at height {height} is not among the headers given")),
        |place| Found::Proven(proven(&place, height), place),
    ))
}

fn by_transaction(
    proof: &[u8],
    digest: &Digest,
    trust: &Trust<'_>,
    checked: &mut Checked,
) -> Result<(), Error> {
    const PROOF: &str = "proof of a transaction";
    let read = OpReturnProof::read(proof)?;
    let shown = read.check(digest)?;
    let hash = spelled(&shown.header.hash);
    checked
        .says
        .push(format!("the transaction {} carries it, and the block {hash} holds it", spelled(&shown.txid)));
    let Some(headers) = trust.headers else {
        checked.says.push(format!(
            "that Bitcoin has this block was not checked; give its headers to have it checked. By its own header, {} to make",
            hashes(shown.header.work())
        ));
        return Ok(());
    };
    let Some(place) = headers.of_hash(&shown.header.hash) else {
        // Where the headers have another block at that height, this one is not in their chain.
        return if headers.at(shown.height).is_some() {
            Err(Error::wrong(
                PROOF,
                format!("the headers given have another block at height {}", shown.height),
            ))
        } else {
            checked.says.push("that block is not among the headers given".to_owned());
            Ok(())
        };
    };
    if place.height.is_some_and(|height| height != shown.height) {
        return Err(Error::wrong(PROOF, "its block stands at another height in the headers given"));
    }
    of_headers(Some(headers), &place, &mut checked.on_trust);
    checked.proven = Some(proven(&place, shown.height));
    Ok(())
}

fn proven(place: &Place<'_>, height: u64) -> Proven {
    let time = u64::from(place.header.time);
    let block = BlockTime { height, hash: spelled(&place.header.hash), time, depth: place.depth };
    Proven { not_after: UnixMs(i64::from(place.header.time) * 1000), block: Some(block) }
}

/// What headers leave to trust.
fn of_headers(headers: Option<&Headers>, place: &Place<'_>, on_trust: &mut Vec<String>) {
    let Some(headers) = headers else { return };
    let work = hashes(headers.work_on(place.depth));
    on_trust.push(format!(
        "that the headers given are those of Bitcoin: from this block on there are {} of them, and it took {work} to make them",
        place.depth
    ));
    if !headers.begins_with_genesis() {
        on_trust
            .push("where the headers given begin: the first is not the first block of Bitcoin".to_owned());
    }
    if place.height.is_none() {
        on_trust.push("the height of the block, which only the proof says".to_owned());
    }
    on_trust.push("the time that the block's miner stated, which may be off by about two hours".to_owned());
}

/// A number of hashes in words.
fn hashes(work: f64) -> String {
    // A table of powers: what is left is a number of bits below 300.
    let bits = (0..300_i32).take_while(|bits| 2_f64.powi(*bits + 1) <= work).count();
    if bits < 32 { "next to no work".to_owned() } else { format!("about 2^{bits} hashes") }
}
