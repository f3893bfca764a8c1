//! What was done and seen, as turns of a conversation: a small model that reads its own actions as its own goes on,
//! one that reads them as a report begins again.

use crate::result_text::{named, told};
use model::context::{Act, ContextItem};

/// One thing done, with its result.
pub struct Turn {
    /// What the model had asked for; none when that is not known.
    pub act: Option<Act>,
    /// Title of the content.
    pub title: String,
    /// The content, not fenced yet.
    pub text: String,
}

/// The turns of one item. An item that does not say what it came of is read for it.
pub fn turns(item: &ContextItem, content: &str) -> Vec<Turn> {
    if item.act.is_none() && !item.cut {
        let each = told("", &item.title, content).into_iter();
        return each
            .map(|one| Turn { act: one.act.or_else(|| named(&item.title)), title: one.title, text: one.text })
            .collect();
    }
    let act = item.act.clone().or_else(|| named(&item.title));
    vec![Turn { act, title: item.title.clone(), text: content.to_owned() }]
}

/// An item whose text is not looked into.
pub fn as_it_is(item: &ContextItem) -> Turn {
    Turn { act: item.act.clone(), title: item.title.clone(), text: item.text.clone() }
}
