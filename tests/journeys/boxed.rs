//! The model in the box tidies a folder as a model: the real program, the real weights, behind the real walls.

use super::goals::{Goal, work_on};
use super::stage::Stage;
use super::{summary, tree};
use std::path::{Path, PathBuf};
use std::time::Instant;

const MODEL: &str = "qwen2.5-coder-1.5b";

/// What the playbook `tidy` does, as a goal for a model.
pub const TIDY: Goal = Goal {
    name: "tidy",
    words: "Tidy this folder: move every .jpg file into Images, every .mp3 file into Audio and every .txt file into \
            Documents, such as Documents/minutes.txt",
    files: &[
        ("minutes.txt", "Minutes of the meeting of 2 November\n"),
        ("holiday.jpg", "a picture of a beach\n"),
        ("song.mp3", "la la la\n"),
    ],
    commits: &[],
    check: |left| {
        left.is("Documents/minutes.txt", "Minutes of the meeting of 2 November")?;
        left.is("Images/holiday.jpg", "a picture of a beach")?;
        left.is("Audio/song.mp3", "la la la")
    },
};

/// The program, where `cargo xtask model-box` has put it, and the weights of the suite.
fn here() -> Option<(PathBuf, PathBuf)> {
    let parts = summary::parts()?;
    let named = std::env::var_os("HERMIT_MODEL_BOX").filter(|v| !v.is_empty()).map(PathBuf::from);
    let program = named.or_else(|| Some(parts.parent()?.join("model-box/hermit-model-box")))?;
    let weights = parts.join("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf");
    (program.is_file() && weights.is_file()).then_some((program, weights))
}

#[test]
fn the_model_in_the_box_tidies_a_folder_up_to_receipts_and_undo() {
    let Some((program, weights)) = here() else {
        return conforms::skip(
            "the model in the box is not here (`cargo xtask model-box`, `cargo xtask parts qwen-1.5b`)",
        );
    };
    let stage = Stage::new();
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (program, weights) = (path(&program), path(&weights));
    let got = stage.hermit(&["models", "get", MODEL, "--from", &weights]).ends(0).json();
    let digest = got["sha256"].as_str().expect("a digest");
    TIDY.lay(&stage.work());
    let before = tree::of(&stage.work());
    let began = Instant::now();
    let came = work_on(&stage, &TIDY, &format!("box:{MODEL}"), &[("HERMIT_MODEL_BOX", program.as_str())]);
    println!(
        "the model in the box: {:?}, {} questions, {} tokens",
        began.elapsed(),
        came.questions,
        came.tokens
    );
    assert_eq!(came.reached, Ok(()), "{}", came.screen);
    let listed = stage.hermit(&["task", "list"]).ends(0).json();
    let task = listed["rows"][0]["task_id"].as_str().expect("a task").to_owned();
    assert!(came.questions > 1, "it thinks more than once");
    let pinned = format!("{MODEL}@sha256:{digest}");
    assert!(format!("{:?}", stage.events(&task)).contains(&pinned), "each turn says which weights thought");
    stage.is_sound();
    stage.prove(&task);
    let asked = stage.hermit(&["rollback", &task]).ends(4).json();
    let (code, screen) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{screen}");
    assert_eq!(tree::of(&stage.work()), before, "byte for byte");
}
