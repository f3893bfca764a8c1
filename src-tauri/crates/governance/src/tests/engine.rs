//! The engine itself: failing closed, refusing bad rules, and always the same answer.

use super::world::*;
use crate::Error;
use crate::policy::{Facts, Layer, PolicyEngine, SCHEMA, probe};
use model::action::{ActionClass, Reversibility};
use model::policy::{Profile, Verdict};
use seal::canon;

/// Overflows for every count there can be.
const FAILS: &str = "9223372036854775807 + context.targets + 1 > 0";

fn with(rules: &str) -> Result<PolicyEngine, Error> {
    PolicyEngine::load(SCHEMA, &[Layer { name: "extra", text: rules }], &[])
}

/// A rule that fails: its effect, its decision, and under which assumption it fails.
fn failing_rules() -> Vec<String> {
    let mut rules = Vec::new();
    let decisions = ["", "@decision(\"ask\")", "@decision(\"downgrade:readonly\")"];
    let heads = decisions.iter().map(|decision| (*decision, "forbid")).chain([("", "permit")]);
    for (decision, effect) in heads {
        for only in ["true", "context has approval", "context.mode == \"readonly\""] {
            rules.push(format!(
                "@id(\"extra.fails\") {decision} @reason(\"none\") {effect} (principal, action, resource) \
                 when {{ {only} && {FAILS} }};"
            ));
        }
    }
    rules
}

#[test]
fn every_rule_that_fails_makes_the_answer_a_deny() {
    let mut denied = 0;
    for rule in failing_rules() {
        let engine = with(&rule).expect("the rule is well typed");
        for action in every_kind() {
            let request = request(action);
            for profile in Profile::ALL {
                let question = question(&request, *profile);
                let (before, got) = (ENGINE.evaluate(&question), engine.evaluate(&question));
                // The assumption under which the rule fails is made only where a person or a mode could help.
                let reached = match rule.as_str() {
                    rule if rule.contains("has approval") => before.verdict == Verdict::RequireApproval,
                    // Of several lesser forms the first that is enough is asked about, and no other.
                    rule if rule.contains("\"readonly\" &&") => {
                        before.downgrade.as_deref() == Some("readonly")
                    }
                    _ => true,
                };
                if reached {
                    assert_eq!(got.verdict, Verdict::Deny, "{rule}\n{}", got.reasoning_summary);
                    assert_eq!(got.determining_rules, ["evaluation_error"], "{rule}");
                    denied += 1;
                } else {
                    assert_eq!(got.verdict, before.verdict, "{rule}");
                }
            }
        }
    }
    assert!(denied > 300, "only {denied} cases were reached");
}

#[test]
fn a_failing_rule_denies_also_after_a_yes() {
    let rule = failing_rules().into_iter().find(|rule| rule.contains("permit")).expect("one permits");
    let engine = with(&rule).expect("the rule is well typed");
    let request = request(change(&[create("a.txt")]));
    let mut question = question(&request, Profile::LocalEditAllowed);
    question.packet = Some(sha("packet"));
    question.approved_packet = question.packet;
    assert_eq!(engine.evaluate(&question).verdict, Verdict::Deny);
}

#[test]
fn a_context_that_does_not_fit_the_schema_is_a_deny() {
    let schema = SCHEMA.replace("risk: Long,", "risk: Long,\n    unheard_of: Bool,");
    let engine = PolicyEngine::load(&schema, &[], &[]).expect("the rules do not speak of it");
    for profile in Profile::ALL {
        let request = request(read("notes.txt"));
        let got = engine.evaluate(&question(&request, *profile));
        assert_eq!(
            (got.verdict, got.determining_rules),
            (Verdict::Deny, vec!["evaluation_error".to_owned()])
        );
    }
}

