//! Commands that a person writes behind a slash: one list for every surface, and how they are told from words.

crate::names! {
    /// A command behind a slash; each stands for a governed command that has a name of its own.
    pub enum SlashCommand ("command") {
        /// Tells which there are.
        Help = "help",
        /// Tries again.
        Retry = "retry",
        /// Undoes what was done.
        Undo = "undo",
        /// Tells how it stands and why.
        Explain = "explain",
        /// Begins work of its own beside it, in a conversation of its own.
        Branch = "branch",
        /// Edits the goal.
        Goal = "goal",
        /// Sums up the oldest turns of its context.
        Compress = "compress",
        /// Pauses.
        Pause = "pause",
        /// Goes on.
        Resume = "resume",
        /// Ends it.
        Stop = "stop",
        /// Gives the conversation a skin.
        Skin = "skin",
    }
}

impl SlashCommand {
    /// What stands behind it; empty where nothing does.
    pub const fn takes(self) -> &'static str {
        match self {
            Self::Branch => "what to do there",
            Self::Goal => "the new goal",
            Self::Skin => "the name of a skin, or none",
            Self::Help
            | Self::Compress
            | Self::Retry
            | Self::Undo
            | Self::Explain
            | Self::Pause
            | Self::Resume
            | Self::Stop => "",
        }
    }

    /// What it does, in a sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Help => "tells which commands there are",
            Self::Retry => "tries the task again: a new attempt, or a task that follows it when it has ended",
            Self::Undo => "undoes what the task changed; you see the plan and are asked first",
            Self::Explain => "tells how the task stands, why, and what it did",
            Self::Branch => "begins something else from here, in a conversation of its own",
            Self::Goal => "edits the goal of a task at work",
            Self::Compress => {
                "sums up the oldest turns of the task's context now; every line unfolds to what it stands for"
            }
            Self::Pause => "pauses the task at work",
            Self::Resume => "lets a paused task go on",
            Self::Stop => "ends the task at work",
            Self::Skin => "changes how Hermit speaks in this conversation, from its next turn on",
        }
    }
}

/// What was written: words, or a command and what stands behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written<'t> {
    /// Words, as they are meant: of two slashes at their beginning one is left.
    Words(&'t str),
    /// A command.
    Command(SlashCommand, &'t str),
}

/// Tells a command from words. A command is a slash and a name of letters; a path is words, and so is what begins with two
/// slashes.
///
/// # Errors
/// [`crate::UnknownName`] for a name that is none of the list, with those that there are.
pub fn written(text: &str) -> Result<Written<'_>, crate::UnknownName> {
    let trimmed = text.trim_start();
    let Some(behind) = trimmed.strip_prefix('/') else { return Ok(Written::Words(text)) };
    if behind.starts_with('/') {
        return Ok(Written::Words(behind));
    }
    let (name, rest) = behind.split_once(char::is_whitespace).unwrap_or((behind, ""));
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-' || b == b'_') {
        return Ok(Written::Words(text));
    }
    let command = name.to_ascii_lowercase().parse().map_err(|mut unknown: crate::UnknownName| {
        unknown.text = format!("/{name}");
        let all = SlashCommand::ALL.iter().map(|one| format!("/{one}")).collect::<Vec<_>>();
        unknown.allowed = all.join(", ");
        unknown
    })?;
    Ok(Written::Command(command, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::{SlashCommand, Written, written};

    #[test]
    fn a_command_is_told_from_words_and_a_path_is_words() {
        assert_eq!(written("/stop").unwrap(), Written::Command(SlashCommand::Stop, ""));
        assert_eq!(
            written("  /Goal  count\nthem ").unwrap(),
            Written::Command(SlashCommand::Goal, "count\nthem")
        );
        for words in ["stop", "a /stop", "/etc/passwd is odd", "/", "/ stop", "/2024 was odd", ""] {
            assert_eq!(written(words).unwrap(), Written::Words(words), "{words}");
        }
        assert_eq!(written("//stop is a word").unwrap(), Written::Words("/stop is a word"));
        let unknown = written("/stpo now").unwrap_err().to_string();
        for command in SlashCommand::ALL {
            assert!(unknown.contains(&format!("/{command}")) && !command.about().is_empty(), "{unknown}");
        }
        assert!(unknown.starts_with("`/stpo` is not a command"), "{unknown}");
    }
}
