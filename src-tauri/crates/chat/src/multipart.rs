//! `multipart/form-data`, as services take files.

use crate::clean;

/// Fields and files of a form, in order.
pub(crate) struct Form {
    boundary: String,
    bytes: Vec<u8>,
}

impl Form {
    /// A form whose boundary stands in none of these bytes.
    pub(crate) fn new(seed: &str, file: &[u8]) -> Self {
        let stands = |mark: &str| file.windows(mark.len()).any(|part| part == mark.as_bytes());
        let mut count = 0_u32;
        let boundary = loop {
            let mark = format!("hermit{}{count}", crate::short_key(&format!("form {seed} {count}")));
            if !stands(&mark) {
                break mark;
            }
            count += 1;
        };
        Self { boundary, bytes: Vec::new() }
    }

    /// Adds a field.
    pub(crate) fn field(&mut self, name: &str, media_type: Option<&str>, value: &str) {
        let kind = media_type.map(|kind| format!("\r\nContent-Type: {kind}")).unwrap_or_default();
        let head = format!(
            "--{}\r\nContent-Disposition: form-data; name=\"{name}\"{kind}\r\n\r\n{value}\r\n",
            self.boundary
        );
        self.bytes.extend_from_slice(head.as_bytes());
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, field: &str, file: &crate::OutFile) {
        let head = format!(
            "--{}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
            self.boundary,
            clean::file_name(&file.name),
            clean::media_type(&file.media_type)
        );
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(&file.bytes);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Its media type and its bytes.
    pub(crate) fn close(mut self) -> (String, Vec<u8>) {
        self.bytes.extend_from_slice(format!("--{}--\r\n", self.boundary).as_bytes());
        (format!("multipart/form-data; boundary={}", self.boundary), self.bytes)
    }
}