#[test]
fn rules_that_are_not_sound_are_refused_at_load() {
    let rest = "forbid (principal, action, resource)";
    let cases = [
        ("no id", format!("@reason(\"x\") {rest};")),
        ("an id of another layer", format!("@id(\"base.x\") @reason(\"x\") {rest};")),
        ("an id that is only the layer", format!("@id(\"extra.\") @reason(\"x\") {rest};")),
        ("no reason", format!("@id(\"extra.x\") {rest};")),
        ("an id twice", format!("@id(\"extra.x\") @reason(\"x\") {rest}; @id(\"extra.x\") @reason(\"y\") {rest};")),
        ("an unknown decision", format!("@id(\"extra.x\") @reason(\"x\") @decision(\"maybe\") {rest};")),
        ("more keys than two", format!("@id(\"extra.x\") @reason(\"x\") @decision(\"ask\") @keys(\"3\") {rest};")),
        ("two keys for what nobody is asked", format!("@id(\"extra.x\") @reason(\"x\") @keys(\"2\") {rest};")),
        ("an unknown mode", format!("@id(\"extra.x\") @reason(\"x\") @decision(\"downgrade:dream\") {rest};")),
        (
            "a permit that asks",
            "@id(\"extra.x\") @reason(\"x\") @decision(\"ask\") permit (principal, action, resource);".to_owned(),
        ),
        ("a template", "@id(\"extra.x\") @reason(\"x\") forbid (principal == ?principal, action, resource);".to_owned()),
        ("an unknown fact", format!("@id(\"extra.x\") @reason(\"x\") {rest} when {{ context.weather == 1 }};")),
        ("a fact of another type", format!("@id(\"extra.x\") @reason(\"x\") {rest} when {{ context.network > 1 }};")),
        ("an unguarded option", format!("@id(\"extra.x\") @reason(\"x\") {rest} when {{ context.packet_hash == \"\" }};")),
        ("an unknown action", "@id(\"extra.x\") @reason(\"x\") forbid (principal, action == Hermit::Action::\"fly\", resource);".to_owned()),
        ("a rule that never applies", format!("@id(\"extra.x\") @reason(\"x\") {rest} when {{ false }};")),
        ("no rule at all", "forbid everything".to_owned()),
    ];
    for (what, rules) in cases {
        let refused = with(&rules);
        assert!(matches!(refused, Err(Error::Layer { .. })), "{what}: {refused:?}");
    }
    assert!(matches!(PolicyEngine::load("entity;", &[], &[]), Err(Error::Schema { .. })));
}

#[test]
fn the_same_question_gets_the_same_bytes_from_any_engine() {
    let other = PolicyEngine::shipped().expect("the shipped rules are sound");
    for action in every_kind() {
        let request = request(action);
        for profile in Profile::ALL {
            let question = question(&request, *profile);
            let bytes = |engine: &PolicyEngine| {
                canon::to_canonical(&engine.evaluate(&question)).expect("it can be sealed")
            };
            let first = bytes(&ENGINE);
            assert_eq!(first, bytes(&ENGINE));
            assert_eq!(first, bytes(&other));
        }
    }
}

#[conforms::conforms("HK-16.5-2")]
#[test]
fn a_result_names_the_version_of_its_rules() {
    let mut seen = std::collections::BTreeSet::new();
    for profile in Profile::ALL {
        let got = evaluate(change(&[overwrite("a.txt")]), *profile);
        assert_eq!(got.policy_set_sha256, ENGINE.policy_set_sha256(*profile));
        assert_eq!(got.schema_sha256, ENGINE.schema_sha256());
        assert!(seen.insert(got.policy_set_sha256), "each profile has rules of its own");
        assert_eq!(got.affected_resources, [file("a.txt").to_string()]);
        assert_eq!(got.action_summary, "overwrite 1 file");
        assert!(!got.risk_summary.is_empty() && !got.reasoning_summary.is_empty());
        assert!(got.witness_required);
    }
    let rule =
        "@id(\"extra.x\") @reason(\"x\") forbid (principal, action, resource) when { context.risk > 2 };";
    let engine = with(rule).expect("a sound rule");
    for profile in Profile::ALL {
        assert!(seen.insert(engine.policy_set_sha256(*profile)), "one more rule is another version");
    }
}

