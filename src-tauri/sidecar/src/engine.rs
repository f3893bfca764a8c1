//! llama.cpp: weights, the context with what was read last, and one answer after the other.

use crate::protocol::{Because, Failure, PROTOCOL, Said, Took};
use crate::request::Request;
use crate::{Cancelled, failed, say, text};
use llama_cpp_4::TokenToStringError;
use llama_cpp_4::chat::{ChatApplyParams, ChatParams, ChatTemplates, json_schema_to_grammar};
use llama_cpp_4::common_sampler::{CommonSampler, CommonSamplerParams, GrammarSource};
use llama_cpp_4::context::LlamaContext;
use llama_cpp_4::context::params::LlamaContextParams;
use llama_cpp_4::llama_backend::LlamaBackend;
use llama_cpp_4::llama_batch::LlamaBatch;
use llama_cpp_4::model::params::LlamaModelParams;
use llama_cpp_4::model::{AddBos, LlamaModel, Special};
use llama_cpp_4::token::LlamaToken;
use serde_json::Value;
use std::io::Read as _;
use std::num::NonZeroU32;
use std::time::Instant;

/// Tokens read at once: between two such pieces an answer can be called off.
const BATCH: usize = 256;

/// What went wrong with an answer.
type Failed = (Failure, String);

fn ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn engine(error: impl std::fmt::Display) -> Failed {
    (Failure::Engine, error.to_string())
}

fn unusable(error: impl std::fmt::Display) -> Failed {
    (Failure::Request, error.to_string())
}

/// A model that is loaded.
pub struct Engine<'m> {
    model: &'m LlamaModel,
    templates: ChatTemplates,
    context: LlamaContext<'m>,
    room: usize,
    /// What the context has read, in order.
    known: Vec<LlamaToken>,
}

/// Loads weights, and works with them; says why, when they cannot be loaded.
pub fn load(path: &str, context: u32, threads: u32, work: &mut dyn FnMut(&mut Engine<'_>)) {
    let begun = Instant::now();
    let mut magic = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    if let Err(error) = read {
        return failed(None, Failure::Weights, format!("the weights cannot be read: {error}"));
    }
    if &magic != b"GGUF" {
        return failed(None, Failure::Weights, "the file of the weights is no GGUF file");
    }
    let mut backend = match LlamaBackend::init() {
        Ok(backend) => backend,
        Err(error) => return failed(None, Failure::Engine, error.to_string()),
    };
    backend.void_logs();
    let model = match LlamaModel::load_from_file(&backend, path, &LlamaModelParams::default()) {
        Ok(model) => model,
        Err(_) => {
            let why = "the weights cannot be loaded: they are of a kind that this llama.cpp does not know, damaged, or \
                       larger than the memory that is left";
            return failed(None, Failure::Weights, why);
        }
    };
    let context = context.min(model.n_ctx_train().max(512));
    let threads = i32::try_from(threads.max(1)).unwrap_or(1);
    let batch = u32::try_from(BATCH).unwrap_or(256);
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(context))
        .with_n_batch(batch)
        .with_n_ubatch(batch)
        .with_n_threads(threads)
        .with_n_threads_batch(threads);
    let made = match model.new_context(&backend, params) {
        Ok(made) => made,
        Err(error) => {
            let why = format!("there is not enough memory for a context of {context} tokens ({error})");
            return failed(None, Failure::Memory, why);
        }
    };
    let templates = match ChatTemplates::from_model(&model, None) {
        Ok(templates) => templates,
        Err(error) => {
            return failed(None, Failure::Weights, format!("it has no template for a conversation: {error}"));
        }
    };
    say(&Said::Loaded { protocol: PROTOCOL, context, parameters: model.n_params(), ms: ms(begun) });
    let room = context as usize;
    work(&mut Engine { model: &model, templates, context: made, room, known: Vec::new() });
}

/// An answer that is written.
struct Writing<'r> {
    id: u64,
    applied: &'r ChatParams,
    /// Whether what is written is read for calls when it is over, and told in its parts only then.
    parsed: bool,
    text: Vec<u8>,
    told: usize,
    stops: Vec<String>,
}

