//! A question of a server to the person (elicitation), as questions that are answered in words: one for each field of its
//! form. What a person writes is held against the field's schema before the server has it; an address is shown, never opened.

use crate::schema;
use effects::Asking;
use model::limits::QUESTION_FIELDS_MAX;
use model::tool_server::words_for_model;
use serde_json::{Map, Value, json};

/// Letters of a message or of a description that are shown.
const WORDS_MAX: usize = 1_000;
/// Letters of an address that is shown; a longer one is declined.
const URL_MAX: usize = 2_048;
/// Choices of one field.
const CHOICES_MAX: usize = 32;
/// How often one field is asked for.
const TRIES_MAX: u32 = 3;
/// What refuses a question, and what breaks it off.
const NO: [&str; 2] = ["Decline", "Cancel"];
/// The same where a value of a field has such a name: what a person chooses from is not what refuses the form.
const NO_FORM: [&str; 2] = ["Decline the form", "Cancel the form"];
/// What leaves a field out, and the same where a value of it has that name.
const SKIP: [&str; 2] = ["skip", "leave it out"];

/// What a server is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Accept(Value),
    Decline,
    Cancel,
}

/// A form that is being filled in.
pub(crate) struct Form {
    message: String,
    /// What is to be said yes to, where there are no fields.
    yes: &'static str,
    fields: Vec<Field>,
    at: usize,
    tries: u32,
    /// Why the last answer could not be taken.
    wrong: Option<String>,
    given: Map<String, Value>,
}

struct Field {
    name: String,
    words: String,
    required: bool,
    kind: Kind,
    schema: String,
}

enum Kind {
    Text,
    Number,
    Truth,
    /// Values, with what each is called.
    One(Vec<(String, String)>),
    Many(Vec<(String, String)>),
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

impl Form {
    /// The question of a server, from its parameters as they came.
    ///
    /// # Errors
    /// Why nobody is asked it, in words.
    pub(crate) fn of(params: &Value) -> Result<Self, String> {
        let said = words_for_model(word(params, "message"), WORDS_MAX);
        let form = |message: String, yes: &'static str, fields| Self {
            message,
            yes,
            fields,
            at: 0,
            tries: 0,
            wrong: None,
            given: Map::new(),
        };
        if word(params, "mode") == "url" {
            let url = word(params, "url");
            if url.len() > URL_MAX || !(url.starts_with("https://") || url.starts_with("http://")) {
                return Err("it names no web address that can be shown".to_owned());
            }
            let url = words_for_model(url, URL_MAX);
            return Ok(form(
                format!("{said}\nIt asks you to open this address yourself; Hermit opens nothing: {url}"),
                "I have opened it",
                Vec::new(),
            ));
        }
        let schema = params.get("requestedSchema").unwrap_or(&Value::Null);
        let none = Map::new();
        let members = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        if members.len() > QUESTION_FIELDS_MAX {
            return Err(format!("its form has more than {QUESTION_FIELDS_MAX} fields"));
        }
        let required = model::proposal::required(schema);
        let fields = members
            .iter()
            .map(|(name, of)| Field::of(name, of, required.contains(&name.as_str())))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(form(said, "Accept", fields))
    }

    /// What the person is asked next.
    pub(crate) fn question(&self) -> Asking {
        let mut words = self.message.clone();
        let mut choices = Vec::new();
        if let Some(field) = self.fields.get(self.at) {
            words.push_str(&format!("\n{} ({})", field.words, field.takes()));
            choices = field.choices();
        } else {
            choices.push(self.yes.to_owned());
        }
        let no = self.no();
        if choices.is_empty() {
            let [decline, cancel] = no.map(str::to_lowercase);
            words.push_str(&format!("; `{decline}` refuses, `{cancel}` breaks it off"));
        } else {
            choices.extend(no.map(str::to_owned));
        }
        if let Some(wrong) = &self.wrong {
            words.push_str(&format!("\nThat did not fit: {wrong}"));
        }
        Asking::new(words, choices)
    }

    /// What refuses the form, and what breaks it off, at the field in hand.
    fn no(&self) -> [&'static str; 2] {
        let field = self.fields.get(self.at);
        let taken = field.is_some_and(|field| NO.iter().any(|no| field.has(no)));
        if taken { NO_FORM } else { NO }
    }

    /// Takes what the person said; what the server is told, once there is nothing more to ask.
    pub(crate) fn take(&mut self, said: &str) -> Option<Answer> {
        let said = said.trim();
        let [decline, cancel] = self.no();
        if said.eq_ignore_ascii_case(decline) {
            return Some(Answer::Decline);
        }
        if said.eq_ignore_ascii_case(cancel) {
            return Some(Answer::Cancel);
        }
        let Some(field) = self.fields.get(self.at) else {
            return Some(match said.eq_ignore_ascii_case(self.yes) {
                true => Answer::Accept(json!({})),
                false => Answer::Decline,
            });
        };
        match field.value(said) {
            Ok(value) => {
                if let Some(value) = value {
                    self.given.insert(field.name.clone(), value);
                }
                (self.at, self.tries, self.wrong) = (self.at + 1, 0, None);
            }
            Err(_) if self.tries + 1 >= TRIES_MAX => return Some(Answer::Decline),
            Err(why) => (self.tries, self.wrong) = (self.tries + 1, Some(why)),
        }
        (self.at >= self.fields.len()).then(|| Answer::Accept(Value::Object(std::mem::take(&mut self.given))))
    }
}

