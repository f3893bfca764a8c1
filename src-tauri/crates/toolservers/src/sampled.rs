//! A question of a server to a model: read within bounds, words only and without tools; and the answer as the protocol has it.

use effects::{NO_ANSWER, Sampled, Sampling};
use model::limits::{SAMPLING_BYTES_MAX, SAMPLING_MESSAGES_MAX};
use serde_json::{Value, json};

/// How a server is told that it may not ask, where a model was not offered to it.
pub(crate) const NOT_OFFERED: &str =
    "Hermit asks no model for this server; a person may allow it with `hermit tools sampling`";

/// What a server hears where its call is ended.
const ENDED: &str = "Hermit asks no model in this call any more";

/// What a server asks. One that cannot be asked as it was put says why.
pub(crate) fn question(params: &Value) -> Sampling {
    read(params).unwrap_or_else(Sampling::malformed)
}

fn read(params: &Value) -> Result<Sampling, String> {
    if params.get("tools").is_some_and(|tools| tools.as_array().is_none_or(|tools| !tools.is_empty())) {
        return Err("a model is asked without tools".to_owned());
    }
    let messages = params.get("messages").and_then(Value::as_array).filter(|all| !all.is_empty());
    let messages = messages.ok_or("the question has no messages")?;
    if messages.len() > SAMPLING_MESSAGES_MAX {
        return Err(format!("the question has more than {SAMPLING_MESSAGES_MAX} messages"));
    }
    let system = params.get("systemPrompt").and_then(Value::as_str).map(str::to_owned);
    let turns: Vec<(bool, String)> = messages.iter().map(turn).collect::<Result<_, _>>()?;
    let bytes =
        turns.iter().map(|(_, text)| text.len()).chain(system.as_ref().map(String::len)).sum::<usize>();
    if bytes > SAMPLING_BYTES_MAX {
        return Err(format!("the question has {bytes} bytes, more than {SAMPLING_BYTES_MAX}"));
    }
    let most = params.get("maxTokens").and_then(Value::as_u64).filter(|most| *most > 0);
    let most = most.ok_or("the question does not say how long the answer may be (`maxTokens`)")?;
    Ok(Sampling::new(system, turns, u32::try_from(most).unwrap_or(u32::MAX)))
}

fn turn(message: &Value) -> Result<(bool, String), String> {
    let is_model = match message.get("role").and_then(Value::as_str) {
        Some("assistant") => true,
        Some("user") => false,
        _ => return Err("a message is neither of the user nor of the assistant".to_owned()),
    };
    let content = message.get("content").unwrap_or(&Value::Null);
    let one = |block: &Value| match (block.get("type").and_then(Value::as_str), block.get("text")) {
        (Some("text"), Some(Value::String(text))) => Ok(text.clone()),
        _ => Err("a model is asked with words alone; the question holds something else".to_owned()),
    };
    let texts: Vec<String> = match content {
        Value::Array(blocks) => blocks.iter().map(one).collect::<Result<_, _>>()?,
        block => vec![one(block)?],
    };
    Ok((is_model, texts.join("\n")))
}

/// What became of it, as the protocol has it; or why the server gets nothing.
pub(crate) fn answer(sampling: &Sampling) -> Result<Value, String> {
    match sampling.came() {
        Sampled::Answered { text, model, cut } => Ok(json!({
            "role": "assistant", "content": { "type": "text", "text": text }, "model": model,
            "stopReason": if cut { "maxTokens" } else { "endTurn" },
        })),
        Sampled::Refused(why) => Err(why),
        Sampled::NoAnswer => Err(NO_ANSWER.to_owned()),
        Sampled::Stop(_) => Err(ENDED.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(more: Value) -> Sampling {
        let mut params = json!({ "maxTokens": 9, "systemPrompt": "Be brief.", "messages": [
            { "role": "user", "content": { "type": "text", "text": "one" } },
            { "role": "assistant", "content": [{ "type": "text", "text": "two" }, { "type": "text", "text": "three" }] },
        ] });
        for (name, value) in more.as_object().cloned().unwrap_or_default() {
            params[name] = value;
        }
        question(&params)
    }

    #[test]
    fn a_question_is_words_alone_within_bounds_and_without_tools() {
        let plain = asked(json!({ "tools": [] }));
        assert_eq!(plain.malformed, None);
        assert_eq!(plain.turns, [(false, "one".to_owned()), (true, "two\nthree".to_owned())]);
        assert_eq!((plain.system.as_deref(), plain.answer_tokens), (Some("Be brief."), 9));
        let image = json!([{ "role": "user", "content": { "type": "image", "data": "" } }]);
        let long = json!([{ "role": "user", "content": { "type": "text", "text": "x".repeat(SAMPLING_BYTES_MAX) } }]);
        let many: Vec<Value> = std::iter::repeat_n(
            json!({ "role": "user", "content": { "type": "text", "text": "x" } }),
            SAMPLING_MESSAGES_MAX + 1,
        )
        .collect();
        for (wrong, word) in [
            (json!({ "tools": [{ "name": "x" }] }), "without tools"),
            (json!({ "messages": [] }), "no messages"),
            (json!({ "messages": image }), "words alone"),
            (json!({ "messages": long }), "bytes"),
            (json!({ "messages": many }), "messages"),
            (json!({ "messages": [{ "role": "system", "content": {} }] }), "neither"),
            (json!({ "maxTokens": 0 }), "maxTokens"),
        ] {
            let why = asked(wrong.clone()).malformed.expect("it is none");
            assert!(why.contains(word), "{wrong}: {why}");
        }
    }

    #[test]
    fn an_answer_is_told_as_the_protocol_has_it_and_nobody_answers_where_nobody_is() {
        let asked = asked(json!({}));
        assert!(answer(&asked).is_err());
        asked.comes_to(Sampled::Answered { text: "four".to_owned(), model: "m".to_owned(), cut: true });
        let told = answer(&asked).expect("an answer");
        assert_eq!((&told["content"]["text"], &told["stopReason"]), (&json!("four"), &json!("maxTokens")));
        // Why a call is ended, and why a model gave none, is not the server's to know.
        for (came, heard) in [(Sampled::Stop("enough".to_owned()), ENDED), (Sampled::NoAnswer, NO_ANSWER)] {
            asked.comes_to(came);
            assert_eq!(answer(&asked), Err(heard.to_owned()));
        }
    }
}
