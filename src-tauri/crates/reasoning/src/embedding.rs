//! Vectors of texts, asked of an embedding model at a server of this machine: `/embeddings` of an OpenAI-compatible one,
//! `/api/embed` of Ollama. Texts of a person's memory go along, so no other machine is asked.

use crate::port::{Head, ModelHttp, ModelHttpError};
use crate::{Address, model_box};
use model::task::ModelApi;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Bytes of an answer at most: the vectors of a batch of texts, written out, and room.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Letters of what a server says of a refusal.
const SAID_MAX: usize = 160;

/// A model that makes vectors, at a server of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingModel {
    address: Address,
    endpoint: String,
    api: ModelApi,
    name: String,
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingError {
    /// The server refuses these texts, as it does when one of them is too long for the model.
    #[error("its server refuses the texts with status {status}{said}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it says, shortened, in brackets.
        said: String,
    },
    /// There is no answer, or what came is none.
    #[error("{0}")]
    Failed(String),
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct OpenAi {
    data: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Ollama {
    embeddings: Vec<Vec<f32>>,
}

impl EmbeddingModel {
    /// The model at an address, such as `openai:http://127.0.0.1:8080/v1#minilm`.
    ///
    /// # Errors
    /// In words: for what is no address of a server of this machine, or of one that makes no vectors.
    pub fn at(text: &str) -> Result<Self, String> {
        let address: Address = text.parse().map_err(|e: crate::Error| e.to_string())?;
        let Address::Server { api, url, model } = &address else {
            return Err("an embedding model runs at a server: write it as `openai:URL#MODEL`".to_owned());
        };
        if url == model_box::URL {
            return Err(
                "a model in the box makes no vectors; name one at a server of this machine".to_owned()
            );
        }
        if address.leaves_this_machine() {
            let whose = if address.is_remote() { url } else { model };
            return Err(format!(
                "`{whose}` is on another machine: what you remember would be sent there; name a server of this machine, \
                 such as `openai:http://127.0.0.1:8080/v1#MODEL`"
            ));
        }
        let endpoint = match api {
            ModelApi::Openai => format!("{url}/embeddings"),
            ModelApi::Ollama => format!("{url}/api/embed"),
            ModelApi::Responses | ModelApi::Anthropic | ModelApi::Gemini => {
                return Err(format!(
                    "vectors are asked for as `openai:` and `ollama:` servers give them, not over `{api}`"
                ));
            }
        };
        Ok(Self { endpoint, api: *api, name: model.clone(), address })
    }

    /// Its address, in one spelling.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// One vector for each text, in their order, as the server says them; it ends when `goes_on` says no.
    ///
    /// # Errors
    /// [`EmbeddingError`].
    pub fn embed(
        &self,
        egress: &dyn ModelHttp,
        texts: &[&str],
        patience: Duration,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let failed = EmbeddingError::Failed;
        let body = serde_json::to_vec(&Request { model: &self.name, input: texts });
        let body = body.map_err(|e| failed(e.to_string()))?;
        let patience_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        let mut answer = Vec::new();
        let reply = egress.post(&self.endpoint, &Head::default(), &body, patience_ms, &mut |chunk| {
            answer.extend_from_slice(chunk);
            answer.len() <= ANSWER_BYTES_MAX && goes_on()
        });
        let status = match reply {
            Ok(reply) => reply.status,
            Err(ModelHttpError::Stopped) if answer.len() > ANSWER_BYTES_MAX => {
                return Err(failed(format!("its answer is longer than {ANSWER_BYTES_MAX} bytes")));
            }
            Err(ModelHttpError::Stopped | ModelHttpError::TimedOut(_)) => {
                return Err(failed(format!("it did not answer within {}", words::time::lasting(patience))));
            }
            Err(ModelHttpError::Unreachable(why)) => return Err(failed(format!("nobody answers: {why}"))),
            Err(ModelHttpError::Cut(why)) => return Err(failed(format!("the connection was cut: {why}"))),
            Err(ModelHttpError::Denied(why)) => return Err(failed(why)),
        };
        if status != 200 {
            let said = said(&answer);
            return Err(match refuses_text(status, &said) {
                true => EmbeddingError::Refused { status, said },
                false => failed(format!("it answers {status}{said}")),
            });
        }
        self.read(&answer).map_err(failed)
    }

    fn read(&self, answer: &[u8]) -> Result<Vec<Vec<f32>>, String> {
        let none = |e: serde_json::Error| format!("what it answers is no list of vectors: {e}");
        if self.api == ModelApi::Ollama {
            return Ok(serde_json::from_slice::<Ollama>(answer).map_err(none)?.embeddings);
        }
        let mut all = serde_json::from_slice::<OpenAi>(answer).map_err(none)?.data;
        let count = all.len();
        all.iter_mut().enumerate().for_each(|(at, one)| one.index = Some(one.index.unwrap_or(at)));
        all.sort_by_key(|one| one.index);
        // Each text once: a vector of another text in its place would be believed.
        if all.iter().enumerate().any(|(at, one)| one.index != Some(at)) {
            return Err(format!("its {count} vectors are not numbered from 0, each once"));
        }
        Ok(all.into_iter().map(|one| one.embedding).collect())
    }
}

/// Whether a server says by this that it does not take the text; by any other, that it takes none at present.
fn refuses_text(status: u16, said: &str) -> bool {
    let is_too_long = ["too large", "too long", "exceed"].iter().any(|words| said.contains(words));
    matches!(status, 400 | 413 | 422) || (status == 500 && is_too_long)
}

fn said(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer);
    let json: Option<serde_json::Value> = serde_json::from_slice(answer).ok();
    let inner = json.as_ref().map(|said| said.get("error").unwrap_or(said));
    let words = inner.and_then(|inner| inner.get("message").unwrap_or(inner).as_str()).unwrap_or(&text);
    let line: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SAID_MAX).collect();
    if line.trim().is_empty() { String::new() } else { format!(" (it says: {})", line.trim()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use super::*;
    use crate::HttpReply;
    use serde_json::{Value, json};
    use std::sync::Mutex;

    /// Answers every request with this, and keeps where and what it was asked.
    struct Says(u16, Vec<u8>, Mutex<Vec<(String, Value)>>);

    impl Says {
        fn json(value: &Value) -> Self {
            Self(200, value.to_string().into_bytes(), Mutex::default())
        }
    }

    impl ModelHttp for Says {
        fn post(
            &self,
            url: &str,
            _: &Head<'_>,
            body: &[u8],
            _: u64,
            on_chunk: &mut dyn FnMut(&[u8]) -> bool,
        ) -> Result<HttpReply, ModelHttpError> {
            self.2.lock().unwrap().push((url.to_owned(), serde_json::from_slice(body).unwrap()));
            for chunk in self.1.chunks(64 * 1024) {
                if !on_chunk(chunk) {
                    return Err(ModelHttpError::Stopped);
                }
            }
            Ok(HttpReply { status: self.0, ..HttpReply::default() })
        }
    }

    const PATIENCE: Duration = Duration::from_secs(5);

    fn at(text: &str) -> EmbeddingModel {
        EmbeddingModel::at(text).unwrap()
    }

    #[test]
    fn each_kind_of_server_is_asked_in_its_own_way() {
        let one = Says::json(&json!({ "data": [
            { "index": 1, "embedding": [3.0, 4.0] }, { "index": 0, "embedding": [1.0, 2.0] },
        ] }));
        let model = at("openai:http://127.0.0.1:8080/v1#mini");
        assert_eq!(
            model.embed(&one, &["a", "b"], PATIENCE, &|| true).unwrap(),
            [vec![1.0, 2.0], vec![3.0, 4.0]]
        );
        let asked = one.2.lock().unwrap().remove(0);
        let body = json!({ "model": "mini", "input": ["a", "b"] });
        assert_eq!(asked, ("http://127.0.0.1:8080/v1/embeddings".to_owned(), body.clone()));
        let one = Says::json(&json!({ "model": "mini", "embeddings": [[1.0, 2.0], [3.0, 4.0]] }));
        let model = at("ollama:mini");
        assert_eq!(
            model.embed(&one, &["a", "b"], PATIENCE, &|| true).unwrap(),
            [vec![1.0, 2.0], vec![3.0, 4.0]]
        );
        let asked = one.2.lock().unwrap().remove(0);
        assert_eq!(asked, ("http://127.0.0.1:11434/api/embed".to_owned(), body));
    }

    #[test]
    fn only_a_server_of_this_machine_is_asked() {
        for (address, says) in [
            ("openai:https://models.example.com/v1#m", "another machine"),
            ("openai:http://192.168.1.7:8080/v1#m", "another machine"),
            ("anthropic:http://127.0.0.1:1/v1#m", "not over `anthropic`"),
            ("box:tiny", "in the box"),
            ("playbook:tidy", "at a server"),
            ("mini", "no provider"),
        ] {
            let said = EmbeddingModel::at(address).unwrap_err();
            assert!(said.contains(says), "{address}: {said}");
        }
        assert_eq!(at("openai:http://[::1]:9/v1/#m").address(), "openai:http://[::1]:9/v1#m");
    }

    #[test]
    fn what_is_no_answer_is_refused_in_words() {
        let model = at("openai:http://127.0.0.1:8080/v1#mini");
        let said = |says: &Says| model.embed(says, &["a"], PATIENCE, &|| true).unwrap_err().to_string();
        for (answer, words) in [
            (json!({ "data": "x" }), "no list of vectors"),
            (json!({ "data": [{ "embedding": [null] }] }), "no list of vectors"),
            (json!({ "data": [{ "index": 1, "embedding": [1.0] }] }), "not numbered"),
            (
                json!({ "data": [{ "index": 0, "embedding": [1.0] }, { "index": 0, "embedding": [1.0] }] }),
                "not numbered",
            ),
        ] {
            let text = said(&Says::json(&answer));
            assert!(text.contains(words), "{answer}: {text}");
        }
        let numbers = Says(200, br#"{"data":[{"embedding":[1e999]}]}"#.to_vec(), Mutex::default());
        assert!(said(&numbers).contains("no list of vectors"), "{}", said(&numbers));
        let long = Says(200, vec![b' '; 100 * 1024 * 1024], Mutex::default());
        assert!(said(&long).contains("longer than"), "{}", said(&long));
        let refused = Says(500, br#"{"error":{"message":"input is too\nlarge"}}"#.to_vec(), Mutex::default());
        let error = model.embed(&refused, &["a"], PATIENCE, &|| true).unwrap_err();
        assert!(
            matches!(&error, EmbeddingError::Refused { status: 500, said } if said.contains("too large")),
            "{error}"
        );
        for status in [401, 404, 429, 500, 503] {
            let busy = Says(status, br#"{"error":{"message":"loading"}}"#.to_vec(), Mutex::default());
            let error = model.embed(&busy, &["a"], PATIENCE, &|| true).unwrap_err();
            assert!(matches!(error, EmbeddingError::Failed(_)), "{status} says nothing of the text");
        }
    }
}
