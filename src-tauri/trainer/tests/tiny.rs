//! A random llama of two layers with little more than a token for each byte, a dataset, and the program itself.

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use seal::Digest;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use trainer::adapter::Chance;
use training::{
    Base, DatasetFile, Example, Quant, Role, RunSpec, Said, SplitRule, Turn, assemble, write_lines,
};

pub const WIDTH: usize = 32;
pub const WIDE: usize = 64;
pub const HEADS: u32 = 4;
pub const KEY_HEADS: u32 = 2;
pub const LAYERS: u32 = 2;

/// Bytes as byte-level tokenizers write them.
fn letters() -> Vec<String> {
    let is_shown =
        |byte: u32| (33..=126).contains(&byte) || (161..=172).contains(&byte) || (174..=255).contains(&byte);
    let mut next = 256;
    (0..256_u32)
        .map(|byte| {
            let letter = if is_shown(byte) { byte } else { next };
            next += u32::from(!is_shown(byte));
            char::from_u32(letter).unwrap().to_string()
        })
        .collect()
}

fn weight(chance: &mut Chance, out: usize, into: usize, size: f32) -> QTensor {
    let numbers: Vec<f32> = (0..out * into).map(|_| chance.share() * size).collect();
    let tensor = Tensor::from_vec(numbers, (out, into), &Device::Cpu).unwrap();
    QTensor::quantize(&tensor, GgmlDType::F32).unwrap()
}

fn norm() -> QTensor {
    QTensor::quantize(&Tensor::from_vec(vec![1.0_f32; WIDTH], WIDTH, &Device::Cpu).unwrap(), GgmlDType::F32)
        .unwrap()
}