impl Writing<'_> {
    /// Tells what is whole and can be no beginning of a stop.
    fn tell(&mut self, last: bool) {
        if self.parsed {
            return;
        }
        let rest = &self.text[self.told..];
        let bytes = text::whole(rest, &self.stops, last);
        if !bytes.is_empty() {
            // What is no text is marked as such, and what comes after it is told.
            say(&Said::Piece { id: self.id, text: String::from_utf8_lossy(bytes).into_owned() });
            self.told += bytes.len();
        }
    }

    /// Cuts at a stop that stands at the end.
    fn stopped(&mut self) -> bool {
        let found = self.stops.iter().find(|stop| self.text.ends_with(stop.as_bytes())).map(String::len);
        let Some(length) = found else { return false };
        let end = self.text.len() - length;
        self.text.truncate(end.max(self.told));
        true
    }

    /// Tells words, thoughts and calls of what was read for them.
    fn tell_parsed(&self) {
        if !self.parsed {
            return;
        }
        let id = self.id;
        let text = String::from_utf8_lossy(&self.text).into_owned();
        let message =
            self.applied.parse(&text, false).ok().and_then(|m| serde_json::from_str::<Value>(&m).ok());
        let Some(message) = message else { return say(&Said::Piece { id, text }) };
        let part = |name: &str| {
            message.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        if let Some(text) = part("reasoning_content") {
            say(&Said::Thought { id, text });
        }
        if let Some(text) = part("content") {
            say(&Said::Piece { id, text });
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let text = |at: &str| call.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
            say(&Said::Call { id, name: text("/function/name"), arguments: text("/function/arguments") });
        }
    }
}

