//! Verbs about skills.

use clap::Subcommand;
use std::path::PathBuf;

/// `hermit skills`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A skill is a folder with a SKILL.md: a `name` and a `description` between two lines of `---`, then instructions; scripts and \
other files may lie beside it. Hermit finds them in .hermit/skills, .agents/skills and .claude/skills of a project, in the \
same folders of your home but the first, and in `skills` of its own folder.

No model is told of a skill before you trust it: `hermit skills trust NAME` shows every word of it and asks you. Your yes \
is for exactly these bytes; when any of them changes, it is not told any more until you look at the difference.")]
pub enum SkillsVerb {
    /// Lists skills of a folder and your own, how each stands, and playbooks.
    List {
        /// The folder of the project.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        workspace: PathBuf,
    },
    /// Shows a skill with every word of it.
    Show {
        /// Its name.
        skill: String,
        /// Shows the text of one of its files instead.
        #[arg(long, value_name = "PATH")]
        file: Option<String>,
        /// The folder of the project.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        workspace: PathBuf,
    },
    /// Shows a card with every word of a skill, and trusts it after your yes.
    Trust {
        /// Its name.
        skill: String,
        /// The folder of the project.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        workspace: PathBuf,
    },
    /// Lists skills that would be made of what recurs: a repair or an answer that came about in three tasks and that you remember.
    Drafts {
        /// The folder of the project.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        workspace: PathBuf,
    },
    /// Writes a drafted skill into `.agents/skills` of its project when you approve it. It is trusted like any other.
    Adopt {
        /// Its name.
        draft: String,
        /// The folder of the project.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        workspace: PathBuf,
    },
    /// Takes the trust back: no model is told of the skill any more.
    Untrust {
        /// Its name.
        skill: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
}
