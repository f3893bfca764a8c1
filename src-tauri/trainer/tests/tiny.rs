//! A tiny random llama, a dataset, and the program itself.

use crate::llama::{Measures, written};
use candle_core::quantized::gguf_file::Value;
use seal::Digest;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use training::{
    Base, DatasetFile, Example, Quant, Role, RunSpec, Said, SplitRule, Turn, assemble, write_lines,
};

const TINY: Measures =
    Measures { name: "Tiny", width: 32, wide: 64, heads: 4, key_heads: 2, layers: 2, context: 512 };

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
        written(&base, TINY, change);
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
