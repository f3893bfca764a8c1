//! The diagrams of the architecture page are generated from the transition tables of `model`, and nothing else.
//!
//! To see the text a table wants, change the table and run this test: it prints the block to paste.

use super::tree::root;
use model::attempt::AttemptStatus;
use model::task::{StepStatus, TaskStatus};
use model::transition::{ATTEMPT, STEP, TASK};
use std::fmt::{Display, Write as _};
use std::fs;

/// A table of transitions as a mermaid state diagram, fenced for Markdown. The first of `all` is where every life
/// begins; a status nothing leaves is an end.
fn diagram<T: Copy + PartialEq + Display>(all: &[T], table: &[(T, T)]) -> String {
    let mut text = String::from("```mermaid\nstateDiagram-v2\n");
    let mut line = |from: &dyn Display, to: &dyn Display| {
        writeln!(text, "  {from} --> {to}").expect("a string takes every line");
    };
    if let Some(first) = all.first() {
        line(&"[*]", first);
    }
    for (from, to) in table {
        line(from, to);
    }
    for end in all.iter().filter(|s| table.iter().all(|(from, _)| from != *s)) {
        line(end, &"[*]");
    }
    text.push_str("```\n");
    text
}

/// What a page must hold between the two marks of a diagram.
fn block(name: &str, diagram: &str) -> String {
    format!("<!-- generated: {name} -->\n{diagram}<!-- end: {name} -->\n")
}

fn blocks() -> [String; 3] {
    [
        block("task", &diagram(TaskStatus::ALL, TASK)),
        block("step", &diagram(StepStatus::ALL, STEP)),
        block("attempt", &diagram(AttemptStatus::ALL, ATTEMPT)),
    ]
}

#[test]
fn the_diagrams_of_the_architecture_page_are_those_of_the_tables() {
    let page = fs::read_to_string(root().join("src-tauri/ARCHITECTURE.md")).unwrap_or_default();
    let wanted = blocks();
    let stale: Vec<_> = wanted.iter().filter(|block| !page.contains(*block)).map(String::as_str).collect();
    assert!(stale.is_empty(), "src-tauri/ARCHITECTURE.md lacks these blocks:\n\n{}", stale.join("\n"));
    assert_eq!(page.matches("<!-- generated: ").count(), wanted.len(), "a diagram that no table stands for");
}

#[test]
fn a_diagram_shows_where_a_life_begins_every_step_and_where_it_ends() {
    use TaskStatus::{Completed, Created, Failed, Running};
    let drawn = diagram(&[Created, Running, Completed, Failed], &[(Created, Running), (Running, Completed)]);
    let expected = "```mermaid\nstateDiagram-v2\n  [*] --> created\n  created --> running\n  \
                    running --> completed\n  completed --> [*]\n  failed --> [*]\n```\n";
    assert_eq!(drawn, expected);
    let more = diagram(&[Created, Running, Completed, Failed], &[(Created, Running), (Running, Failed)]);
    assert_ne!(drawn, more, "another table is another diagram");
}
