//! Signed calls of webhooks: HMAC-SHA256 over the bytes that came, in the form of Standard Webhooks and in that of GitHub.
//!
//! A secret is `whsec_` and Base64, as Standard Webhooks writes it: what is encoded there is its key in that form. In GitHub's form
//! the key is the text itself, as it is typed there.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// How a secret begins.
const SECRET: &str = "whsec_";
/// How a signature of Standard Webhooks begins.
const VERSION: &str = "v1,";
/// How a signature of GitHub begins.
const ALGORITHM: &str = "sha256=";
/// Signatures of one call that are looked at: a sender signs with two secrets while one takes the other's place.
const SIGNATURES_MAX: usize = 8;

/// A secret out of bytes that were drawn for it.
#[must_use]
pub fn secret_of(drawn: &[u8; 32]) -> Zeroizing<String> {
    Zeroizing::new(format!("{SECRET}{}", STANDARD.encode(drawn)))
}

/// The signature of a call in the form of Standard Webhooks; `timestamp`: seconds since 1970.
#[must_use]
pub fn sign(secret: &[u8], id: &str, timestamp: &str, body: &[u8]) -> String {
    let tag = tag(&key_of(secret), &[id.as_bytes(), b".", timestamp.as_bytes(), b".", body]);
    let signature = tag.map(|tag| STANDARD.encode(tag.finalize().into_bytes()));
    format!("{VERSION}{}", signature.unwrap_or_default())
}

/// Whether one of the signatures of a call, parted by spaces as Standard Webhooks has them, is of this secret. A comparison takes
/// as long whatever differs.
#[must_use]
pub fn is_signed(secret: &[u8], (id, timestamp): (&str, &str), body: &[u8], signatures: &str) -> bool {
    let Some(tag) = tag(&key_of(secret), &[id.as_bytes(), b".", timestamp.as_bytes(), b".", body]) else {
        return false;
    };
    let all = signatures.split(' ').filter_map(|one| one.strip_prefix(VERSION)).take(SIGNATURES_MAX);
    let given = all.filter_map(|text| STANDARD.decode(text).ok());
    given.fold(false, |holds, given| tag.clone().verify_slice(&given).is_ok() | holds)
}

/// Whether the signature of a body, as GitHub writes it, is of this secret.
#[must_use]
pub fn is_body_signed(secret: &[u8], body: &[u8], signature: &str) -> bool {
    let given = signature.strip_prefix(ALGORITHM).and_then(|text| hex::decode(text).ok());
    given.zip(tag(secret, &[body])).is_some_and(|(given, tag)| tag.verify_slice(&given).is_ok())
}

/// HMAC-SHA256 over parts, one behind the other, by a key of any length.
#[must_use]
pub fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    tag(key, parts).map(|tag| tag.finalize().into_bytes().into()).unwrap_or_default()
}

/// Whether this is how a mac of these parts begins; it takes as long whatever differs.
#[must_use]
pub fn begins_mac(key: &[u8], parts: &[&[u8]], begins: &[u8]) -> bool {
    tag(key, parts).is_some_and(|tag| tag.verify_truncated_left(begins).is_ok())
}

/// What a secret's key is in the form of Standard Webhooks; one that a sender wrote otherwise is its own key.
fn key_of(secret: &[u8]) -> Zeroizing<Vec<u8>> {
    let encoded = secret.strip_prefix(SECRET.as_bytes());
    let key = encoded.and_then(|text| STANDARD.decode(text).ok());
    Zeroizing::new(key.unwrap_or_else(|| secret.to_vec()))
}

fn tag(key: &[u8], parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    // A key may have any length.
    let mut tag = Hmac::<Sha256>::new_from_slice(key).ok()?;
    parts.iter().for_each(|part| tag.update(part));
    Some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made with Python's `hmac`; the last is the example of GitHub's own pages.
    const KNOWN: &str = concat!("whsec_", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    const ID: &str = "msg_1";
    const AT: &str = "1700000000";
    const BODY: &[u8] = b"{\"a\":1}";
    const SIGNED: &str = "v1,AMaOha7DUT/0J0JMycRuYOBSvbx3WtwLd2khXXbaVj4=";
    const SIGNED_BY_WORDS: &str = "v1,wBg6l9YMPpN5Mkh467Cjd8qZ/YuhWhZ7F1gMBoDn084=";
    const BODY_SIGNED: &str = "sha256=d3f1ea16147b8b8d0304fe2a9559b4b4b84d057af19b132191df3378cbd1234a";
    const OF_GITHUB: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    #[test]
    fn calls_that_another_implementation_signed_hold_and_no_other_do() {
        assert_eq!(*secret_of(&std::array::from_fn(|at| u8::try_from(at).unwrap_or_default())), KNOWN);
        let known = |signatures: &str| is_signed(KNOWN.as_bytes(), (ID, AT), BODY, signatures);
        assert_eq!(sign(KNOWN.as_bytes(), ID, AT, BODY), SIGNED);
        assert!(known(SIGNED));
        assert!(known(&format!("v1,AAAA v2,x {SIGNED} v1,")), "one of several");
        assert!(!known(&format!("{}{SIGNED}", "v1,AAAA ".repeat(SIGNATURES_MAX))), "and no more than some");
        for other in [
            "",
            "v1,",
            "v1",
            &SIGNED.replace("v1,", "v2,"),
            &SIGNED.replace("v1,", ""),
            SIGNED.get(..20).unwrap_or_default(),
        ] {
            assert!(!known(other), "{other}");
        }
        for (id, at, body) in [
            ("msg_2", AT, BODY),
            (ID, "1700000001", BODY),
            (ID, AT, b"{\"a\":2}".as_slice()),
            ("msg_1.1700000000", "", BODY),
        ] {
            assert!(!is_signed(KNOWN.as_bytes(), (id, at), body, SIGNED), "{id} {at}");
        }
        assert!(!is_signed(b"whsec_AAAA", (ID, AT), BODY, SIGNED));
        // One that a sender wrote in another way is its own key.
        assert!(is_signed(b"plain words", (ID, AT), BODY, SIGNED_BY_WORDS));
        assert!(is_body_signed(KNOWN.as_bytes(), BODY, BODY_SIGNED));
        assert!(is_body_signed(b"It's a Secret to Everybody", b"Hello, World!", OF_GITHUB));
        for other in [
            "",
            "sha256=",
            "sha1=00",
            &BODY_SIGNED.replace("sha256=", ""),
            BODY_SIGNED.get(..30).unwrap_or_default(),
            OF_GITHUB,
        ] {
            assert!(!is_body_signed(KNOWN.as_bytes(), BODY, other), "{other}");
        }
    }
}
