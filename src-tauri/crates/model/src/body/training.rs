//! The events of training, which stand behind the others in the registry (successor.md 6). All of them are in the store's own stream.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_training {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// Examples of finished work are kept as a dataset, as a person was shown them, or as a recall has left them: then `replaces`
        /// is the one before. `sources`: where each example came from, without a word of it. `receipts_root`: of the Merkle tree over
        /// the receipts of what is learned from.
        TrainingCurated ("training.curated", 1, Training, |b| b.dataset.artifact_id) {
            dataset: ArtifactRef, sources: ArtifactRef, examples: u32, held_out: u32, left_out: u32, receipts_root: Digest,
            replaces: Option<ArtifactId>, at: UnixMs,
        }
        /// An adapter was trained and measured; only one that is `offered` is exported.
        TrainingFinished ("training.finished", 1, Training, |b| b.run_id) {
            run_id: String, dataset: ArtifactRef, base_sha256: Digest, adapter: ArtifactRef, measures: ArtifactRef, offered: bool,
            at: UnixMs,
        }
        /// A model with an adapter is among the models in the box, under this name; its card is the artifact.
        TrainingExported ("training.exported", 1, Training, |b| b.run_id) {
            run_id: String, name: String, model_sha256: Digest, card: ArtifactRef, at: UnixMs,
        }
        /// Nothing more is learned from a source: these tasks, receipts and requests to models. `datasets` lost examples, and the
        /// adapters of `runs` saw some.
        TrainingRecalled ("training.recalled", 1, Training, |b| b.number) {
            number: u64, source: Text, tasks: Vec<TaskId>, receipts: Vec<ReceiptId>, requests: Vec<ArtifactId>,
            datasets: Vec<ArtifactId>, runs: Vec<String>, at: UnixMs,
        }
    } };
}
