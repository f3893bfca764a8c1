//! Words to tokens and back, as the file of the model says, and examples as ChatML.

use crate::{Done, Problem};
use candle_core::quantized::gguf_file::Content;
use candle_core::quantized::tokenizer::TokenizerFromGguf as _;
use tokenizers::Tokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use training::{Example, Role, Turn};

/// The tokenizer of a model.
pub struct Words {
    tokenizer: Tokenizer,
    begin: u32,
    end: u32,
    also_ends: Option<u32>,
    system: Option<String>,
}

/// An example in tokens: what is shown, and what is learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What is shown.
    pub prompt: Vec<u32>,
    /// The answer with its end.
    pub answer: Vec<u32>,
}

impl Shown {
    /// Tokens within a length, and the place where the answer begins: a prompt that is too long loses its beginning.
    /// Nothing where the answer alone is too long.
    #[must_use]
    pub fn within(&self, length: usize) -> Option<(Vec<u32>, usize)> {
        let room = length.checked_sub(self.answer.len()).filter(|room| *room > 0)?;
        let prompt = self.prompt_within(room);
        let from = prompt.len();
        Some((prompt.iter().chain(&self.answer).copied().collect(), from))
    }

    /// The end of the prompt, within a length.
    #[must_use]
    pub fn prompt_within(&self, length: usize) -> &[u32] {
        &self.prompt[self.prompt.len().saturating_sub(length)..]
    }
}

impl Words {
    /// Reads the tokenizer of a file.
    ///
    /// # Errors
    /// It is of another kind than is known, or does not speak ChatML.
    pub fn read(content: &Content) -> Done<Self> {
        let said = |key: &str| content.metadata.get(key).and_then(|value| value.to_string().ok()).cloned();
        let mut tokenizer = Tokenizer::from_gguf(content)?;
        match said("tokenizer.ggml.pre").as_deref() {
            Some("smollm") => {
                let parts = vec![Digits::new(true).into(), ByteLevel::new(false, true, true).into()];
                tokenizer.with_pre_tokenizer(Some(Sequence::new(parts)));
            }
            None | Some("gpt-2" | "gpt2" | "default") => {
                tokenizer.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
            }
            Some("llama3") => {}
            Some(other) => {
                let other: String = other.chars().take(64).collect();
                return Err(Problem::new(format!(
                    "how the model divides words, `{other}`, is not known here"
                )));
            }
        }
        // What looks like the end of a turn within a text is text.
        tokenizer.set_encode_special_tokens(true);
        let id = |word: &str| {
            tokenizer
                .token_to_id(word)
                .ok_or_else(|| Problem::new(format!("the model has no `{word}`: it does not speak ChatML")))
        };
        let (begin, end) = (id("<|im_start|>")?, id("<|im_end|>")?);
        let also_ends = content
            .metadata
            .get("tokenizer.ggml.eos_token_id")
            .and_then(|value| value.to_u64().ok())
            .and_then(|id| u32::try_from(id).ok());
        let system = said("tokenizer.chat_template").as_deref().and_then(said_first);
        Ok(Self { tokenizer, begin, end, also_ends, system })
    }

    /// Whether a token ends an answer.
    #[must_use]
    pub fn ends(&self, token: u32) -> bool {
        token == self.end || self.also_ends == Some(token)
    }

    /// The words of tokens.
    ///
    /// # Errors
    /// The tokenizer says so.
    pub fn text(&self, tokens: &[u32]) -> Done<String> {
        self.tokenizer
            .decode(tokens, true)
            .map_err(|error| Problem::new(format!("tokens are no words: {error}")))
    }

    fn tokens(&self, text: &str) -> Done<Vec<u32>> {
        let made = self.tokenizer.encode(text, false);
        Ok(made.map_err(|error| Problem::new(format!("words are no tokens: {error}")))?.get_ids().to_vec())
    }

    /// An example in tokens.
    ///
    /// # Errors
    /// The tokenizer says so.
    pub fn shown(&self, example: &Example) -> Done<Shown> {
        let mut prompt = Vec::new();
        let first = match (&self.system, example.prompt.first()) {
            (Some(words), Some(turn)) if turn.role != Role::System => {
                Some(Turn { role: Role::System, content: words.clone() })
            }
            _ => None,
        };
        for turn in first.iter().chain(&example.prompt) {
            prompt.push(self.begin);
            prompt.extend(self.tokens(&format!("{}\n{}", turn.role.word(), turn.content))?);
            prompt.push(self.end);
            prompt.extend(self.tokens("\n")?);
        }
        prompt.push(self.begin);
        prompt.extend(self.tokens("assistant\n")?);
        let mut answer = self.tokens(&example.answer)?;
        answer.push(self.end);
        Ok(Shown { prompt, answer })
    }
}

/// What a chat template says first where nobody else does: the words of its own turn of the system.
fn said_first(template: &str) -> Option<String> {
    let (_, rest) = template.split_once("messages[0]['role'] != 'system'")?;
    let (_, rest) = rest.split_once("<|im_start|>system\n")?;
    let (words, _) = rest.split_once("<|im_end|>")?;
    (words.len() < 4_096 && !words.contains("{{")).then(|| words.to_owned())
}