#[test]
fn a_further_layer_can_forbid_what_the_profile_allows() {
    let rule = "@id(\"extra.never\") @reason(\"not here\") forbid (principal, action, resource);";
    let engine = with(rule).expect("a sound rule");
    let request = request(read("notes.txt"));
    let got = engine.evaluate(&question(&request, Profile::LocalEditAllowed));
    assert_eq!((got.verdict, got.determining_rules), (Verdict::Deny, vec!["extra.never".to_owned()]));
}

#[test]
fn a_rule_is_heard_for_exactly_the_classes_of_its_scope() {
    let consequential =
        |class: &ActionClass| !matches!(class, ActionClass::ReadLocal | ActionClass::NetworkRead);
    type Holds = fn(&ActionClass) -> bool;
    let cases: [(&str, Holds); 4] = [
        ("action", |_| true),
        ("action == Hermit::Action::\"read_local\"", |class| *class == ActionClass::ReadLocal),
        ("action in Hermit::Action::\"consequential\"", consequential),
        ("action in [Hermit::Action::\"payment\", Hermit::Action::\"rollback\"]", |class| {
            matches!(class, ActionClass::Payment | ActionClass::Rollback)
        }),
    ];
    for (scope, holds) in cases {
        let rule = format!("@id(\"extra.x\") @reason(\"x\") forbid (principal, {scope}, resource);");
        let engine = with(&rule).expect("a sound rule");
        for class in ActionClass::ALL {
            let got = probe(&engine, Profile::ExternalPublishGated, &[*class], &Facts::default());
            assert_eq!(
                got.rules.contains("extra.x"),
                holds(class),
                "`{class}` and `{scope}`: {:?}",
                got.rules
            );
        }
    }
}

#[test]
fn ask_and_downgrade_together_are_a_deny_when_neither_alone_lifts_both() {
    let rules = "@id(\"extra.ask\") @reason(\"x\") @decision(\"ask\") forbid (principal, action, resource)
        unless { context has approval && context has packet_hash && context.approval.packet_hash == context.packet_hash };
        @id(\"extra.lesser\") @reason(\"x\") @decision(\"downgrade:readonly\") forbid (principal, action, resource)
        unless { context.mode == \"readonly\" };";
    let engine = with(rules).expect("sound rules");
    let request = request(read("notes.txt"));
    let got = engine.evaluate(&question(&request, Profile::LocalEditAllowed));
    assert_eq!(got.verdict, Verdict::Deny);
    assert_eq!(got.determining_rules, ["extra.ask", "extra.lesser"]);
}

#[test]
fn a_request_that_lies_about_itself_is_denied() {
    let honest = request(change(&[delete("a.txt")]));
    let mut lies = vec![honest.clone(), honest.clone(), honest.clone(), honest.clone()];
    lies[0].action_class = ActionClass::ReadLocal;
    lies[1].target_resources = vec![file("b.txt")];
    lies[2].target_resources.clear();
    lies[3].target_resources.push(file("b.txt"));
    for lie in &lies {
        let got = ENGINE.evaluate(&question(lie, Profile::LocalEditAllowed));
        assert_eq!(
            (got.verdict, got.determining_rules),
            (Verdict::Deny, vec!["request_mismatch".to_owned()])
        );
    }
    let mut swapped = question(&honest, Profile::LocalEditAllowed);
    swapped.request_sha256 = sha("another request");
    assert_eq!(ENGINE.evaluate(&swapped).verdict, Verdict::Deny);
    let mut hinted = honest;
    hinted.reversibility_hint = Reversibility::NoEffect;
    assert_eq!(
        ENGINE.evaluate(&question(&hinted, Profile::LocalEditAllowed)).verdict,
        Verdict::RequireApproval,
        "a hint changes no verdict"
    );
}
