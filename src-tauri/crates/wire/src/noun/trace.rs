//! From a byte back to a goal, and from a source forward to everything that rests on it.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::receipts::{Explanation, Link};
use crate::table::{answers, params};
use words::artifact::TraceScope;
use words::knowledge::{EdgeKind, ExplainedKind};

params! {
    /// A receipt, an artifact, or a file on disk; with a line, who wrote that line.
    Explain {
        /// An identifier, or its beginning or end; or an absolute path.
        subject: String,
        /// From 1; for a path only.
        line: Option<u32>,
    }
    /// A source: an artifact, belief or memory record by identifier, or the absolute path of a file that was taken in
    /// or read.
    Recall { source: String }
}

answers! {
    /// The chain behind something.
    Explained {
        kind: ExplainedKind,
        subject: String,
        /// How the answer was found, in sentences.
        told: Vec<String>,
        /// The line that was asked for, as it stands on disk.
        line: Option<Line>,
        /// What every change of it rests on, the newest first.
        chains: Vec<Explanation>,
        /// The same as a drawing.
        graph: Graph,
    }
    /// One line of a file.
    Line {
        number: u32,
        text: String,
        /// The receipt whose change wrote it; absent when no change of Hermit's did.
        written_by: Option<String>,
        /// The line's number in the file that the change left.
        number_then: Option<u32>,
    }
    /// A part of the lineage, with a place for each node: layers run from cause to effect.
    Graph { nodes: Vec<Node>, edges: Vec<Edge>, layers: u32, rows: u32 }
    /// One node.
    Node { link: Link, layer: u32, row: u32 }
    /// One edge, from what was there to what came of it.
    Edge { from: String, to: String, kind: EdgeKind }

    /// Everything that derives from a source, and the plan to take it back. Nothing of the plan runs by itself.
    Recalled {
        sources: Vec<Link>,
        /// How far was looked.
        scope: TraceScope,
        artifacts: Vec<Link>,
        beliefs: Vec<Link>,
        memories: Vec<Link>,
        decisions: Vec<Link>,
        effects: Vec<Link>,
        receipts: Vec<Link>,
        /// Leaf first.
        plan: Vec<Step>,
    }
    /// One step of the plan.
    Step {
        /// What it takes back.
        subject: Link,
        /// The words to run; absent where there is nothing to run.
        command: Option<String>,
        /// Why, or why not.
        why: String,
    }
}
