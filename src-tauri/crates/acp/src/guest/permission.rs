//! What a guest asks permission for. Nothing is decided here that the sandbox does not hold anyway: what stays in the copy
//! is allowed this once, and all else is refused, so that the guest hears it in time.

use super::files::inside;
use crate::terms::{KINDS, PermissionOption, ToolCall};
use std::path::Path;

/// The answer to a request for permission.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed once, by this option.
    Allowed(String),
    /// Refused by this option, where there is one, and why.
    Refused(Option<String>, String),
}

/// What is answered.
pub fn judge(call: &ToolCall, options: &[PermissionOption], root: &Path) -> Verdict {
    let option = |kinds: &[&str]| {
        let of = |kind: &&str| options.iter().find(|option| option.kind == **kind);
        kinds.iter().find_map(of).map(|option| option.option_id.clone())
    };
    let refused = |why: String| Verdict::Refused(option(&["reject_once", "reject_always"]), why);
    if let Some(why) = leaves(call, root) {
        return refused(why);
    }
    match option(&["allow_once"]) {
        Some(id) => Verdict::Allowed(id),
        None => refused("it offers no answer that allows it once".to_owned()),
    }
}

/// Why something would leave the copy, or may.
fn leaves(call: &ToolCall, root: &Path) -> Option<String> {
    match call.kind.as_deref() {
        None => return Some("it does not say what kind of act it is".to_owned()),
        Some(kind) if !KINDS.contains(&kind) => {
            let kind: String = kind.chars().filter(|c| !c.is_control()).take(40).collect();
            return Some(format!("nothing is known of acts of the kind `{kind}`"));
        }
        Some("fetch") => {
            return Some(
                "it would leave the copy; a guest reaches the hosts of its card and no others".to_owned(),
            );
        }
        Some(_) => {}
    }
    call.places().iter().find_map(|place| inside_or_root(root, place).err())
}

fn inside_or_root(root: &Path, place: &str) -> Result<(), String> {
    let place = Path::new(place);
    let place = if place.is_absolute() { place.to_owned() } else { root.join(place) };
    if place == root {
        return Ok(());
    }
    inside(root, &place.to_string_lossy()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(call: serde_json::Value, kinds: &[&str]) -> Verdict {
        let folder = tempfile::tempdir().unwrap();
        let text = call.to_string().replace("ROOT", &folder.path().display().to_string());
        let option =
            |kind: &&str| PermissionOption { option_id: format!("o:{kind}"), kind: (*kind).to_owned() };
        let options: Vec<PermissionOption> = kinds.iter().map(option).collect();
        judge(&serde_json::from_str(&text).unwrap(), &options, folder.path())
    }

    #[test]
    fn what_stays_in_the_copy_is_allowed_once_and_all_else_is_refused() {
        let all = ["allow_always", "allow_once", "reject_always", "reject_once"];
        for call in [
            json!({ "kind": "edit", "locations": [{ "path": "ROOT/a.txt" }] }),
            json!({ "kind": "read", "locations": [{ "path": "ROOT" }] }),
            json!({ "kind": "delete", "locations": [{ "path": "a.txt" }] }),
            json!({ "kind": "execute" }),
            json!({ "kind": "other" }),
        ] {
            assert_eq!(judged(call.clone(), &all), Verdict::Allowed("o:allow_once".to_owned()), "{call}");
        }
        for (call, word) in [
            (json!({ "kind": "edit", "locations": [{ "path": "/etc/passwd" }] }), "outside"),
            (json!({ "kind": "edit", "locations": [{ "path": "ROOT/../x" }] }), ".."),
            (json!({ "kind": "edit", "content": [{ "type": "diff", "path": "/etc/passwd" }] }), "outside"),
            (json!({ "kind": "fetch" }), "leave the copy"),
            (json!({ "kind": "teleport" }), "nothing is known"),
            (json!({ "title": "x" }), "does not say"),
        ] {
            let Verdict::Refused(option, why) = judged(call.clone(), &all) else { panic!("{call}") };
            assert_eq!(option.as_deref(), Some("o:reject_once"), "{call}");
            assert!(why.contains(word), "{why}");
        }
    }

    #[test]
    fn nothing_is_allowed_for_always_and_an_option_of_an_unknown_kind_is_none() {
        let execute = json!({ "kind": "execute" });
        assert!(matches!(judged(execute.clone(), &["allow_always"]), Verdict::Refused(None, _)));
        assert!(matches!(
            judged(execute.clone(), &["allow_forever", "reject_always"]),
            Verdict::Refused(Some(_), _)
        ));
        assert!(matches!(judged(execute, &[]), Verdict::Refused(None, _)));
    }
}