impl Engine<'_> {
    /// Answers one request.
    pub fn answer(&mut self, id: u64, request: &Request, cancelled: &Cancelled) -> Result<(), Failed> {
        let tools = request.tools();
        let schema = request.schema();
        let mut asked = ChatApplyParams::new(request.messages.to_string());
        if let Some(tools) = &tools {
            asked = asked.with_tools(tools.clone());
        }
        if schema.is_some() {
            // The grammar holds from the first token, and no thought is of it.
            asked = asked.with_enable_thinking(false);
        }
        let applied = self.templates.apply(&asked).map_err(unusable)?;
        let bos = if self.model.add_bos_token() { AddBos::Always } else { AddBos::Never };
        let prompt = applied.tokenize_prompt(self.model, bos).map_err(unusable)?;
        if prompt.len() + 16 > self.room {
            let why =
                format!("the prompt has {} tokens, and the context has room for {}", prompt.len(), self.room);
            return Err((Failure::TooLong, why));
        }
        let mut sampler = self.sampler(request, &applied, schema.as_deref())?;
        let mut took = Took { tokens_in: prompt.len() as u32, ..Took::default() };
        let begun = Instant::now();
        let Some(cached) = self.read(id, &prompt, cancelled)? else {
            took.prompt_ms = ms(begun);
            say(&Said::End { id, because: Because::Cancelled, took });
            return Ok(());
        };
        (took.tokens_cached, took.prompt_ms) = (cached, ms(begun));
        let stops = serde_json::from_str(&applied.additional_stops_json).unwrap_or_default();
        let parsed = tools.is_some() && schema.is_none();
        let mut writing = Writing { id, applied: &applied, parsed, text: Vec::new(), told: 0, stops };
        let begun = Instant::now();
        let because = self.write(&mut writing, &mut sampler, request.limit(), &mut took, cancelled)?;
        writing.tell(true);
        if because != Because::Cancelled {
            writing.tell_parsed();
        }
        took.answer_ms = ms(begun);
        say(&Said::End { id, because, took });
        Ok(())
    }

    /// Chooses tokens: only such as the schema allows, else as the template does for the tools that are offered.
    fn sampler(
        &self,
        request: &Request,
        applied: &ChatParams,
        schema: Option<&str>,
    ) -> Result<CommonSampler, Failed> {
        let mut params = CommonSamplerParams::new();
        let mut scalars = params.scalars();
        scalars.temp = request.temperature();
        if let Some(seed) = request.seed() {
            scalars.seed = seed;
        }
        params.set_scalars(&scalars);
        if let Some(schema) = schema {
            let grammar = json_schema_to_grammar(schema, false).map_err(unusable)?;
            params.set_grammar(&grammar, GrammarSource::User, false).map_err(unusable)?;
        } else if !applied.grammar.is_empty() {
            params
                .set_grammar(&applied.grammar, GrammarSource::ToolCalls, applied.grammar_lazy)
                .map_err(unusable)?;
            for trigger in &applied.grammar_triggers {
                params
                    .add_grammar_trigger(&trigger.kind, &trigger.value, LlamaToken(trigger.token))
                    .map_err(unusable)?;
            }
            params.set_generation_prompt(applied.generation_prompt()).map_err(unusable)?;
        }
        CommonSampler::new(self.model, &mut params).map_err(unusable)
    }

    /// Reads a prompt: what it has in common with what is known is not read again. How much that was, or none when it was
    /// called off.
    fn read(&mut self, id: u64, prompt: &[LlamaToken], cancelled: &Cancelled) -> Result<Option<u32>, Failed> {
        let same = self.known.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        // The last one is read in any case: what follows it is asked for.
        let mut same = same.min(prompt.len().saturating_sub(1));
        let from = u32::try_from(same).map_err(engine)?;
        if !self.context.clear_kv_cache_seq(Some(0), Some(from), None).map_err(engine)? {
            self.context.clear_kv_cache();
            same = 0;
        }
        self.known.truncate(same);
        let cached = same as u32;
        let mut batch = LlamaBatch::new(BATCH, 1);
        let of = prompt.len() as u32;
        for piece in prompt[same..].chunks(BATCH) {
            if cancelled.has(id) {
                return Ok(None);
            }
            say(&Said::Reading { id, done: self.known.len() as u32, of });
            batch.clear();
            for token in piece {
                let at = self.known.len();
                batch.add(*token, at as i32, &[0], at + 1 == prompt.len()).map_err(engine)?;
                self.known.push(*token);
            }
            self.decode(&mut batch)?;
        }
        say(&Said::Reading { id, done: of, of });
        Ok(Some(cached))
    }

    /// What cannot be read is not known either.
    fn decode(&mut self, batch: &mut LlamaBatch) -> Result<(), Failed> {
        self.context.decode(batch).map_err(|error| {
            self.context.clear_kv_cache();
            self.known.clear();
            engine(error)
        })
    }

    fn write(
        &mut self,
        writing: &mut Writing<'_>,
        sampler: &mut CommonSampler,
        limit: u32,
        took: &mut Took,
        cancelled: &Cancelled,
    ) -> Result<Because, Failed> {
        let mut batch = LlamaBatch::new(1, 1);
        loop {
            if cancelled.has(writing.id) {
                return Ok(Because::Cancelled);
            }
            if took.tokens_out >= limit || self.known.len() >= self.room {
                return Ok(Because::Length);
            }
            let token = sampler.sample(&mut self.context, -1, false).map_err(engine)?;
            sampler.accept(token, true);
            if self.model.is_eog_token(token) {
                return Ok(Because::Ended);
            }
            took.tokens_out += 1;
            let special = if writing.parsed { Special::Tokenize } else { Special::Plaintext };
            writing.text.extend(match self.model.token_to_raw_bytes(token, special) {
                // A control token in free text is no text, which the binding tells as an error.
                Err(TokenToStringError::UnknownTokenType) => Vec::new(),
                bytes => bytes.map_err(engine)?,
            });
            if writing.stopped() {
                return Ok(Because::Ended);
            }
            writing.tell(false);
            batch.clear();
            batch.add(token, self.known.len() as i32, &[0], true).map_err(engine)?;
            self.known.push(token);
            self.decode(&mut batch)?;
        }
    }
}
