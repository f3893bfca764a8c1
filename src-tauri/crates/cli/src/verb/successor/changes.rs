//! The changes of Hermit that a command line names: files of rules, of differences and of words, and models.

use super::super::text_of;
use crate::args::SuccessorTry;
use serde_json::{Value, json};
use std::path::Path;
use wire::{Code, Error};

/// Bytes of a file that are read: a little more than a change may have, so that what is too large is said to be.
const READ_MAX: u64 = 1024 * 1024 + 1;

/// The changes that are named, each as JSON.
pub(super) fn patches(args: &SuccessorTry) -> Result<Vec<String>, Error> {
    let words = usize::from(!args.words.is_empty());
    let files = [&args.policies, &args.diffs, &args.patches].map(Vec::len);
    let is_race = files.into_iter().chain([args.models.len(), words]).sum::<usize>() > 1;
    // Of several that say the same, a person could not tell which one they adopt.
    let says = |which: &str| match &args.says {
        Some(says) => says.clone(),
        None if is_race => format!("{} ({which})", args.task),
        None => args.task.clone(),
    };
    let whole = |which: &str, change: Value| {
        json!({ "says": says(which), "sources": args.sources, "change": change }).to_string()
    };
    let named = |file: &Path| {
        file.file_name()
            .map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
    };
    let mut all = Vec::new();
    for file in &args.policies {
        let mut change = json!({ "kind": "policy", "rules": change_in(file)? });
        if let (Some(profile), Some(change)) = (&args.profile, change.as_object_mut()) {
            change.insert("profile".to_owned(), json!(profile));
        }
        all.push(whole(&named(file), change));
    }
    if !args.words.is_empty() {
        let items = args.words.iter().map(|word| item(word)).collect::<Result<Vec<Value>, Error>>()?;
        all.push(whole("words", json!({ "kind": "words", "items": items })));
    }
    let model = |address: &String| whole(address, json!({ "kind": "model", "address": address }));
    all.extend(args.models.iter().map(model));
    for file in &args.diffs {
        let change = json!({ "kind": "code", "source": args.base, "diff": change_in(file)? });
        all.push(whole(&named(file), change));
    }
    for file in &args.patches {
        all.push(change_in(file)?);
    }
    if all.is_empty() {
        return Err(Error::new(Code::Usage, "name a change: --policy, --words, --model, --diff or --patch"));
    }
    if args.sources.is_empty() && all.len() > args.patches.len() {
        return Err(Error::new(Code::Usage, "say where what is new in the change comes from")
            .hint("such as `--source 'my own idea'`, one line for each source"));
    }
    Ok(all)
}

/// What stands in a file of a change. One that is larger than any change is refused by its size, before it is read.
fn change_in(file: &Path) -> Result<String, Error> {
    let size = std::fs::metadata(file).map_or(0, |there| there.len());
    if size < READ_MAX {
        return text_of(file, READ_MAX);
    }
    let (file, most) = (file.display(), READ_MAX.saturating_sub(1));
    Err(Error::new(Code::Usage, format!("a change has {most} bytes at most, and `{file}` has {size}"))
        .hint("divide it into smaller changes, and try each"))
}

/// `WHAT=NAME=FILE`. There is one SOUL.md, so that it needs no name.
fn item(word: &str) -> Result<Value, Error> {
    let unfit = || {
        Error::new(Code::Usage, format!("`{word}` is not WHAT=NAME=FILE"))
            .hint("such as `soul=SOUL.md`, or `playbook=mine=mine.yaml` for a playbook of your own")
    };
    let (what, rest) = word.split_once('=').ok_or_else(unfit)?;
    let (name, file) = match rest.split_once('=') {
        Some(both) => both,
        None if what == "soul" => ("SOUL.md", rest),
        None => return Err(unfit()),
    };
    if !["skin", "skill", "playbook", "pinned", "soul"].contains(&what) {
        return Err(Error::new(
            Code::Usage,
            format!("`{what}` is not one of skin, skill, playbook, pinned, soul"),
        ));
    }
    Ok(json!({ "what": what, "name": name, "text": change_in(Path::new(file))? }))
}
