//! What a GGUF file says of itself at its beginning, read without trusting a length in it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

/// How such a file begins.
pub(super) const MAGIC: &[u8; 4] = b"GGUF";
/// Pairs of a name and a value.
const PAIRS_MAX: u64 = 4_096;
/// Bytes of a name, and of a value that is kept.
const TEXT_BYTES_MAX: u64 = 4_096;
/// Elements of one list, such as the tokens of a vocabulary.
const ELEMENTS_MAX: u64 = 4_000_000;
/// Bytes for a context, whatever a header says.
const CONTEXT_BYTES_MAX: u64 = 64 << 30;

/// What is of use.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Header {
    /// Tokens that it was trained for.
    pub(super) context: Option<u32>,
    /// Thousand million weights, as its maker says them.
    pub(super) billions: Option<f64>,
    /// Its licence.
    pub(super) license: Option<String>,
    layers: Option<u64>,
    width: Option<u64>,
    heads: Option<u64>,
    heads_kv: Option<u64>,
    key: Option<u64>,
    value: Option<u64>,
}

impl Header {
    /// Bytes that so many tokens take beside the weights: a key and a value of two bytes a number in each layer. None of
    /// them where it does not say enough.
    pub(super) fn context_bytes(&self, tokens: u32) -> u64 {
        let head = self.width.unwrap_or_default() / self.heads.unwrap_or(1).max(1);
        let both = self.key.unwrap_or(head).saturating_add(self.value.unwrap_or(head));
        let layer = self.heads_kv.or(self.heads).unwrap_or_default().saturating_mul(both).saturating_mul(2);
        let token = layer.saturating_mul(self.layers.unwrap_or_default());
        token.saturating_mul(u64::from(tokens)).min(CONTEXT_BYTES_MAX)
    }
}

/// Reads the beginning of a file of weights.
///
/// # Errors
/// In words, when it is none.
pub(super) fn read(path: &Path) -> Result<Header, String> {
    let file = File::open(path).map_err(|e| format!("`{}` cannot be read: {e}", path.display()))?;
    of(&file, path)
}

/// Reads the beginning of a file that is open: a second one of a file that is locked reads nothing on some systems.
///
/// # Errors
/// In words, when it is none.
pub(super) fn of(mut file: &File, path: &Path) -> Result<Header, String> {
    file.rewind().map_err(|e| format!("`{}` cannot be read: {e}", path.display()))?;
    let mut from = Source { bytes: BufReader::new(file) };
    from.header().map_err(|why| format!("`{}` is no GGUF file that can be used: {why}", path.display()))
}

struct Source<'f> {
    bytes: BufReader<&'f File>,
}

enum Value {
    Text(String),
    Number(u64),
    Other,
}

impl Source<'_> {
    fn header(&mut self) -> Result<Header, String> {
        if self.take::<4>().is_ok_and(|magic| magic != *MAGIC) {
            return Err("it does not begin with `GGUF`".to_owned());
        }
        let version = self.u32()?;
        if !matches!(version, 2 | 3) {
            return Err(format!("it is of version {version}, and 2 and 3 are known"));
        }
        let (_tensors, pairs) = (self.u64()?, self.u64()?);
        if pairs > PAIRS_MAX {
            return Err(format!("it says {pairs} things of itself"));
        }
        let mut header = Header::default();
        for _ in 0..pairs {
            let name = self.text()?.unwrap_or_default();
            let kind = self.u32()?;
            match (name.as_str(), self.value(kind)?) {
                (name, Value::Number(n)) if name.ends_with(".context_length") => {
                    header.context = u32::try_from(n).ok();
                }
                (name, Value::Number(n)) if name.ends_with(".block_count") => header.layers = Some(n),
                (name, Value::Number(n)) if name.ends_with(".embedding_length") => header.width = Some(n),
                (name, Value::Number(n)) if name.ends_with(".attention.head_count") => {
                    header.heads = Some(n);
                }
                (name, Value::Number(n)) if name.ends_with(".attention.head_count_kv") => {
                    header.heads_kv = Some(n);
                }
                (name, Value::Number(n)) if name.ends_with(".attention.key_length") => header.key = Some(n),
                (name, Value::Number(n)) if name.ends_with(".attention.value_length") => {
                    header.value = Some(n);
                }
                ("general.size_label", Value::Text(label)) => header.billions = billions(&label),
                ("general.license", Value::Text(license)) => header.license = Some(license),
                _ => {}
            }
        }
        Ok(header)
    }

    fn value(&mut self, kind: u32) -> Result<Value, String> {
        Ok(match kind {
            4 => Value::Number(u64::from(self.u32()?)),
            10 => Value::Number(self.u64()?),
            8 => self.text()?.map_or(Value::Other, Value::Text),
            9 => self.list()?,
            other => self.skip(width(other)?)?,
        })
    }

    fn list(&mut self) -> Result<Value, String> {
        let (kind, count) = (self.u32()?, self.u64()?);
        if count > ELEMENTS_MAX {
            return Err(format!("a list in it has {count} elements"));
        }
        if kind != 8 {
            return self.skip(width(kind)?.saturating_mul(count));
        }
        for _ in 0..count {
            self.text()?;
        }
        Ok(Value::Other)
    }

    /// A text; none when it is longer than what is kept.
    fn text(&mut self) -> Result<Option<String>, String> {
        let length = self.u64()?;
        if length > TEXT_BYTES_MAX {
            self.skip(length)?;
            return Ok(None);
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(|e| e.to_string())?];
        self.bytes.read_exact(&mut bytes).map_err(cut)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn skip(&mut self, bytes: u64) -> Result<Value, String> {
        let most = i64::try_from(bytes).map_err(|_| "a length in it is no length".to_owned())?;
        self.bytes.seek(SeekFrom::Current(most)).map_err(cut)?;
        Ok(Value::Other)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.bytes.read_exact(&mut bytes).map_err(cut)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_le_bytes)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn cut(error: io::Error) -> String {
    format!("it ends in the middle ({error})")
}

/// Bytes of a value.
fn width(kind: u32) -> Result<u64, String> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        10..=12 => Ok(8),
        other => Err(format!("it has a value of kind {other}")),
    }
}

