//! Pictures in what an act came to, as its result tells them: those that a look read, and those that a tool answered with.

mod header;
mod kept;

pub use header::size_of;
pub use kept::{with_bytes, without_bytes};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Digest;
use model::context::Picture;
use serde_json::Value;

/// So many bytes tell what a picture is.
pub const BEGINNING: usize = 16;

/// Pictures that a look read, with their bytes; none of one that was not read whole.
pub fn read_in(result: &Value) -> Vec<(Picture, Option<Vec<u8>>)> {
    let read = result.get("results").and_then(Value::as_array).into_iter().flatten();
    read.filter_map(read_one).collect()
}

fn read_one(one: &Value) -> Option<(Picture, Option<Vec<u8>>)> {
    let text = |key: &str| one.get(key).and_then(Value::as_str);
    let is_whole = !one.get("cut")?.as_bool()?;
    let bytes = STANDARD.decode(text("base64")?).ok()?;
    let media_type = media_type_of(&bytes)?.to_owned();
    let name = text("path")?.to_owned();
    if is_whole {
        let (byte_size, sha256) = (bytes.len() as u64, Digest::of(&bytes));
        return Some((Picture { name, media_type, byte_size, sha256 }, Some(bytes)));
    }
    let (byte_size, sha256) = (one.get("byte_size")?.as_u64()?, text("sha256")?.parse().ok()?);
    Some((Picture { name, media_type, byte_size, sha256 }, None))
}

/// One content that a tool of a server answered with beside words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its digest.
    pub sha256: Digest,
    /// Its length in bytes.
    pub byte_size: u64,
    /// Whether the server says that it is a picture.
    pub is_said_to_be: bool,
}

/// What a tool of a server answered with beside words, in order, and the name of the tool.
pub fn named_in(result: &Value) -> (&str, Vec<Named>) {
    let tool = result.get("tool").and_then(Value::as_str).unwrap_or("a tool");
    let blocks = result.pointer("/answer/content").and_then(Value::as_array).into_iter().flatten();
    let named = |block: &Value| {
        let named = block.get("data").or_else(|| block.pointer("/resource/blob")).and_then(Value::as_str)?;
        let (size, digest) = named.rsplit_once(", sha256 ")?;
        let byte_size = size.strip_suffix(" bytes")?.parse().ok()?;
        let is_said_to_be = block.get("type").and_then(Value::as_str) == Some("image");
        Some(Named { sha256: digest.parse().ok()?, byte_size, is_said_to_be })
    };
    (tool, blocks.filter_map(named).collect())
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
