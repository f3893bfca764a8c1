//! A file's bytes, as text where they are text.

use crate::{Error, READ_BYTES_MAX, Workspace};
use base64::Engine;
use model::RelPath;
use serde_json::{Value, json};
use std::io::{self, Read};

/// Digest and size are of the whole file; the bytes given are at most [`READ_BYTES_MAX`], and `cut` says so.
pub(crate) fn read(workspace: &Workspace, path: &RelPath) -> Result<Value, Error> {
    let (file, _) = workspace.parent(path)?.open_file(path.file_name(), path)?;
    let mut keeping = Keeping { inner: file, head: Vec::new() };
    let (sha256, byte_size) = disk::digest(&mut keeping).map_err(|e| Error::io("reading", path, e))?;
    let cut = byte_size > keeping.head.len() as u64;
    let mut value = json!({
        "op": "read",
        "path": path.to_string(),
        "sha256": sha256.to_string(),
        "byte_size": byte_size,
        "cut": cut,
    });
    if let Some(object) = value.as_object_mut() {
        let (name, encoding, text) = encode(keeping.head, cut);
        object.insert(name.to_owned(), Value::String(text));
        object.insert("encoding".to_owned(), Value::String(encoding.to_owned()));
    }
    Ok(value)
}

struct Keeping<R> {
    inner: R,
    head: Vec<u8>,
}

impl<R: Read> Read for Keeping<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let room = usize::try_from(READ_BYTES_MAX).unwrap_or(usize::MAX).saturating_sub(self.head.len());
        self.head.extend_from_slice(buffer.get(..n.min(room)).unwrap_or(&[]));
        Ok(n)
    }
}

/// Field name, encoding's name and text. Text cut inside a character loses that character's bytes, nothing else.
pub(crate) fn encode(mut bytes: Vec<u8>, cut: bool) -> (&'static str, &'static str, String) {
    if cut
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ("text", "utf-8", text),
        Ok(text) => ("base64", "base64", base64::engine::general_purpose::STANDARD.encode(text)),
        Err(error) => {
            ("base64", "base64", base64::engine::general_purpose::STANDARD.encode(error.into_bytes()))
        }
    }
}
