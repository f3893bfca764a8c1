//! Time-stamp authorities (RFC 3161, 3.4): one request by HTTP, and an answer that is signed.

use super::{Answered, Asked, ask, blank};
use crate::Undelivered;
use crate::tools::Execution;
use acts::Anchor;
use anchor::rfc3161;
use model::web::Method;

const QUERY: &str = "application/timestamp-query";
const REPLY: &str = "application/timestamp-reply";

/// Asks one authority after the other, until one signs this digest and nonce.
pub(crate) fn stamped(act: &Execution<'_>, anchor: &Anchor) -> Result<Answered, Undelivered> {
    let digits = anchor.nonce.get(..16).unwrap_or_default();
    let nonce = u64::from_str_radix(digits, 16).map_err(|e| Undelivered::NotSent(e.to_string()))?;
    let request = rfc3161::request(&anchor.digest, nonce);
    let mut refused = Vec::new();
    for url in &anchor.at {
        let asked =
            Asked { method: Method::Post, url, body: Some((QUERY, request.as_slice())), wants: REPLY };
        let (server, reply) = match ask(act, &asked) {
            Ok(came) => came,
            Err(why) => {
                refused.push(why);
                continue;
            }
        };
        if reply.status != 200 {
            refused.push(format!("{server} answered with status {}", reply.status));
            continue;
        }
        match signed(&reply.body, anchor, nonce) {
            Ok((stamp, signer)) => {
                let mut came = blank(act);
                came.not_after = Some(stamp.not_after());
                came.at = vec![server];
                came.says.push(format!("signed by {signer}, number {}", stamp.serial));
                came.says.push(format!("that {signer} states the right time is taken on trust"));
                came.says.append(&mut refused);
                return Ok(Answered { came, proof: Some(reply.body) });
            }
            Err(why) => refused.push(format!("{server}: {why}")),
        }
    }
    Err(Undelivered::NotSent(refused.join("; ")))
}

/// The stamp, and who signed it, where that is of this digest and nonce and its signature holds.
fn signed(answer: &[u8], anchor: &Anchor, nonce: u64) -> Result<(rfc3161::TimeStamp, String), String> {
    let stamp = rfc3161::read(answer).map_err(|e| e.to_string())?;
    if stamp.digest != anchor.digest {
        return Err("it signed another digest".to_owned());
    }
    if stamp.nonce != Some(nonce) {
        return Err("it signed another request: the nonce is not the one that was sent".to_owned());
    }
    let vouched = stamp.verify(&[]).map_err(|e| e.to_string())?;
    Ok((stamp, vouched.signer))
}