/// `1.5B` and `135M`.
fn billions(label: &str) -> Option<f64> {
    let (number, unit) = label.split_at_checked(label.len().checked_sub(1)?)?;
    let number: f64 = number.parse().ok()?;
    match unit {
        "B" => Some(number),
        "M" => Some(number / 1000.0),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    impl Header {
        pub(in crate::model_box) fn of_tests() -> Self {
            Self { layers: Some(2), width: Some(64), heads: Some(4), heads_kv: Some(2), ..Self::default() }
        }
    }

    fn text(text: &str) -> Vec<u8> {
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    /// A file that says of itself what such files say, and has no weights.
    pub(in crate::model_box) fn weights() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend(8_u64.to_le_bytes());
        for (name, number) in [
            ("block_count", 2_u32),
            ("embedding_length", 64),
            ("attention.head_count", 4),
            ("attention.head_count_kv", 2),
        ] {
            bytes.extend(text(&format!("qwen2.{name}")));
            bytes.extend([4_u32.to_le_bytes(), number.to_le_bytes()].concat());
        }
        bytes.extend([text("general.size_label"), 8_u32.to_le_bytes().to_vec(), text("1.5B")].concat());
        bytes.extend([text("tokens"), 9_u32.to_le_bytes().to_vec(), 8_u32.to_le_bytes().to_vec()].concat());
        bytes.extend([2_u64.to_le_bytes().to_vec(), text("a"), text("b")].concat());
        bytes.extend([text("x.rope"), 6_u32.to_le_bytes().to_vec(), 1.5_f32.to_le_bytes().to_vec()].concat());
        bytes.extend(text("qwen2.context_length"));
        bytes.extend([4_u32.to_le_bytes(), 32_768_u32.to_le_bytes()].concat());
        bytes
    }

    #[test]
    fn a_file_says_what_it_is_and_one_that_is_none_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.gguf");
        let reads = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read(&path)
        };
        let header = reads(&weights()).unwrap();
        assert_eq!((header.context, header.billions), (Some(32_768), Some(1.5)));
        // Two layers of two heads with 16 numbers each, for a key and a value, of two bytes.
        assert_eq!(header.context_bytes(1_000), 2 * 2 * (16 + 16) * 2 * 1_000);
        let lies = Header { layers: Some(u64::MAX), heads: Some(1), width: Some(u64::MAX), ..header };
        assert_eq!((lies.context_bytes(1), Header::default().context_bytes(8)), (CONTEXT_BYTES_MAX, 0));
        assert!(reads(b"<html>").unwrap_err().contains("does not begin with `GGUF`"));
        let cut = weights();
        assert!(reads(&cut[..cut.len() - 2]).unwrap_err().contains("ends in the middle"));
        let mut many = weights();
        many[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(reads(&many).unwrap_err().contains("things of itself"));
        let mut long = weights();
        long[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(reads(&long).is_err());
    }
}
