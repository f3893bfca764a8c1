//! A request to a server of models as it is kept: the very bytes that are sent, with the name of each picture in the place of its
//! base64. The picture is content of the store already; erased there, no request has it.

use crate::port::Pictures;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What stands in the place of a picture, before its digest. No writer of JSON writes that letter so, and a backslash of
/// anybody's words is written twice: what a stranger says never passes for it.
const MARK: &str = "\\u0068ermit picture sha256 ";
/// Letters of a digest.
const DIGEST: usize = 64;

/// A request with its pictures named in the place of their bytes.
pub fn without_bytes(request: Vec<u8>, pictures: &Pictures) -> Vec<u8> {
    let mut text = match String::from_utf8(request) {
        Ok(text) => text,
        Err(error) => return error.into_bytes(),
    };
    // One picture may begin as another does: the longest first.
    let mut all: Vec<_> = pictures.iter().collect();
    all.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes.len()));
    for (digest, bytes) in all.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
        text = text.replace(&STANDARD.encode(bytes), &format!("{MARK}{digest}"));
    }
    text.into_bytes()
}

/// A kept request as it is sent.
pub fn with_bytes(kept: Vec<u8>, pictures: &Pictures) -> Vec<u8> {
    if pictures.is_empty() {
        return kept;
    }
    let kept = match String::from_utf8(kept) {
        Ok(text) => text,
        Err(error) => return error.into_bytes(),
    };
    let (mut whole, mut from) = (String::with_capacity(kept.len()), 0);
    for (at, _) in kept.match_indices(MARK) {
        let before = kept.get(from..at).unwrap_or_default();
        let named = at.checked_add(MARK.len()).and_then(|begin| kept.get(begin..begin.checked_add(DIGEST)?));
        let picture = named.and_then(|name| pictures.get(&name.parse().ok()?));
        // A backslash before it that is itself written twice leaves an even row: that one is somebody's words.
        let row = kept.get(..at).unwrap_or_default().bytes().rev().take_while(|byte| *byte == b'\\').count();
        let (Some(bytes), true) = (picture, row % 2 == 0) else { continue };
        whole.push_str(before);
        whole.push_str(&STANDARD.encode(bytes));
        from = at.saturating_add(MARK.len()).saturating_add(DIGEST);
    }
    whole.push_str(kept.get(from..).unwrap_or_default());
    whole.into_bytes()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use model::Digest;
    use serde_json::json;

    fn pictures(all: &[&[u8]]) -> Pictures {
        all.iter().map(|bytes| (Digest::of(bytes), bytes.to_vec())).collect()
    }

    #[test]
    fn a_request_is_kept_without_the_bytes_of_its_pictures_and_sent_with_them_byte_for_byte() {
        // One begins as the other does, and a text holds the bytes of one.
        let (short, long) = (b"\x89PNG and so on ".as_slice(), b"\x89PNG and so on and on".as_slice());
        let of = pictures(&[short, long]);
        let (one, other) = (STANDARD.encode(short), STANDARD.encode(long));
        let request = json!({ "messages": [
            { "image_url": { "url": format!("data:image/png;base64,{one}") } },
            { "source": { "data": other, "media_type": "image/png" } },
            { "text": format!("\\{one} \"{other}\"") },
        ] });
        let sent = request.to_string().into_bytes();
        let kept = without_bytes(sent.clone(), &of);
        let text = String::from_utf8(kept.clone()).unwrap();
        assert!(!text.contains(&one) && !text.contains(&other), "{text}");
        let read: serde_json::Value = serde_json::from_slice(&kept).unwrap();
        let named = format!("hermit picture sha256 {}", Digest::of(long));
        assert_eq!(
            read["messages"][1]["source"]["data"],
            json!(named),
            "it is JSON that says what is left out"
        );
        assert_eq!(with_bytes(kept, &of), sent);
    }

    #[test]
    fn what_a_stranger_writes_never_passes_for_a_picture() {
        let of = pictures(&[b"\x89PNG and so on"]);
        let digest = Digest::of(b"\x89PNG and so on");
        for words in [
            format!("hermit picture sha256 {digest}"),
            format!("{MARK}{digest}"),
            format!("\\{MARK}{digest}"),
            format!("\\\\{MARK}{digest}"),
            format!("\n{MARK}{digest}"),
            format!("{MARK}{}", Digest::of(b"another")),
        ] {
            let sent = json!({ "text": words }).to_string().into_bytes();
            assert_eq!(without_bytes(sent.clone(), &of), sent, "{words}");
            assert_eq!(with_bytes(sent.clone(), &of), sent, "{words}");
        }
    }
}
