//! Programs whose agents can use Hermit as a tool server: where each keeps its configuration, and in which form. As data.

use crate::edit::Format;
use serde_json::{Value, json};

/// A system, as far as it decides where a configuration lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and its like.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

/// One program.
#[derive(Debug)]
pub struct Client {
    /// As a person names it.
    pub name: &'static str,
    /// As it calls itself.
    pub title: &'static str,
    /// The form of its file.
    pub format: Format,
    /// The member that holds tool servers by name.
    pub holder: &'static str,
    /// Its file below the person's home folder: Linux, macOS, Windows.
    files: [&'static str; 3],
    /// What the entry says beside command and arguments.
    more: &'static [(&'static str, &'static str)],
}

/// All that are known.
pub const ALL: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        format: Format::Json,
        holder: "mcpServers",
        files: [".claude.json"; 3],
        more: &[("type", "stdio")],
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        format: Format::Json,
        holder: "mcpServers",
        files: [
            ".config/Claude/claude_desktop_config.json",
            "Library/Application Support/Claude/claude_desktop_config.json",
            "AppData/Roaming/Claude/claude_desktop_config.json",
        ],
        more: &[],
    },
    Client {
        name: "codex",
        title: "Codex",
        format: Format::Toml,
        holder: "mcp_servers",
        files: [".codex/config.toml"; 3],
        more: &[],
    },
    Client {
        name: "cursor",
        title: "Cursor",
        format: Format::Json,
        holder: "mcpServers",
        files: [".cursor/mcp.json"; 3],
        more: &[],
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        format: Format::Json,
        holder: "mcpServers",
        files: [".gemini/settings.json"; 3],
        more: &[],
    },
    Client {
        name: "goose",
        title: "goose",
        format: Format::Yaml,
        holder: "extensions",
        files: [
            ".config/goose/config.yaml",
            ".config/goose/config.yaml",
            "AppData/Roaming/Block/goose/config/config.yaml",
        ],
        more: &[],
    },
    Client {
        name: "vscode",
        title: "Visual Studio Code",
        format: Format::Json,
        holder: "servers",
        files: [
            ".config/Code/User/mcp.json",
            "Library/Application Support/Code/User/mcp.json",
            "AppData/Roaming/Code/User/mcp.json",
        ],
        more: &[("type", "stdio")],
    },
    Client {
        name: "zed",
        title: "Zed",
        format: Format::Json,
        holder: "context_servers",
        files: [
            ".config/zed/settings.json",
            ".config/zed/settings.json",
            "AppData/Roaming/Zed/settings.json",
        ],
        more: &[],
    },
];

/// The program of that name.
pub fn find(name: &str) -> Option<&'static Client> {
    ALL.iter().find(|client| client.name == name)
}

impl Client {
    /// Its file, below the person's home folder.
    pub const fn file(&self, system: System) -> &'static str {
        let [linux, mac, windows] = self.files;
        match system {
            System::Linux => linux,
            System::Mac => mac,
            System::Windows => windows,
        }
    }

    /// What its file says of Hermit.
    pub fn entry(&self, command: &str, args: &[String]) -> Value {
        if self.format == Format::Yaml {
            return json!({
                "args": args, "cmd": command, "enabled": true, "name": "hermit", "timeout": 300, "type": "stdio",
            });
        }
        let mut entry = json!({ "command": command, "args": args });
        if let Some(members) = entry.as_object_mut() {
            members.extend(self.more.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, System};

    #[test]
    fn each_program_stands_once_and_has_a_place_on_every_system() {
        for (at, client) in ALL.iter().enumerate() {
            assert!(ALL.iter().skip(at + 1).all(|other| other.name != client.name), "{}", client.name);
            for system in [System::Linux, System::Mac, System::Windows] {
                let file = client.file(system);
                assert!(!file.is_empty() && !file.starts_with('/'), "{file}");
            }
        }
    }
}
