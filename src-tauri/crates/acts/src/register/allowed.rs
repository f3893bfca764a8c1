//! What a person is shown before a server may do more than answer calls of their own tasks.

use crate::{Line, LineKind, visible};
use model::action::ActionClass;
use model::sampling::SamplingTerms;
use std::collections::BTreeMap;

/// How much a server may ask of a model.
pub(super) fn of_sampling(
    server: &str,
    terms: Option<SamplingTerms>,
    was: Option<SamplingTerms>,
) -> Vec<Line> {
    let words = |terms: Option<SamplingTerms>| {
        terms.map_or_else(|| "not at all".to_owned(), |terms| terms.in_words())
    };
    let name = visible(server);
    let mut lines = vec![Line {
        kind: LineKind::Risk,
        text: format!(
            "from now on, the server \"{name}\" may ask the model of a task that calls its tools: {}",
            words(terms)
        ),
    }];
    if terms.is_some() {
        let text = "what it asks is its own words, goes to that model WITHOUT asking you each time, and costs what that model \
                    costs; the answer goes to the server, which may send it where it reaches"
            .to_owned();
        lines.push(Line { kind: LineKind::Risk, text });
        let text =
            "the model is given no tools and nothing of the task; each question and answer is on record"
                .to_owned();
        lines.push(Line { kind: LineKind::Fact, text });
    }
    lines.push(Line { kind: LineKind::Fact, text: format!("until now: {}", words(was)) });
    lines
}

/// Whose tools of it are passed on to whom.
pub(super) fn of_pass_on(server: &str, tools: &BTreeMap<String, ActionClass>) -> Vec<Line> {
    let name = visible(server);
    let mut lines = vec![Line {
        kind: LineKind::Risk,
        text: format!(
            "from now on, every agent that is a client of Hermit (`hermit mcp`, `/mcp`, a guest) sees and calls the tools of the \
             server \"{name}\" that you have classified, those that you classify later as well"
        ),
    }];
    let text = "each call is judged, asked about where policy asks, and receipted as one of a task of yours is; what the \
                tool answers goes to that agent, and to whoever its model belongs to";
    lines.push(Line { kind: LineKind::Risk, text: text.to_owned() });
    let now = tools.iter().map(|(tool, class)| format!("\"{}\" to {}", visible(tool), class.in_words()));
    let text = format!("by now: {}", now.collect::<Vec<_>>().join(", "));
    lines.push(Line { kind: LineKind::Fact, text });
    let text = "until now: none of them; a tool whose server says something else of it is not among them";
    lines.push(Line { kind: LineKind::Fact, text: text.to_owned() });
    lines
}
