//! What of two reports has to be the same.

use serde_json::{Map, Value};

/// What a report says, without the words of its reasons: those each implementation finds itself.
pub fn said(report: &Value) -> Value {
    let mut report = report.clone();
    let fields = report.as_object_mut().unwrap();
    fields.remove("refused_by");
    if fields["verdict"] == "invalid" {
        // How far a check came, and how it names what is wrong with a chain, is its own.
        for own in ["why", "counts", "identity", "anchors", "proven_not_after"] {
            fields.remove(own);
        }
        return report;
    }
    // So is what a clock's proof says in words, and what has to be taken on trust for it.
    for anchor in fields["anchors"].as_array_mut().unwrap() {
        for own in ["says", "on_trust"] {
            anchor.as_object_mut().unwrap().remove(own);
        }
    }
    let lines = |fields: &Map<String, Value>, list: &str| -> Vec<String> {
        fields[list].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    };
    let asserted = lines(fields, "asserted").into_iter().filter(|line| !line.starts_with("anchor "));
    let not_shown =
        lines(fields, "not_shown").into_iter().map(|line| match line.starts_with("a time by anchor ") {
            true => line.split(": ").take(2).collect::<Vec<_>>().join(": "),
            false => line,
        });
    let (asserted, not_shown): (Vec<String>, Vec<String>) = (asserted.collect(), not_shown.collect());
    fields.insert("asserted".to_owned(), asserted.into());
    fields.insert("not_shown".to_owned(), not_shown.into());
    report
}
