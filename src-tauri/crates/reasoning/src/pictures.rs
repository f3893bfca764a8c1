//! Pictures in what an act came to, as its result tells them: those that a look read, and those that a tool answered with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Digest;
use model::context::Picture;
use serde_json::Value;

/// So many bytes tell what a picture is.
pub const BEGINNING: usize = 16;

/// Pictures that a look read whole, with their bytes.
pub fn read_in(result: &Value) -> Vec<(Picture, Vec<u8>)> {
    let read = result.get("results").and_then(Value::as_array).into_iter().flatten();
    read.filter_map(whole).collect()
}

fn whole(one: &Value) -> Option<(Picture, Vec<u8>)> {
    let text = |key: &str| one.get(key).and_then(Value::as_str);
    if one.get("cut").and_then(Value::as_bool) != Some(false) {
        return None;
    }
    let bytes = STANDARD.decode(text("base64")?).ok()?;
    let media_type = media_type_of(&bytes)?.to_owned();
    let (name, sha256) = (text("path")?.to_owned(), Digest::of(&bytes));
    Some((Picture { name, media_type, byte_size: bytes.len() as u64, sha256 }, bytes))
}

/// What a tool of a server answered with beside words: the tool, and the digest of each content.
pub fn named_in(result: &Value) -> Vec<(String, Digest)> {
    let tool = result.get("tool").and_then(Value::as_str).unwrap_or("a tool");
    let blocks = result.pointer("/answer/content").and_then(Value::as_array).into_iter().flatten();
    let named = |block: &Value| {
        let named = block.get("data").or_else(|| block.pointer("/resource/blob")).and_then(Value::as_str)?;
        named.rsplit_once("sha256 ").and_then(|(_, digest)| digest.parse().ok())
    };
    blocks.filter_map(named).map(|sha256| (tool.to_owned(), sha256)).collect()
}

/// What bytes are, by how they begin, where they are a picture that models take.
pub fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP".as_slice());
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        _ => is_webp.then_some("image/webp"),
    }
}

/// Whether a request to a server of models shows pictures, in whichever protocol.
pub(crate) fn are_in(request: &Value) -> bool {
    match request {
        Value::Array(all) => all.iter().any(are_in),
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
            matches!(kind, "image_url" | "input_image")
                || kind == "image" && members.contains_key("source")
                || members.contains_key("inlineData")
                || members.contains_key("role") && members.contains_key("images")
                || members.values().any(are_in)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::media_type_of;

    #[test]
    fn pictures_are_known_by_how_they_begin() {
        for (bytes, said) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a..", Some("image/gif")),
            (b"RIFF1234WEBPVP8 ", Some("image/webp")),
            (b"RIFF1234WAVEfmt ", None),
            (b"<svg xmlns", None),
            (b"", None),
        ] {
            assert_eq!(media_type_of(bytes), said, "{bytes:?}");
        }
    }
}