impl Field {
    fn of(name: &str, schema: &Value, required: bool) -> Result<Self, String> {
        let kind = match (word(schema, "type"), named(schema)) {
            ("array", _) => Kind::Many(named(schema.get("items").unwrap_or(&Value::Null))),
            ("boolean", _) => Kind::Truth,
            ("number" | "integer", _) => Kind::Number,
            ("string", values) if values.is_empty() => Kind::Text,
            ("string", values) => Kind::One(values),
            (other, _) => {
                return Err(format!("its form has a field of the kind \"{}\"", other.escape_default()));
            }
        };
        if let Kind::One(values) | Kind::Many(values) = &kind
            && (values.is_empty() || values.len() > CHOICES_MAX)
        {
            return Err(format!("its form has a field with none or more than {CHOICES_MAX} choices"));
        }
        let title = word(schema, "title");
        let title = if title.is_empty() { name } else { title };
        let about = word(schema, "description");
        let words = if about.is_empty() { title.to_owned() } else { format!("{title}: {about}") };
        let words = words_for_model(&words, WORDS_MAX);
        Ok(Self { name: name.to_owned(), words, required, kind, schema: schema.to_string() })
    }

    /// What can be answered.
    fn takes(&self) -> String {
        let kind = match &self.kind {
            Kind::Text => "a text".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::Truth => "yes or no".to_owned(),
            Kind::One(_) => "one of these".to_owned(),
            Kind::Many(values) => {
                let all: Vec<&str> = values.iter().map(|(_, called)| called.as_str()).collect();
                format!("any of {}, with commas between", words_for_model(&all.join(", "), WORDS_MAX))
            }
        };
        if self.required { kind } else { format!("{kind}; `{}` leaves it out", self.skip()) }
    }

    fn choices(&self) -> Vec<String> {
        let mut all = match &self.kind {
            Kind::Truth => vec!["Yes".to_owned(), "No".to_owned()],
            Kind::One(values) => values.iter().map(|(_, called)| words_for_model(called, 200)).collect(),
            Kind::Text | Kind::Number | Kind::Many(_) => return Vec::new(),
        };
        if !self.required {
            all.push(self.skip().to_owned());
        }
        all
    }

    /// Whether one of its values is called so.
    fn has(&self, name: &str) -> bool {
        let (Kind::One(values) | Kind::Many(values)) = &self.kind else { return false };
        values
            .iter()
            .any(|(value, called)| [value, called].iter().any(|one| one.trim().eq_ignore_ascii_case(name)))
    }

    /// What leaves it out.
    fn skip(&self) -> &'static str {
        let [skip, other] = SKIP;
        if self.has(skip) { other } else { skip }
    }

    /// The value that was meant; none where it is left out.
    fn value(&self, said: &str) -> Result<Option<Value>, String> {
        if !self.required && said.eq_ignore_ascii_case(self.skip()) {
            return Ok(None);
        }
        let of = |values: &[(String, String)], said: &str| {
            let found = values.iter().find(|(value, called)| {
                value == said || called == said || words_for_model(called, 200) == said
            });
            found.map(|(value, _)| json!(value)).ok_or_else(|| "it is none of those".to_owned())
        };
        let value = match &self.kind {
            Kind::Text => json!(said),
            Kind::Number => serde_json::from_str(said)
                .ok()
                .filter(Value::is_number)
                .ok_or_else(|| "it is no number".to_owned())?,
            Kind::Truth if said.eq_ignore_ascii_case("yes") => json!(true),
            Kind::Truth if said.eq_ignore_ascii_case("no") => json!(false),
            Kind::Truth => return Err("it is neither yes nor no".to_owned()),
            Kind::One(values) => of(values, said)?,
            Kind::Many(values) => {
                let each = said.split(',').map(str::trim).filter(|one| !one.is_empty());
                Value::Array(each.map(|one| of(values, one)).collect::<Result<_, _>>()?)
            }
        };
        schema::fits(&self.schema, &value.to_string()).map(|()| Some(value))
    }
}

