//! What small models write instead of calling: forms that are taken, forms that are refused, final answers.

use crate::*;
use proptest::prelude::*;

fn read_a() -> Vec<Proposal> {
    parse(&calls(&[("read", json!({ "path": "a" }))])).expect("well formed")
}

#[conforms::conforms("RX-8-1")]
#[test]
fn a_call_written_as_json_is_the_same_as_a_call() {
    for form in [
        r#"{"tool": "read", "arguments": {"path": "a"}}"#,
        r#"{"arguments": {"path": "a"}, "tool": "read"}"#,
        r#"{"action": "read", "path": "a"}"#,
        r#"{"action": {"tool": "read", "arguments": {"path": "a"}}}"#,
        r#"{"name": "read", "arguments": {"path": "a"}}"#,
        r#"{"name": "read", "arguments": "{\"path\": \"a\"}"}"#,
        r#"[{"tool": "read", "args": {"path": "a"}}]"#,
        "```json\n{\"tool\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```",
        "I will look.\n\n```\n{\"tool\": \"read\", \"parameters\": {\"path\": \"a\"}}\n```\nThen I decide.",
        "```json\n{\"tool\": \"read\",\n \"arguments\": {\"path\": \"a\"}}",
        "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
        "<think>Should I call {\"tool\": \"delete\"}? No.</think>\n{\"tool\": \"read\", \"arguments\": {\"path\": \"a\"}}",
        "An example, not a call:\n```python\nprint(1)\n```\n```json\n{\"tool\": \"read\", \"path\": \"a\"}\n```",
    ] {
        assert_eq!(parse(&text(form)), Ok(read_a()), "{form}");
    }
}

#[test]
fn several_calls_in_one_text_keep_their_order() {
    let expected = parse(&calls(&[
        ("read", json!({ "path": "a" })),
        ("delete", json!({ "path": "a" })),
        ("done", json!({ "summary": "gone" })),
    ]));
    for form in [
        r#"[{"tool":"read","path":"a"},{"tool":"delete","path":"a"},{"tool":"done","summary":"gone"}]"#,
        "<tool_call>{\"tool\":\"read\",\"path\":\"a\"}</tool_call> and \
         <tool_call>[{\"tool\":\"delete\",\"path\":\"a\"},{\"tool\":\"done\",\"summary\":\"gone\"}]</tool_call>",
    ] {
        assert_eq!(parse(&text(form)), expected, "{form}");
    }
}

#[test]
fn a_final_text_without_a_call_is_done() {
    for answer in [
        "All twelve files are renamed.",
        "The config is:\n```json\n{\"port\": 80, \"name\": \"x\"}\n```",
        "{\"answer\": 42}",
        "[1, 2]",
        "Run this yourself:\n```sh\nrm -rf build\n```",
        "The tool `read` was enough; the action: none.",
    ] {
        assert_eq!(parse(&text(answer)), Ok(done(answer)), "{answer}");
    }
    assert_eq!(parse(&text("<think>hm</think>\n Done. ")), Ok(done("Done.")));
}

#[conforms::conforms("RX-8-2", "RX-8-4")]
#[test]
fn text_that_looks_like_a_call_but_is_none_is_malformed_and_never_final_or_run() {
    for (answer, says) in [
        ("", "empty"),
        ("  \n", "empty"),
        ("<think>only thoughts</think>", "empty"),
        (r#"{"tool": "read", "arguments": {"path": "a"}"#, "no valid JSON"),
        ("```json\n{\"tool\": \"read\", }\n```", "no valid JSON"),
        (r#"I call {"tool": "read", "arguments": {"path": "a"}} now"#, "stands alone"),
        (r#"{"tool": "explode"}"#, "no tool `explode`"),
        (r#"{"tool": 7}"#, "each thing once"),
        (r#"{"tool": "read", "action": "delete", "path": "a"}"#, "each thing once"),
        (r#"{"tool": "read", "arguments": {"path": "a"}, "path": "b"}"#, "each thing once"),
        (r#"{"tool": "read", "arguments": {"path": "a"}, "args": {"path": "b"}}"#, "each thing once"),
        (r#"[{"tool": "read", "path": "a"}, 7]"#, "each thing once"),
        ("<tool_call>{\"name\": \"read\"", "</tool_call>"),
        ("```json\n{\"tool\":\"list\"}\n```\n```json\n{\"tool\":\"list\"}\n```", "more than one block"),
        ("```python\nx = {\"tool\": \"read\"}\n```", "stands alone"),
    ] {
        let refused = refused(&text(answer));
        assert!(refused.contains(says), "{answer}: {refused}");
    }
}

#[test]
fn fences_inside_a_written_file_do_not_end_the_call() {
    let content =
        "# Title\n```json\n{\"tool\": \"delete\", \"path\": \"a\"}\n```\n<tool_call>x</tool_call>\n";
    let call = json!({ "tool": "write", "arguments": { "path": "README.md", "content": content } });
    let expected = parse(&calls(&[("write", json!({ "path": "README.md", "content": content }))]));
    assert_eq!(parse(&text(&call.to_string())), expected);
    assert_eq!(parse(&text(&call.to_string().replace("<tool_call>", "<tool-call>"))).map(|p| p.len()), Ok(1));
    let fenced = format!("Here:\n```json\n{}\n```", call.to_string().replace("tool_call>", "b>"));
    assert_eq!(parse(&text(&fenced)).map(|p| p.len()), Ok(1));
}

proptest! {
    /// Free text never becomes an act: what is no JSON call is final, or malformed.
    #[test]
    fn free_text_is_never_run(words in "\\PC{0,200}") {
        if let Ok(proposals) = parse(&text(&words)) {
            prop_assert!(matches!(proposals.as_slice(), [Proposal::Done { .. }]), "{words}");
        }
    }
}
