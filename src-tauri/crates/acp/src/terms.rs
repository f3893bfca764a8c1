//! What is used of the protocol's own terms, read leniently: what an agent leaves out or what is not known here is nothing,
//! and what it says twice is what it said last.

use serde::Deserialize;
use serde_json::Value;

/// Kinds of tools that the protocol knows.
pub const KINDS: [&str; 10] =
    ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"];

/// The text of a block of content; of a block without one, what kind it is.
pub fn text_of(block: &Value) -> String {
    let member = |name: &str| block.get(name).and_then(Value::as_str);
    match (member("type"), member("text")) {
        (Some("text") | None, Some(text)) => text.to_owned(),
        (Some("resource_link"), _) => member("uri").map(|uri| format!("[{uri}]")).unwrap_or_default(),
        (Some("resource"), _) => {
            let text = block.pointer("/resource/text").and_then(Value::as_str);
            text.map_or_else(|| "[resource]".to_owned(), str::to_owned)
        }
        (Some(kind), _) => format!("[{kind}]"),
        (None, None) => String::new(),
    }
}

/// A tool call as it is told of, or an update of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolCall {
    pub tool_call_id: String,
    pub title: Option<String>,
    pub kind: Option<String>,
    pub status: Option<String>,
    pub content: Option<Vec<Value>>,
    pub locations: Option<Vec<Value>>,
}

impl ToolCall {
    /// What is known of it, with what an update says.
    pub fn with(self, update: Self) -> Self {
        Self {
            tool_call_id: update.tool_call_id,
            title: update.title.or(self.title),
            kind: update.kind.or(self.kind),
            status: update.status.or(self.status),
            content: update.content.or(self.content),
            locations: update.locations.or(self.locations),
        }
    }

    /// What it is called, on one line.
    pub fn name(&self) -> String {
        let title = self.title.as_deref().unwrap_or_default();
        let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ");
        match (title.is_empty(), self.kind.as_deref()) {
            (false, _) => title.chars().take(200).collect(),
            (true, Some(kind)) => kind.chars().take(40).collect(),
            (true, None) => "a tool".to_owned(),
        }
    }

    /// Files that it says it works with.
    pub fn places(&self) -> Vec<String> {
        let at = |value: &Value| value.get("path").and_then(Value::as_str).map(str::to_owned);
        let locations = self.locations.iter().flatten().filter_map(at);
        locations.chain(self.differences().filter_map(at)).collect()
    }

    /// Files whose change it shows.
    pub fn changed(&self) -> Vec<String> {
        let at = |value: &Value| value.get("path").and_then(Value::as_str).map(str::to_owned);
        let changes = matches!(self.kind.as_deref(), Some("edit" | "delete" | "move"));
        let locations = self.locations.iter().flatten().filter(|_| changes).filter_map(at);
        locations.chain(self.differences().filter_map(at)).collect()
    }

    /// Lines that come and go, of each file whose change it shows.
    pub fn differences(&self) -> impl Iterator<Item = &Value> {
        let is_diff = |value: &&Value| value.get("type").and_then(Value::as_str) == Some("diff");
        self.content.iter().flatten().filter(is_diff)
    }
}

/// One answer that may be given when an agent asks for permission.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    pub option_id: String,
    #[serde(default)]
    pub kind: String,
}