/// The values of a schema that lists them, with what each is called.
fn named(schema: &Value) -> Vec<(String, String)> {
    let list = |name: &str| schema.get(name).and_then(Value::as_array);
    if let Some(values) = list("enum") {
        let called = list("enumNames");
        let name =
            |at: usize, value: &str| called.and_then(|all| all.get(at)?.as_str()).unwrap_or(value).to_owned();
        let texts = values.iter().filter_map(Value::as_str).enumerate();
        return texts.map(|(at, value)| (value.to_owned(), name(at, value))).collect();
    }
    let each = list("oneOf").or_else(|| list("anyOf")).into_iter().flatten();
    each.filter_map(|one| {
        let value = one.get("const")?.as_str()?;
        Some((value.to_owned(), one.get("title").and_then(Value::as_str).unwrap_or(value).to_owned()))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(properties: Value, required: Value) -> Form {
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        Form::of(&json!({ "mode": "form", "message": "Who are you?", "requestedSchema": schema }))
            .expect("a form")
    }

    #[test]
    fn each_field_is_asked_for_and_what_does_not_fit_is_asked_for_again_and_not_for_ever() {
        let mut form = form(
            json!({ "age": { "type": "integer", "minimum": 0 }, "color": { "type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"] },
                "news": { "type": "boolean" } }),
            json!(["age", "color"]),
        );
        assert!(form.question().question.contains("age (a number)"), "{}", form.question().question);
        assert_eq!(form.take("-1"), None);
        assert!(form.question().question.contains("did not fit"));
        assert_eq!(form.take("7"), None);
        assert_eq!(form.question().choices, ["Red", "Green", "Decline", "Cancel"]);
        assert_eq!(form.take("Green"), None);
        assert_eq!(form.take("skip"), Some(Answer::Accept(json!({ "age": 7, "color": "g" }))));
        let mut again = self::form(json!({ "age": { "type": "integer" } }), json!(["age"]));
        assert_eq!(
            (again.take("x"), again.take("skip"), again.take("y")),
            (None, None, Some(Answer::Decline))
        );
    }

    #[test]
    fn a_person_refuses_breaks_off_and_says_yes_in_words() {
        let field = || form(json!({ "name": { "type": "string" } }), json!([]));
        assert_eq!(field().take(" DECLINE "), Some(Answer::Decline));
        assert_eq!(field().take("cancel"), Some(Answer::Cancel));
        assert_eq!(form(json!({}), json!([])).take("Accept"), Some(Answer::Accept(json!({}))));
        assert_eq!(form(json!({}), json!([])).take("well"), Some(Answer::Decline));
    }

    #[test]
    fn a_value_that_is_called_like_a_refusal_is_chosen_and_the_form_has_another_word_for_refusing() {
        let field = || {
            let values = json!(["Cancel", "decline", "Skip", "Keep"]);
            form(
                json!({ "order": { "type": "string", "enum": values }, "why": { "type": "string" } }),
                json!(["why"]),
            )
        };
        let asked = field().question();
        assert_eq!(
            asked.choices,
            ["Cancel", "decline", "Skip", "Keep", "leave it out", "Decline the form", "Cancel the form"]
        );
        for value in ["Cancel", "decline", "Skip"] {
            let mut form = field();
            assert_eq!(form.take(value), None, "{value} is a value");
            assert!(
                form.question().question.contains("`decline` refuses"),
                "the next field has the usual words"
            );
            assert_eq!(form.take("so"), Some(Answer::Accept(json!({ "order": value, "why": "so" }))));
        }
        assert_eq!(field().take("Decline the form"), Some(Answer::Decline));
        assert_eq!(field().take("cancel the form"), Some(Answer::Cancel));
        let mut form = field();
        assert_eq!(
            (form.take("leave it out"), form.take("x")),
            (None, Some(Answer::Accept(json!({ "why": "x" }))))
        );
    }

    #[test]
    fn an_address_is_shown_with_everything_that_would_hide_in_it_and_what_is_no_address_is_not() {
        let url = |url: &str| Form::of(&json!({ "mode": "url", "message": "Log in", "url": url }));
        let asked = url("https://a.example/\u{202e}x").expect("an address").question();
        assert!(
            asked.question.contains("https://a.example/\\u{202e}x")
                && asked.question.contains("opens nothing")
        );
        assert_eq!(asked.choices, ["I have opened it", "Decline", "Cancel"]);
        assert!(url("file:///etc/passwd").is_err() && url(&format!("https://{}", "x".repeat(3000))).is_err());
    }

    #[test]
    fn a_form_is_bounded_and_has_fields_that_a_person_can_write() {
        let of = |properties: Value| {
            Form::of(
                &json!({ "message": "m", "requestedSchema": { "type": "object", "properties": properties } }),
            )
        };
        let many: Map<String, Value> =
            (0..9).map(|n| (format!("f{n}"), json!({ "type": "string" }))).collect();
        assert!(of(Value::Object(many)).is_err());
        assert!(of(json!({ "x": { "type": "object" } })).is_err());
        let all: Vec<String> = (0..40).map(|n| n.to_string()).collect();
        assert!(of(json!({ "x": { "type": "string", "enum": all } })).is_err());
        let mut some =
            of(json!({ "x": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] } } }))
                .expect("a form");
        assert_eq!(some.take("a, b"), Some(Answer::Accept(json!({ "x": ["a", "b"] }))));
    }
}
