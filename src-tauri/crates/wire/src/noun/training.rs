//! Training: datasets of finished work, runs that make adapters of them, models with adapters, and recalls (successor.md 6).
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::PersonSigned;
use crate::table::{answers, params};
use words::training::{LeftOutReason, TrainingState};

params! {
    /// What a dataset of the work so far would hold.
    Preview {
        /// Whether time alone divides what is held out: for work in one project.
        #[serde(default)]
        by_time: bool,
    }
    /// A dataset that is kept as it was shown.
    Curate {
        #[serde(default)]
        by_time: bool,
        /// The digest of what was shown.
        shown: String,
    }
    /// Datasets, runs and recalls.
    List {}
    /// A run to begin, or to go on with.
    Run {
        /// The dataset; the newest when absent.
        dataset: Option<String>,
        /// A model in the box, such as `smollm2-135m`.
        base: Option<String>,
        /// Its licence by its SPDX identifier, where the box does not say it.
        licence: Option<String>,
        steps: Option<u32>,
        /// Rank of the adapter.
        rank: Option<u32>,
        /// Examples of a step.
        batch: Option<u32>,
        /// Tokens of an example.
        tokens: Option<u32>,
        /// How far a step goes, such as `0.0005`.
        rate: Option<String>,
        /// Seconds that it may take, pauses left out.
        seconds: Option<u64>,
        /// Millions of bytes of memory that it may use.
        memory_mb: Option<u64>,
        threads: Option<u32>,
        /// What chance is made from.
        seed: Option<u64>,
        /// How its model is stored: `F16`, `Q8_0` or `Q4_1`.
        quant: Option<String>,
        /// Whether it also works on battery, and while somebody is at the machine.
        #[serde(default)]
        always: bool,
        /// The run to go on with; its settings are those that it was begun with.
        resume: Option<String>,
    }
    /// A run that machines of the mesh learn together; this one leads it.
    Together {
        /// Its name.
        name: String,
        /// The other machines, by name or key.
        with: Vec<String>,
        rounds: Option<u32>,
        /// Places of a hundred that each machine sends in a round.
        percent: Option<u32>,
        /// Seconds that a round waits for machines that sent nothing, once three did.
        patience_s: Option<u32>,
        /// As for a run of this machine alone; its steps are those of a round.
        #[serde(default)]
        run: Run,
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// An invitation of another machine to learn together, taken up.
    Join {
        /// The run.
        name: String,
        /// The machine that leads it, by name or key, where several are named so.
        from: Option<String>,
        /// What is this machine's own of the run: dataset, licence, threads, and when it works.
        #[serde(default)]
        run: Run,
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// How the run in hand stands.
    Stands {}
    /// The run in hand does no further step for now.
    Pause {}
    /// The run in hand writes a checkpoint and ends.
    Stop {}
    /// What a run has learned is measured.
    Prove { run: String }
    /// A model with the adapter of a run.
    Export {
        run: String,
        /// Its name among the models in the box.
        name: Option<String>,
    }
    /// What is not to be learned from any more.
    Recall {
        /// A task, a receipt, an artifact, or a folder by its path.
        source: String,
    }
    /// Whether work in a folder is left out.
    Private {
        folder: String,
        private: bool,
    }
}

answers! {
    /// What a dataset would hold, and what is left out.
    Curation {
        /// The digest of it, by which it is kept.
        sha256: String,
        /// How many examples there are.
        examples: u32,
        /// How many of them are held out.
        held_out: u32,
        /// How many receipts are behind what is learned from.
        receipts: u32,
        receipts_root: String,
        projects: u32,
        /// Whether what is held out is new in time alone.
        by_time: bool,
        left_out: Vec<LeftOut>,
        shown: Vec<ShownExample>,
        /// Folders whose work is left out.
        private: Vec<String>,
        /// Those of them that are not there: work where one was moved to is not left out.
        missing: Vec<String>,
        /// Why no dataset can be made, where that is so.
        trouble: Option<String>,
    }
    /// Turns that are left out for one reason.
    LeftOut {
        why: LeftOutReason,
        turns: u32,
        /// Some of the tasks.
        tasks: Vec<String>,
    }
    /// One example.
    ShownExample {
        id: String,
        task_id: String,
        /// Turns that the model was shown.
        turns: u32,
        /// The beginning of the last of them.
        asked: String,
        /// The beginning of the answer.
        answer: String,
        receipts: Vec<String>,
        held_out: bool,
        at: i64,
    }
    /// Datasets, runs and recalls, the newest first.
    Trainings {
        datasets: Vec<DatasetRow>,
        runs: Vec<RunRow>,
        recalls: Vec<RecallRow>,
    }
    /// A dataset.
    DatasetRow {
        dataset_id: String,
        sha256: String,
        examples: u32,
        held_out: u32,
        left_out: u32,
        receipts_root: String,
        /// The one that it took the place of.
        replaces: Option<String>,
        /// Whether its content was let go, by a recall or an erasure.
        gone: bool,
        at: i64,
    }
    /// A run that ended with an adapter.
    RunRow {
        run_id: String,
        dataset_id: String,
        base_sha256: String,
        adapter_id: String,
        /// Whether it may be used.
        offered: bool,
        /// Why, or why not.
        words: Option<String>,
        before: Option<MeasuresRow>,
        after: Option<MeasuresRow>,
        /// Exact next acts of a thousand that the most frequent answer would have.
        baseline_per_mille: Option<u32>,
        /// On which devices and machines it was done, in words; none where nobody said.
        ran_on: Vec<String>,
        exported: Option<ExportRow>,
        /// Since when something that it saw is recalled.
        recalled: Option<i64>,
        at: i64,
    }
    /// What was measured on held-out examples.
    MeasuresRow {
        examples: u32,
        /// Exact next acts of a thousand.
        next_act_per_mille: u32,
        /// Acts with a valid form, of a thousand.
        valid_per_mille: u32,
        /// Perplexity of the true answers, with three digits.
        perplexity: String,
    }
    /// A model with an adapter.
    ExportRow {
        name: String,
        /// What to name it by in a task.
        address: String,
        sha256: String,
        /// Its card.
        card_id: String,
        at: i64,
    }
    /// A recall.
    RecallRow {
        /// What was named, unless that was erased.
        source: Option<String>,
        /// Datasets that lost examples.
        datasets: Vec<String>,
        /// Runs whose adapters saw some.
        runs: Vec<String>,
        at: i64,
    }
    /// What a recall came to.
    Recalled {
        recall: RecallRow,
        /// What to know of the default model, where it learned from it.
        standard: Option<String>,
    }
    /// How training stands in the process that holds the store.
    RunStands {
        run: Option<LiveRun>,
        /// Runs that can be gone on with.
        resumable: Vec<String>,
        /// Other machines that ask whether this one learns together with them.
        invitations: Vec<InvitationRow>,
        /// Folders whose work is left out.
        private: Vec<String>,
        /// Why no run can be begun here, where that is so.
        trouble: Option<String>,
    }
    /// An invitation of another machine to learn together.
    InvitationRow {
        name: String,
        /// The machine, by name.
        from: String,
        /// Its key.
        node: String,
        base_sha256: String,
        rounds: u32,
        /// Steps of a round.
        steps: u32,
    }
    /// How a run stands that machines learn together.
    TogetherRow {
        name: String,
        /// The machine that leads; none where it is this one.
        lead: Option<String>,
        /// The other machines that are here, as far as this one knows.
        machines: Vec<String>,
        /// The round that is learned, from 0.
        round: u32,
        rounds: u32,
        /// Messages that were counted in the last round.
        counted: u32,
        /// Bytes that this machine sent to others.
        sent_bytes: u64,
        /// Bytes that plain averaging would have sent in the place of the messages among them.
        plain_bytes: u64,
    }
    /// The run in hand, or the last one.
    LiveRun {
        run_id: String,
        state: TrainingState,
        dataset_id: String,
        base: String,
        step: u32,
        steps: u32,
        /// Losses by step, thinned where there are many.
        losses: Vec<LossPoint>,
        /// Examples in a thousand seconds.
        examples_per_ks: u64,
        /// The most bytes of memory so far.
        memory: u64,
        /// On which devices and machines it was done so far, in words.
        ran_on: Vec<String>,
        /// The step of the newest checkpoint.
        checkpoint: Option<u32>,
        /// What it waits for, why it ended, or what came of it.
        words: Option<String>,
        /// How it stands with other machines, where it is learned together.
        together: Option<TogetherRow>,
        begun_at: i64,
    }
    /// The mean loss at one step.
    LossPoint {
        step: u32,
        /// In millionths.
        micros: u64,
    }
    /// Folders whose work is left out.
    PrivateFolders {
        folders: Vec<String>,
        /// Those of them that are not there: work where one was moved to is not left out.
        missing: Vec<String>,
        /// Datasets that are kept and hold work of the folder that was marked; a recall of the folder takes it out of them.
        learned: Vec<String>,
    }
}
