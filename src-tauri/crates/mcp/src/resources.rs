//! Receipts of a session as resources, and the proof of each as a file.

use crate::known::Client;
use crate::server::Server;
use crate::told::receipt_uri;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{Resource, ResourceContents};
use serde_json::{Map, Value, json};
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a proof that is handed over as a resource.
const PROOF_BYTES_MAX: u64 = 8 * 1024 * 1024;
pub(crate) const ZIP: &str = "application/zip";

impl Server {
    /// A receipt of this session, as JSON and in words.
    pub(crate) fn receipt(&self, client: &Client, uri: &str) -> Result<Vec<ResourceContents>, String> {
        let id = uri.strip_prefix(&receipt_uri("")).ok_or_else(|| format!("there is no resource `{uri}`"))?;
        let receipt = self.own(client, |own| own.receipt(id))?;
        let written = serde_json::to_string_pretty(&receipt).map_err(|e| e.to_string())?;
        Ok(vec![
            ResourceContents::text(written, uri).with_mime_type("application/json"),
            ResourceContents::text(in_words(&receipt), uri),
        ])
    }

    /// The proof of a receipt of this session, with its path to the root of the log as far as that is signed.
    pub(crate) fn proof(
        &self,
        client: &Client,
        id: &str,
        uri: &str,
    ) -> Result<Vec<ResourceContents>, String> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let found = self.own(client, |own| own.receipt(id))?;
        let id = found.pointer("/row/receipt_id").map(words).unwrap_or_default();
        let name = format!("{id}-{}-{}.zip", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
        let path = self.options.proofs.join(name);
        std::fs::create_dir_all(&self.options.proofs)
            .map_err(|e| format!("cannot make the folder of proofs: {e}"))?;
        // What a process of this number left behind that was killed in between.
        let _ = std::fs::remove_file(&path);
        let _: Value = self.ask("proof.export", json!({ "receipt": id, "path": path.to_string_lossy() }))?;
        let read = read_bounded(&path);
        let _ = std::fs::remove_file(&path);
        let blob = ResourceContents::blob(STANDARD.encode(read?), uri).with_mime_type(ZIP);
        Ok(vec![blob])
    }

    pub(crate) fn receipts(&self, client: &Client) -> Result<Vec<Resource>, String> {
        let page = self.read(client, "hermit_receipts", &Map::new())?;
        let rows = page.get("rows").and_then(Value::as_array).cloned().unwrap_or_default();
        let row = |row: &Value| {
            let id = row.get("receipt_id")?.as_str()?;
            let title = row.get("summary").map(words).unwrap_or_default();
            let resource = Resource::new(receipt_uri(id), format!("receipt {id}"));
            Some(resource.with_title(title).with_mime_type("application/json"))
        };
        Ok(rows.iter().filter_map(row).collect())
    }
}

/// A text of the wire: plain, or erased.
fn words(text: &Value) -> String {
    text.as_str().map_or_else(|| "(erased)".to_owned(), str::to_owned)
}

/// A receipt in a few lines.
fn in_words(receipt: &Value) -> String {
    let row = |name: &str| receipt.pointer(&format!("/row/{name}")).map(words).unwrap_or_default();
    let at = receipt.pointer("/row/issued_at").and_then(Value::as_i64).unwrap_or_default();
    let plain = |name: &str| row(name).replace('_', " ");
    let signed = receipt.get("signed_by").and_then(Value::as_array).is_some_and(|keys| !keys.is_empty());
    format!(
        "{}\nresult: {}\ncan it be undone: {}\ntask: {}\nissued at {}, {}\nstatement sha256: {}\n",
        row("summary"),
        plain("result"),
        plain("reversibility"),
        row("task_id"),
        words::time::utc(at),
        if signed { "signed" } else { "not signed: this store has no keys" },
        receipt.get("statement_sha256").map(words).unwrap_or_default(),
    )
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, String> {
    let file = std::fs::File::open(path).map_err(|e| format!("the proof cannot be read: {e}"))?;
    let mut bytes = Vec::new();
    file.take(PROOF_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| format!("the proof cannot be read: {e}"))?;
    if bytes.len() as u64 > PROOF_BYTES_MAX {
        return Err(format!(
            "the proof is larger than {PROOF_BYTES_MAX} bytes; `hermit_proof` writes it into a file"
        ));
    }
    Ok(bytes)
}
