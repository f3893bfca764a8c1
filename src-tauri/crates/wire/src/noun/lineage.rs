//! What came from what, as a drawing.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
use words::artifact::TraceScope;
use words::knowledge::{EdgeKind, NodeKind, TrustTier};

params! {
    /// Around anything that has an identifier; around all that a task made, when it is a task's.
    Draw {
        of: String,
        /// Nodes at most, the nearest first; 1,000 when absent.
        limit: Option<u32>,
    }
}

answers! {
    /// Nodes with their places, causes before what came of them, and what joins them.
    Drawing {
        /// What was asked about.
        focus: String,
        /// How far was looked.
        scope: TraceScope,
        nodes: Vec<Node>,
        edges: Vec<Edge>,
        layers: u32,
        rows: u32,
        /// Nodes that did not fit.
        left_out: u64,
    }

    /// Something that came from something.
    Node {
        id: String,
        kind: NodeKind,
        /// An artifact's kind, an action's class.
        detail: String,
        label: Option<Text>,
        task_id: String,
        at: i64,
        trust: Option<TrustTier>,
        sha256: Option<String>,
        /// Its place: the layer, and the row in it.
        layer: u32,
        row: u32,
        /// Its content went into the focus.
        feeds: bool,
        /// Content of the focus went into it.
        tainted: bool,
    }

    /// How one thing came of another.
    Edge {
        from: String,
        to: String,
        kind: EdgeKind,
        /// Content goes along it, and taint with it.
        carries: bool,
    }
}
