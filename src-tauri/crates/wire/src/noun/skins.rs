//! Skins: how Hermit speaks and looks in a conversation. Put to a person, chosen, and not trusted any more. Nothing here trusts one.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use words::store::SkinState;

params! {
    /// Every skin that there is.
    List {
        /// The conversation whose skin is told of.
        conversation: Option<String>,
    }
    /// One skin, with every word of it.
    Show {
        /// Its name, or the digest of its file.
        skin: String,
    }
    /// The text of a file, as it was written.
    Check { text: String }
    /// The name of a new one.
    Draft { name: String }
    /// The file that a person is asked about.
    Trust {
        /// All of it.
        text: String,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// The skin that is not trusted any more.
    Untrust {
        /// Its name, for all of it; or the digest of its file.
        skin: String,
        reason: Option<String>,
    }
    /// The skin of a conversation from the next context on.
    Choose {
        /// The first one when absent.
        conversation: Option<String>,
        /// Its name, or the digest of its file; none when absent, or `none`.
        skin: Option<String>,
    }
}

answers! {
    /// What there is.
    SkinList {
        skins: Vec<SkinRow>,
        /// The skin of the conversation that was named.
        chosen: Option<ChosenSkin>,
    }
    /// One skin.
    SkinRow {
        name: String,
        version: u32,
        /// What it is like, in a line.
        about: String,
        state: SkinState,
        /// Why, in words.
        why: Option<String>,
        sha256: String,
        /// The key that signed it; one that comes with Hermit is signed by nobody.
        signed_by: Option<String>,
        /// What stands before Hermit's name where it speaks.
        mark: Option<String>,
        colours: Option<SkinColours>,
        /// The tools that a model is offered under it, of those that its task is offered anyway; all of them when absent.
        tools: Option<Vec<String>>,
        /// What else a person should know of it.
        notes: Vec<String>,
        /// Since when it is trusted.
        since: Option<i64>,
    }
    /// The colour of Hermit's name where it speaks, as `#rrggbb`.
    SkinColours { light: String, dark: String }
    /// The skin of a conversation.
    ChosenSkin {
        name: String,
        sha256: String,
        since: i64,
        /// Why the conversation goes on without it, where it does.
        why: Option<String>,
    }
    /// One skin with every word of it.
    SkinShown {
        skin: SkinRow,
        /// How it speaks.
        voice: String,
        /// The form of its answers.
        form: String,
        /// All of its file.
        text: String,
    }
    /// A file to begin with.
    SkinDraft { text: String }
    /// What is not trusted any more.
    SkinUntrusted { skin: String, sha256: Vec<String> }
    /// The skin that a conversation has now.
    SkinChosen {
        conversation_id: String,
        name: Option<String>,
        sha256: Option<String>,
    }
}
