//! What is read at most. Whoever hands something in is a stranger, also where it is a person's own file.

/// Bytes of a change.
pub const PATCH_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a case.
pub const CASE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of what one task of a case saw and did.
pub const TASK_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Bytes of the events of one task of a case.
pub const TASK_EVENT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Tasks that are told to have been left out of a draw.
pub const LEFT_OUT_MAX: usize = 100;
/// Bytes of the evidence of one clone.
pub const EVIDENCE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a verdict.
pub const VERDICT_BYTES_MAX: usize = 1024 * 1024;
/// Tasks of a case, or of evidence.
pub const TASKS_MAX: usize = 1_000;
/// Acts of all tasks together.
pub const ACTS_MAX: usize = 10_000;
/// Answers of a model, of all tasks together.
pub const ANSWERS_MAX: usize = 10_000;
/// Attempts of a clone at what it may not have.
pub const PROBES_MAX: usize = 100;
/// Sources that a change names.
pub const SOURCES_MAX: usize = 100;
/// Pieces of words that a change holds.
pub const WORDS_MAX: usize = 100;
/// Files that a change of the source touches.
pub const FILES_MAX: usize = 500;
/// Rules that an act names.
pub const RULES_MAX: usize = 100;
/// Reasons of a verdict.
pub const REASONS_MAX: usize = 200;
/// Characters of a name.
pub const NAME_CHARS_MAX: usize = 200;
/// Characters of a line in words.
pub const LINE_CHARS_MAX: usize = 4_000;
