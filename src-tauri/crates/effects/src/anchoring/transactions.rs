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
        // Whether the one that was interrupted was sent is known only to the wallet.
        Err(Undelivered::NotSent(why)) if is_repeat => return Err(Undelivered::Unknown(why)),
        Err(error) => return Err(error),
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

/// Looks for the transaction, and for its block.
pub(crate) fn completed(act: &Execution<'_>, anchor: &Anchor) -> Result<Answered, Undelivered> {
    node_is_covered(act, anchor)?;
    let clocks = &act.executors.clocks;
    let mut came = blank(act);
    let Some(sent) = clocks.op_return_of(&anchor.digest)? else {
        if anchor.was.is_none() {
            return Err(Undelivered::NotSent("the wallet knows no transaction that carries it".to_owned()));
        }
        came.is_gone = true;
        came.says.push("the wallet knows no transaction any more that carries it".to_owned());
        return Ok(Answered { came, proof: None });
    };
    came.txid = Some(sent.txid.clone());
    let Some((block, proof)) = clocks.op_return_state(&sent.txid)?.proven else {
        came.is_gone = anchor.was.is_some();
        came.says.push(format!("no block holds the transaction {} yet", sent.txid));
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
