//! Rules of what a server of tools says.

use super::*;
use serde_json::json;

fn tool(name: &str) -> ServerTool {
    ServerTool {
        name: name.to_owned(),
        title: None,
        description: Some("says it".to_owned()),
        input_schema: "{\"type\":\"object\"}".to_owned(),
        output_schema: None,
        hints: ToolHints::default(),
    }
}

#[test]
fn a_manifest_is_pinned_by_every_word_of_every_tool() {
    let one = ToolManifest::of(vec![tool("b"), tool("a")]).expect("two tools");
    let same = ToolManifest::of(vec![tool("a"), tool("b")]).expect("two tools");
    assert_eq!(one.pin(), same.pin(), "the order in which a server tells them is nothing");
    let mut other = same.clone();
    other.tools[1].hints.read_only = Some(true);
    assert_ne!(one.pin(), other.pin());
    assert_eq!(one.differs_from(&other), ["b"]);
    let renamed = ToolManifest::of(vec![tool("a"), tool("c")]).expect("two tools");
    assert_eq!(one.differs_from(&renamed), ["b", "c"]);
}

#[test]
fn a_manifest_is_bounded_and_its_names_are_told_apart() {
    assert!(ToolManifest::of(vec![tool("a"), tool("a")]).is_err());
    assert!(ToolManifest::of(vec![tool("a b")]).is_err());
    assert!(ToolManifest::of(vec![tool("")]).is_err());
    for name in ["resource:note://1", "template:note://{id}", "prompt:review"] {
        assert!(ToolManifest::of(vec![tool(name)]).is_err(), "something else is compared under `{name}`");
    }
    assert!(ToolManifest::of(vec![tool("resource"), tool("my:prompt:review")]).is_ok());
    let many = (0..=limits::SERVER_TOOLS_MAX).map(|n| tool(&format!("t{n}"))).collect();
    assert!(ToolManifest::of(many).is_err());
    let mut long = tool("a");
    long.description = Some("x".repeat(limits::MANIFEST_BYTES_MAX));
    assert!(ToolManifest::of(vec![long]).is_err());
}

#[test]
fn what_is_too_long_for_a_card_costs_a_server_its_resources_or_prompts_and_not_its_tools() {
    let words = |times: usize| "x".repeat(limits::MANIFEST_BYTES_MAX / 4 * times);
    let resource = |times| -> ServerResource {
        serde_json::from_value(json!({ "uri": "a:b", "name": "b", "description": words(times) }))
            .expect("one")
    };
    let prompt = |times| -> ServerPrompt {
        serde_json::from_value(json!({ "name": "p", "description": words(times), "arguments": [] }))
            .expect("one")
    };
    for (resources, prompts, kept, told) in [
        (1, 1, (1, 1), &[][..]),
        (5, 1, (0, 1), &["its resources"][..]),
        (1, 5, (1, 0), &["its prompts"][..]),
        (5, 5, (0, 0), &["its resources", "its prompts"][..]),
    ] {
        let manifest = ToolManifest {
            tools: vec![tool("a")],
            resources: vec![resource(resources)],
            prompts: vec![prompt(prompts)],
            ..ToolManifest::default()
        };
        let fitted = manifest.checked().expect("its tools are kept");
        assert_eq!((fitted.tools.len(), fitted.resources.len(), fitted.prompts.len()), (1, kept.0, kept.1));
        assert_eq!(fitted.left_out.len(), told.len());
        assert!(
            fitted.left_out.iter().zip(told).all(|(why, word)| why.starts_with(word)),
            "{:?}",
            fitted.left_out
        );
        assert_eq!(fitted.clone().checked(), Ok(fitted), "the same again is the same");
    }
}

#[test]
fn resources_and_prompts_that_cannot_be_kept_are_left_out_and_the_tools_stay() {
    let all = |most: usize, odd: [(&'static str, &'static str); 5]| {
        let odd = odd.into_iter().map(|(name, of)| (name.to_owned(), of));
        (0..=most).map(|n| (format!("z{n}"), "x")).chain(odd)
    };
    let odd = [("a b", "x"), ("é", "x"), ("", "x"), ("a", "first"), ("a", "second")];
    let resource = |(uri, name): (String, &str)| json!({ "uri": uri, "name": name });
    let resources: Vec<_> = all(limits::SERVER_RESOURCES_MAX, odd).map(resource).collect();
    let odd = [("a b", "x"), ("b", "o f"), ("c", "of=1"), ("a", "first"), ("a", "second")];
    let prompt = |(name, of): (String, &str)| json!({ "name": name, "arguments": [{ "name": of }] });
    let prompts: Vec<_> = all(limits::SERVER_PROMPTS_MAX, odd).map(prompt).collect();
    let told =
        json!({ "tools": [tool("a")], "resources": resources, "templates": resources, "prompts": prompts });
    let told: ToolManifest = serde_json::from_value(told).expect("a manifest");
    let kept = told.checked().expect("what cannot be kept is no reason to keep nothing");
    assert_eq!(kept.tools.len(), 1);
    for all in [&kept.resources, &kept.templates] {
        assert_eq!((all.len(), &*all[0].name), (limits::SERVER_RESOURCES_MAX, "first"));
        assert!(all[1..].iter().all(|one| one.uri.starts_with('z')));
    }
    let first = kept.prompts[0].arguments[0].name.as_str();
    assert_eq!((kept.prompts.len(), first), (limits::SERVER_PROMPTS_MAX, "first"));
    assert!(kept.prompts[1..].iter().all(|one| one.name.starts_with('z')));
}

#[test]
fn every_provider_takes_the_name_that_a_tool_is_offered_by() {
    assert_eq!(offered_name("files", "read_text"), "files__read_text");
    let long = "x".repeat(128);
    for (server, name) in [("files", "read.text"), ("files", "read/text"), ("s", long.as_str())] {
        let offered = offered_name(server, name);
        assert!(offered.len() <= 64 && is_offered_name(&offered), "{offered}");
        assert!(offered.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{offered}");
    }
    assert_ne!(offered_name("files", "read.text"), offered_name("files", "read/text"));
}

#[test]
fn what_a_server_says_hides_nothing() {
    assert_eq!(words_for_model("a\u{202e}b\nc", 10), "a\\u{202e}b\nc");
    assert_eq!(words_for_model("abcdef", 3), "abc…");
}
