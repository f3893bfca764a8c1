//! What is known of an act before anyone is asked, tool by tool.

use crate::{Action, ActionRequest, Counts, Line};
use model::action::{ActionClass, ExpectedEffect, Reversibility};
use model::artifact::TrustTier;
use model::grant::FilesystemScope;
use model::receipt::{ReceiptClass, ReplayClass, ResultCode};
use model::witness::Fingerprint;
use model::{RelPath, ResourceId, WorkspaceId};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;

/// What of an act a permission rule or a standing grant can speak of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A simple command by its words; a word that a shell would still expand is `None`.
    Command(Vec<Option<String>>),
    /// A command whose words cannot be read for sure.
    Unreadable,
    /// A place that is looked at.
    Read(RelPath),
    /// A file that is made or changed.
    Edit(RelPath),
    /// A file that is taken away.
    Delete(RelPath),
    /// A host and its port.
    Host(String, u16),
    /// What no rule can allow: a person sees each.
    Other,
}

/// A tool with its arguments: the facts of one act (HK-11.3, HK-16.4).
///
/// Policy, card, receipt, standing grants and lists read these and compute nothing of their own. Every method with a body
/// here answers the gravest, for a tool that does not say more.
pub trait Tool {
    /// Every class in the act, never empty (HK-16.4).
    fn classes(&self) -> BTreeSet<ActionClass>;

    /// Everything the act touches, in a folder.
    fn resources(&self, workspace: WorkspaceId) -> BTreeSet<ResourceId>;

    /// What a model reads of the tool, as JSON with `name`, `description` and `parameters`: for a tool whose arguments it
    /// gives as they are. None for one whose arguments Hermit completes, which `iteration` offers.
    fn offered() -> Option<&'static str>
    where
        Self: Sized,
    {
        None
    }

    /// The arguments as a model gives them.
    ///
    /// # Errors
    /// What serde says of them.
    fn from_call(arguments: Value) -> Result<Self, serde_json::Error>
    where
        Self: Sized + DeserializeOwned,
    {
        serde_json::from_value(arguments)
    }

    /// Whether the arguments can be meant.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Counts of what the act does, for the rules.
    fn counts(&self) -> Counts {
        Counts::default()
    }

    /// What rules can speak of, beside the hosts among its resources.
    fn parts(&self) -> Vec<Part> {
        vec![Part::Other]
    }

    /// The words of a command; empty for whatever is none.
    fn argv(&self) -> &[String] {
        &[]
    }

    /// Whether something may leave the machine.
    fn sends(&self) -> bool {
        self.classes().contains(&ActionClass::NetworkWrite)
    }

    /// Whether it may run first in a staged view of the folder.
    fn may_be_staged(&self) -> bool {
        false
    }

    /// How far the act can be taken back with what Hermit keeps.
    fn reversibility(&self) -> Reversibility {
        Reversibility::Irreversible
    }

    /// Whether an act that failed did nothing elsewhere: what left the machine was refused there, or was never sent.
    fn has_no_effect_where_it_failed(&self) -> bool {
        false
    }

    /// How far a receipt without a single change says that it can be taken back.
    fn reversibility_without_changes(&self, request: &ActionRequest, result: ResultCode) -> Reversibility {
        match result {
            ResultCode::Failed if self.has_no_effect_where_it_failed() => Reversibility::NoEffect,
            _ => request.way_back(),
        }
    }

    /// How a card says that it is taken back, where that is another way than bringing back what was there.
    fn way_back_in_words(&self) -> Option<&'static str> {
        None
    }

    /// How a receipt says that it is taken back, where it can be.
    fn undo_method(&self) -> &'static str {
        RESTORE_BEFORE_IMAGES
    }

    /// What its receipt calls it.
    fn receipt_class(&self) -> ReceiptClass {
        ReceiptClass::ToolExecution
    }

    /// What may be done again with what was recorded (HK-18.4).
    fn replay_class(&self) -> ReplayClass {
        ReplayClass::ExplainOnly
    }

    /// How much of the folder a grant for it opens.
    fn filesystem_scope(&self) -> FilesystemScope {
        FilesystemScope::Nothing
    }

    /// How far what it returns is trusted, at most.
    fn trust(&self) -> TrustTier {
        TrustTier::Untrusted
    }

    /// The act in one line, what destroys first; nothing in it can hide.
    fn title(&self) -> String;

    /// The act in one line of a list, told apart from others by its names.
    fn one_line(&self) -> String {
        self.title()
    }

    /// What the act does, as a card tells it, in the order of execution; nothing is cut, nothing hidden.
    fn lines(&self, request: &ActionRequest) -> Vec<Line>;

    /// Identifiers and digests of what its lines name, whole: a card tells them among its details.
    fn details(&self) -> Vec<String> {
        Vec::new()
    }

    /// What it will do, foreseen from what was found at its resources.
    fn expected(&self, _workspace: WorkspaceId, _found: &[Fingerprint]) -> Vec<ExpectedEffect> {
        Vec::new()
    }

    /// What must hold when it runs, as its witness says it.
    fn precondition(&self) -> String {
        "every named resource is as observed".to_owned()
    }

    /// The look that is made instead, where policy allows no more; `there` tells whether a folder is.
    fn look_instead(&self, _there: &dyn Fn(&RelPath) -> bool) -> Option<Action> {
        None
    }

    /// Whether it can be kept as a draft, where policy allows no more.
    fn can_be_draft(&self) -> bool {
        false
    }

    /// The draft, where it is another text than the lines of the card.
    fn draft(&self) -> Option<String> {
        None
    }
}

/// A way back: what was there before is put there again.
pub const RESTORE_BEFORE_IMAGES: &str = "restore_before_images";
/// A way back: a memory record is marked as wrong, never a file.
pub const INVALIDATE_MEMORY: &str = "invalidate_memory";
