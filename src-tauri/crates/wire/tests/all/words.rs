//! Answers whose words come from closed lists, byte for byte as they were when those words were plain text.

use serde::Serialize;
use serde::de::DeserializeOwned;

fn is_kept<T: Serialize + DeserializeOwned>(sent: &str) {
    let read: T = serde_json::from_str(sent).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), sent);
}

#[test]
fn answers_of_before_are_read_and_written_as_the_same_bytes() {
    is_kept::<wire::approvals::ApprovalRow>(
        r#"{"approval_id":"apr_1","task_id":"task_1","action_class":"delete_local","risk":"high","summary":"delete a","status":"granted","requested_at":1,"expires_at":2,"resolved_at":3,"surface":"approval_window","feedback":null,"reason":"","origin":"person"}"#,
    );
    is_kept::<wire::task::TaskRow>(
        r#"{"task_id":"task_1","title":"t","status":"rolled_back","run_status":"awaiting_clarify","reason":"","priority":"normal","profile":"readonly_analysis","origin":"scheduler","from_chat":null,"proposer":"openai","created_at":1,"updated_at":2,"ended_at":null,"open_approvals":0,"open_questions":0,"unknown_effects":0,"receipts":0,"iterations":0,"tokens_used":0,"cost_micros":0,"parent_task_id":null,"refused_by":"policy","undone":null,"interrupted":null,"workspace":null,"because":null}"#,
    );
    is_kept::<wire::task::Action>(
        r#"{"action_request_id":"act_1","class":"vcs_mutation","tool":"vcs","summary":"s","state":"refused","verdict":"require_approval","risk":"critical","approval_id":null,"grant_id":null,"receipt_id":null,"result":"unknown_outcome","sandbox":"namespaces_landlock","requested_at":1,"observed_at":null,"trouble":null,"instead_of":null,"instead_rules":null}"#,
    );
    is_kept::<wire::receipts::ReceiptRow>(
        r#"{"receipt_id":"rcp_1","task_id":"task_1","class":"observation_resolution","action_class":"network_read","result":"partial","resolved":"succeeded","reversibility":"no_effect","rolls_back":null,"undone_by":null,"summary":"s","issued_at":1}"#,
    );
    is_kept::<wire::policy::Judged>(
        r#"{"profile":"destructive_denied","verdict":"downgrade","downgrade":"draft","instead_of":null,"risk":"moderate","classes":["read_local","execute_command"],"summary":"s","risk_summary":"r","reasons":"","rules":[{"name":"n","effect":"forbid","reason":"","text":"t"}]}"#,
    );
    is_kept::<wire::knowledge::Evidence>(
        r#"{"artifact_id":"art_1","part":"p","excerpt_sha256":"00","trust":"user_asserted","confidence":900}"#,
    );
}

#[test]
fn a_word_of_no_list_is_no_answer() {
    let row = r#"{"name":"n","effect":"Forbid","reason":"","text":"t"}"#;
    assert!(serde_json::from_str::<wire::policy::RuleRow>(row).is_err());
    assert!(serde_json::from_str::<wire::policy::RuleRow>(&row.replace("Forbid", "forbid")).is_ok());
}

#[test]
fn a_line_of_the_list_says_what_an_undo_takes_back() {
    let row = |class: &str, reversibility: &str| -> wire::receipts::ReceiptRow {
        serde_json::from_value(serde_json::json!({
            "receipt_id": "rcp_1", "task_id": "task_1", "class": "tool_execution", "action_class": class, "result": "succeeded",
            "resolved": null, "reversibility": reversibility, "rolls_back": null, "undone_by": null, "summary": "s", "issued_at": 1,
        }))
        .expect("a row")
    };
    for (class, reversibility, has_undo) in [
        ("write_local", "reversible", true),
        ("execute_command", "partial", true),
        ("execute_command", "irreversible", false),
        ("write_local", "no_effect", false),
        // A file below `.hermit`, and a schedule that was kept.
        ("capability_change", "reversible", true),
        ("capability_change", "partial", false),
        ("durable_memory_write", "reversible", false),
    ] {
        assert_eq!(row(class, reversibility).has_undo(), has_undo, "{class}, {reversibility}");
    }
}