/// Writes the model; some of what it says may be changed first.
pub fn model(path: &Path, change: impl FnOnce(&mut Vec<(String, Value)>)) {
    let mut tokens = letters();
    tokens.extend(["th", "in", "<|im_start|>", "<|im_end|>"].map(str::to_owned));
    let kinds = (0..tokens.len()).map(|at| Value::I32(if at < 258 { 1 } else { 3 })).collect();
    let text = |words: &str| Value::String(words.to_owned());
    let mut chance = Chance::of("tiny");
    let number = tokens.len();
    let mut metadata: Vec<(String, Value)> = [
        ("general.architecture", text("llama")),
        ("general.name", text("Tiny")),
        ("general.license", text("apache-2.0")),
        ("llama.block_count", Value::U32(LAYERS)),
        ("llama.context_length", Value::U32(512)),
        ("llama.embedding_length", Value::U32(WIDTH as u32)),
        ("llama.feed_forward_length", Value::U32(WIDE as u32)),
        ("llama.attention.head_count", Value::U32(HEADS)),
        ("llama.attention.head_count_kv", Value::U32(KEY_HEADS)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("llama.rope.freq_base", Value::F32(10_000.0)),
        ("tokenizer.ggml.model", text("gpt2")),
        ("tokenizer.ggml.pre", text("smollm")),
        ("tokenizer.ggml.tokens", Value::Array(tokens.iter().map(|token| text(token)).collect())),
        ("tokenizer.ggml.token_type", Value::Array(kinds)),
        ("tokenizer.ggml.merges", Value::Array(vec![text("t h"), text("i n")])),
        ("tokenizer.ggml.eos_token_id", Value::U32(259)),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into();
    change(&mut metadata);
    let (kv, size) = (WIDTH * KEY_HEADS as usize / HEADS as usize, 0.3);
    let mut tensors = vec![
        ("token_embd.weight".to_owned(), weight(&mut chance, number, WIDTH, 0.5)),
        ("output_norm.weight".to_owned(), norm()),
    ];
    for layer in 0..LAYERS {
        let mut add = |name: &str, tensor| tensors.push((format!("blk.{layer}.{name}.weight"), tensor));
        add("attn_norm", norm());
        add("ffn_norm", norm());
        add("attn_q", weight(&mut chance, WIDTH, WIDTH, size));
        add("attn_k", weight(&mut chance, kv, WIDTH, size));
        add("attn_v", weight(&mut chance, kv, WIDTH, size));
        add("attn_output", weight(&mut chance, WIDTH, WIDTH, size));
        add("ffn_gate", weight(&mut chance, WIDE, WIDTH, size));
        add("ffn_up", weight(&mut chance, WIDE, WIDTH, size));
        add("ffn_down", weight(&mut chance, WIDTH, WIDE, size));
    }
    let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let tensors: Vec<(&str, &QTensor)> =
        tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    gguf_file::write(&mut fs::File::create(path).unwrap(), &metadata, &tensors).unwrap();
}

pub fn example(project: &str, at: i64) -> Example {
    let tool = ["read", "list"][(at % 2) as usize];
    let prompt = vec![
        Turn { role: Role::System, content: "One act.".to_owned() },
        Turn { role: Role::User, content: format!("{tool} the file number{at} of {project}") },
    ];
    let answer = format!("{{\"tool\":\"{tool}\"}}");
    Example::new(prompt, answer, vec![format!("rcp_{project}_{at}")], project.to_owned(), at)
}

/// A folder with a model, a dataset and a run.
pub struct Place {
    pub folder: tempfile::TempDir,
    pub spec: RunSpec,
}

impl Place {
    pub fn new() -> Self {
        Self::with(|_| {}, "old")
    }

    /// One with another model, or with examples of another project to learn from.
    pub fn with(change: impl FnOnce(&mut Vec<(String, Value)>), project: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (base, data) = (folder.path().join("tiny.gguf"), folder.path().join("data.jsonl"));
        model(&base, change);
        let all = (0..16).map(|at| example(project, at)).chain((100..106).map(|at| example("new", at)));
        let made = assemble(all.collect(), SplitRule::default()).unwrap();
        fs::write(&data, write_lines(&made.examples).unwrap()).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let digest = |path: &Path| Digest::of(&fs::read(path).unwrap());
        let base = Base { path: text(&base), sha256: digest(&base), licence: "Apache-2.0".to_owned() };
        let data = DatasetFile { path: text(&data), sha256: digest(&data) };
        let mut spec = RunSpec::small(base, data, text(&folder.path().join("out")));
        spec.rank = 4;
        spec.feed_forward = true;
        spec.learning_rate = 1e-2;
        spec.steps = 12;
        spec.batch = 2;
        spec.sequence_length = 128;
        spec.checkpoint_every = 3;
        spec.answer_tokens = 24;
        spec.quant = Quant::Q8_0;
        Self { folder, spec }
    }

    /// The same run in another folder.
    pub fn elsewhere(&self, name: &str) -> RunSpec {
        let folder = self.folder.path().join(name).to_str().unwrap().to_owned();
        RunSpec { folder, ..self.spec.clone() }
    }

    /// The file of a run.
    pub fn file(&self, spec: &RunSpec) -> PathBuf {
        let name = Path::new(&spec.folder).file_name().unwrap().to_str().unwrap();
        let path = self.folder.path().join(format!("{name}.json"));
        fs::write(&path, serde_json::to_vec(spec).unwrap()).unwrap();
        path
    }

    /// The program, begun.
    pub fn begin(&self, spec: &RunSpec, word: &str, more: &[&str]) -> Program {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermit-train"));
        command.arg(word).arg(self.file(spec)).args(more);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Program { child, input, output }
    }

    /// The program to its end: what it said, and whether it went well.
    pub fn done(&self, spec: &RunSpec, word: &str, more: &[&str]) -> (Vec<Said>, bool) {
        let mut program = self.begin(spec, word, more);
        let mut said = Vec::new();
        while let Some(one) = program.next() {
            said.push(one);
        }
        (said, program.child.wait().unwrap().success())
    }
}

pub struct Program {
    pub child: Child,
    pub input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// The next line.
    pub fn next(&mut self) -> Option<Said> {
        let mut line = String::new();
        (self.output.read_line(&mut line).unwrap() > 0).then(|| Said::parse(&line).expect(&line))
    }

    /// Lines up to one that is looked for.
    pub fn until(&mut self, is: impl Fn(&Said) -> bool) -> Said {
        loop {
            let said = self.next().expect("the program ended before");
            if is(&said) {
                return said;
            }
        }
    }

    pub fn tell(&mut self, word: &str) {
        self.input.as_mut().unwrap().write_all(word.as_bytes()).unwrap();
    }
}

/// The checkpoint of a step.
pub fn checkpoint(spec: &RunSpec, step: u32) -> PathBuf {
    Path::new(&spec.folder).join(format!("checkpoint-{step:08}.safetensors"))
}

pub fn losses(said: &[Said]) -> Vec<f32> {
    let loss = |one: &Said| if let Said::Progress { loss, .. } = one { Some(*loss) } else { None };
    said.iter().filter_map(loss).collect()
}
