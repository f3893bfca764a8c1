//! Sentinels: what a process holds instead of a value, as long as the value, so that in a body one takes the other's place
//! without anything else moving.

use super::LentSecret;
use super::head::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::secret::SecretPlace;
use std::fmt::Write as _;
use zeroize::Zeroizing;

/// Puts values in the place of sentinels, where the secrets' terms say so.
pub(super) struct Swap<'l> {
    lent: Vec<&'l LentSecret>,
    held: Zeroizing<Vec<u8>>,
}

impl<'l> Swap<'l> {
    /// For the secrets whose values may go to the host that is asked.
    pub(super) fn new(lent: Vec<&'l LentSecret>) -> Self {
        Self { lent, held: Zeroizing::default() }
    }

    /// The head of a request as it is sent.
    ///
    /// # Errors
    /// Why a value cannot stand where its sentinel stands.
    pub(super) fn head(&self, mut request: Request) -> Result<Zeroizing<Vec<u8>>, String> {
        for (name, value) in &mut request.fields {
            *value = self.field(name, value)?;
        }
        for lent in &self.lent {
            let sentinel = lent.in_text();
            if !request.target.contains(&*sentinel) {
                continue;
            }
            if !lent.terms.also_in.contains(&SecretPlace::Url) {
                return Err(format!(
                    "`secret:{}` may stand in request headers and not in an address",
                    lent.handle
                ));
            }
            request.target = request.target.replace(&*sentinel, &in_address(&lent.value));
        }
        Ok(Zeroizing::new(request.to_bytes()))
    }

    /// The value of a field; a password, which travels in base64, has its value inside.
    fn field(&self, name: &str, value: &str) -> Result<String, String> {
        let basic = value.split_at_checked(6).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic "));
        let said = basic.and_then(|(_, said)| STANDARD.decode(said.trim()).ok());
        if let (true, Some(said)) = (name.eq_ignore_ascii_case("authorization"), said) {
            let mut said = Zeroizing::new(said);
            self.lent.iter().for_each(|lent| replace(&mut said, lent));
            return Ok(format!("Basic {}", STANDARD.encode(&*said)));
        }
        let mut value = value.to_owned();
        for lent in &self.lent {
            let sentinel = lent.in_text();
            if !value.contains(&*sentinel) {
                continue;
            }
            let fits = |byte: &u8| matches!(byte, b'\t' | 0x20..=0x7e);
            let plain = std::str::from_utf8(&lent.value).ok().filter(|text| text.as_bytes().iter().all(fits));
            let plain = plain.ok_or_else(|| format!("`secret:{}` cannot stand in a header", lent.handle))?;
            value = value.replace(&*sentinel, plain);
        }
        Ok(value)
    }

    /// Takes a piece of the body; gives back what can no longer be part of a sentinel.
    pub(super) fn push(&mut self, piece: &[u8]) -> Zeroizing<Vec<u8>> {
        let in_body: Vec<&LentSecret> = self
            .lent
            .iter()
            .copied()
            .filter(|lent| lent.terms.also_in.contains(&SecretPlace::Body))
            .collect();
        self.held.extend_from_slice(piece);
        in_body.iter().for_each(|lent| replace(&mut self.held, lent));
        let longest = in_body.iter().map(|lent| lent.sentinel.len()).max().unwrap_or(1);
        let cut = self.held.len().saturating_sub(longest.saturating_sub(1));
        let rest = Zeroizing::new(self.held.split_off(cut));
        std::mem::replace(&mut self.held, rest)
    }

    /// The end: everything that was held back.
    pub(super) fn end(&mut self) -> Zeroizing<Vec<u8>> {
        std::mem::take(&mut self.held)
    }
}

