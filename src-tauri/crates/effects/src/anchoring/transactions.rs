//! Transactions of the person's own wallet that carry a digest, through their own node.

use super::{Answered, blank, block_at, node_is_covered};
use crate::tools::Execution;
use crate::{Sent, Undelivered};
use acts::Anchor;
use anchor::{Trust, check};
use model::RelPath;
use model::fault::Point;

/// Makes a transaction, unless the wallet has made one; one that was interrupted is only looked for.
pub(crate) fn sent(act: &Execution<'_>, anchor: &Anchor, is_repeat: bool) -> Result<Answered, Undelivered> {
    node_is_covered(act, anchor)?;
    let clocks = &act.executors.clocks;
    let sent = match clocks.op_return_of(&anchor.digest) {
        Ok(Some(sent)) => sent,
        Ok(None) if is_repeat => {
            return Err(Undelivered::NotSent("interrupted before a transaction was made".to_owned()));
        }
        Ok(None) => made(act, anchor)?,
        // Whether the one that was interrupted was sent is known only to the wallet; before the first nothing was.
        Err(Undelivered::NotSent(why) | Undelivered::Unknown(why)) => {
            return Err(if is_repeat { Undelivered::Unknown(why) } else { Undelivered::NotSent(why) });
        }
    };
    let mut came = blank(act);
    came.says.push(format!("the transaction {} carries it, for a fee of {} satoshi", sent.txid, sent.fee));
    came.txid = Some(sent.txid);
    Ok(Answered { came, proof: None })
}

fn made(act: &Execution<'_>, anchor: &Anchor) -> Result<Sent, Undelivered> {
    let fee_max = anchor.fee_max.unwrap_or(0);
    let mut came = None;
    let sent = crate::change::step(act.executors, Point::CallSend, &RelPath::ROOT, || {
        came = Some(act.executors.clocks.op_return(&anchor.digest, fee_max));
        Ok(())
    });
    match (came, sent) {
        (Some(came), Ok(())) => came,
        (None, Err(error)) => Err(Undelivered::NotSent(error.to_string())),
        (_, Err(error)) => Err(Undelivered::Unknown(error.to_string())),
        (None, Ok(())) => Err(Undelivered::NotSent("nothing was sent".to_owned())),
    }
}

/// Whether another block stands by now where the one stood that held it.
fn is_gone(act: &Execution<'_>, anchor: &Anchor) -> Result<bool, Undelivered> {
    let Some(was) = &anchor.was else { return Ok(false) };
    let now = act.executors.clocks.block(was.height)?;
    Ok(now.is_some_and(|now| now.block.hash != was.hash))
}

/// Looks for the transaction, and for its block.
pub(crate) fn completed(act: &Execution<'_>, anchor: &Anchor) -> Result<Answered, Undelivered> {
    node_is_covered(act, anchor)?;
    let clocks = &act.executors.clocks;
    let mut came = blank(act);
    // Whatever is not known: nothing is sent by asking.
    let known = clocks.op_return_of(&anchor.digest).map_err(|error| match error {
        Undelivered::NotSent(why) | Undelivered::Unknown(why) => Undelivered::NotSent(why),
    })?;
    came.txid = known.map(|sent| sent.txid);
    let proven = match &came.txid {
        Some(txid) => clocks.op_return_state(txid)?.proven,
        None => None,
    };
    let Some((block, proof)) = proven else {
        let what = match &came.txid {
            Some(txid) => format!("no block is found that holds the transaction {txid}"),
            None => "the wallet knows no transaction that carries it".to_owned(),
        };
        came.is_gone = is_gone(act, anchor)?;
        // A wallet that was restored finds less than there is: while its block stands, what was proven stays so.
        if !came.is_gone && (came.txid.is_none() || anchor.was.is_some()) {
            return Err(Undelivered::NotSent(what));
        }
        came.says.push(what);
        return Ok(Answered { came, proof: None });
    };
    came.is_gone = anchor.was.as_ref().is_some_and(|was| was.hash != block.hash);
    let Some((seen, headers)) = block_at(act, block.height)? else {
        came.says.push(format!("the node does not tell block {}", block.height));
        return Ok(Answered { came, proof: Some(proof) });
    };
    let trust = Trust { authorities: &[], headers: Some(&headers) };
    let checked = check(anchor.clock, &proof, &anchor.digest, &trust);
    let checked = checked.map_err(|e| Undelivered::NotSent(e.to_string()))?;
    // The node that named the block holds another there.
    if let Some(why) = checked.contradicted {
        return Err(Undelivered::NotSent(why));
    }
    let (height, stand, wanted) = (block.height, seen.block.depth, anchor.depth);
    match checked.proven {
        Some(proven) if stand >= u64::from(wanted) => {
            came.not_after = Some(proven.not_after);
            came.says.push(format!("block {height} holds it, and {stand} blocks stand from there"));
            came.block = Some(seen.block);
        }
        Some(_) => came.says.push(format!("block {height} holds it, and {stand} of {wanted} blocks stand")),
        None => came.says.extend(checked.says),
    }
    Ok(Answered { came, proof: Some(proof) })
}