fn replace(bytes: &mut [u8], lent: &LentSecret) {
    let length = lent.sentinel.len();
    let mut at = 0;
    while let Some(rest) = bytes.get_mut(at..).filter(|rest| length > 0 && rest.len() >= length) {
        let Some(found) = rest.windows(length).position(|part| part == lent.sentinel.as_slice()) else {
            break;
        };
        if let Some(place) = rest.get_mut(found..found + length).filter(|_| lent.value.len() == length) {
            place.copy_from_slice(&lent.value);
        }
        at += found + length;
    }
}

/// A value as it stands in a path or a query.
fn in_address(value: &[u8]) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::new());
    for byte in value {
        if byte.is_ascii_alphanumeric() || b"-._~:".contains(byte) {
            out.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::head::{Asked, parse};
    use super::*;
    use model::secret::SecretTerms;

    const SENTINEL: &str = "SENTINEL1";

    fn lent(value: &str, also_in: &[SecretPlace]) -> LentSecret {
        let bytes = |text: &str| Zeroizing::new(text.as_bytes().to_vec());
        let (value, sentinel) = (bytes(value), bytes(SENTINEL));
        let terms = SecretTerms { hosts: Vec::new(), also_in: also_in.to_vec() };
        LentSecret { handle: "api".to_owned(), terms, value, sentinel }
    }

    fn sent(lent: &LentSecret, target: &str, field: &str) -> Result<String, String> {
        let head = format!("GET http://a{target} HTTP/1.1\r\n{field}\r\n\r\n");
        let Ok(Asked::Plain { request, .. }) = parse(head.as_bytes()) else { panic!("{head}") };
        let bytes = Swap::new(vec![lent]).head(request)?;
        Ok(String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[test]
    fn in_a_body_one_takes_the_others_place_wherever_the_pieces_are_cut() {
        let text = "first SENTINEL1\r\n\r\n{\"it\":\"SENTINEL1\",\"SENTINEL\":2}";
        for (places, wanted) in
            [(&[SecretPlace::Body][..], text.replace(SENTINEL, "value-xyz")), (&[][..], text.to_owned())]
        {
            let lent = lent("value-xyz", places);
            for step in 1..text.len() {
                let mut swap = Swap::new(vec![&lent]);
                let mut got = Vec::new();
                for piece in text.as_bytes().chunks(step) {
                    got.extend_from_slice(&swap.push(piece));
                }
                got.extend_from_slice(&swap.end());
                assert_eq!(String::from_utf8(got).unwrap(), wanted, "{step}");
            }
        }
    }

    #[test]
    fn in_headers_it_always_does_also_within_a_password_and_never_in_a_name() {
        let api = lent("value-xyz", &[]);
        assert!(sent(&api, "/", "X-Key: a SENTINEL1 b").unwrap().contains("X-Key: a value-xyz b\r\n"));
        assert!(sent(&api, "/", "SENTINEL1: a").unwrap().contains("SENTINEL1: a\r\n"));
        let said = |password: &str| STANDARD.encode(format!("me:{password}"));
        let basic = format!("authorization: bAsIc {}", said(SENTINEL));
        assert!(sent(&api, "/", &basic).unwrap().contains(&format!("Basic {}\r\n", said("value-xyz"))));
        let broken = lent("v\r\nX: y-", &[]);
        assert!(sent(&broken, "/", "X-Key: SENTINEL1").unwrap_err().contains("cannot stand in a header"));
    }

    #[test]
    fn in_an_address_it_does_when_its_terms_say_so() {
        let refused = sent(&lent("value-xyz", &[SecretPlace::Body]), "/botSENTINEL1/x", "X: y").unwrap_err();
        assert!(refused.contains("not in an address"), "{refused}");
        let bot = lent("1:a b/?&é", &[SecretPlace::Url]);
        let head = sent(&bot, "/botSENTINEL1/x?k=SENTINEL1", "X: y").unwrap();
        assert!(
            head.starts_with("GET /bot1:a%20b%2F%3F%26%C3%A9/x?k=1:a%20b%2F%3F%26%C3%A9 HTTP/1.1\r\n"),
            "{head}"
        );
    }
}
