//! Models: those that run on this machine, and the servers elsewhere that a person gave a key for.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use words::store::BoxState;
use words::task::{ToolMode, ToolOffer};

params! {
    /// Looks where servers of models usually listen on this machine, and nowhere else.
    Find {
        /// Further ports of this machine.
        #[serde(default)]
        ports: Vec<u16>,
    }

    /// What is set for one model: what is absent stays as it is.
    Set {
        /// Its address.
        address: String,
        /// Tokens that prompt and answer may have together; 0 asks its server again.
        #[serde(default)]
        context: Option<u32>,
        /// Tokens of one answer; 0 leaves it to Hermit.
        #[serde(default)]
        output: Option<u32>,
        /// `own` for the model's own, or from 0 to 2; empty leaves it to Hermit.
        #[serde(default)]
        temperature: Option<String>,
        /// `auto`, `tools` or `json_schema`.
        #[serde(default)]
        mode: Option<String>,
        /// `all`, `few`, or `auto`.
        #[serde(default)]
        tools: Option<String>,
        /// Whether it is shown pictures.
        #[serde(default)]
        sees: Option<bool>,
        /// US dollars for a million tokens read; empty leaves it to Hermit.
        #[serde(default)]
        price_in: Option<String>,
        /// US dollars for a million tokens written; empty leaves it to Hermit.
        #[serde(default)]
        price_out: Option<String>,
    }

    /// Asks a server which models it offers: one of this machine, or one elsewhere that a key was given for.
    Test {
        /// Its base URL, such as `http://127.0.0.1:8080/v1`.
        url: String,
        /// Protocol that it speaks: `openai`, which is meant when absent, `responses`, `anthropic`, `gemini` or `ollama`.
        #[serde(default)]
        api: Option<String>,
        /// Handle of the key to send along; the one that was given for this server when absent.
        #[serde(default)]
        secret: Option<String>,
    }

    /// What models have cost, by day and by model.
    Costs {
        /// How many days, today among them: 7 when absent, 366 at most.
        #[serde(default)]
        days: Option<u32>,
    }

    /// Sets what models may cost in a day. A call that would go beyond it is not made.
    Ceiling {
        /// US dollars, such as `5.00`; no bound when absent.
        dollars: Option<String>,
    }

    /// How many reads of one answer of a model run at the same time.
    Reads {}

    /// Sets how many reads of one answer of a model run at the same time, from the next answer on.
    SetReads {
        /// From 1 to 64; as many as without a setting when absent.
        #[serde(default)]
        at_once: Option<u32>,
    }

    /// Models in the box: those whose weights are here, and those that can be had by name.
    InBox {}

    /// Begins to fetch the weights of a model in the box, or goes on where it stopped.
    Get {
        /// Its name, of those that can be had.
        name: String,
    }

    /// Stops a fetch; what has come stays, for when it goes on.
    StopGet {
        /// The model's name.
        name: String,
    }

    /// Takes away the weights of a model in the box, with what has come of them.
    Remove {
        /// The model's name.
        name: String,
    }

    /// Which embedding model is named, and how far its vectors are made.
    Embedded {}

    /// Names the embedding model by which memory is found by meaning: one at a server of this machine.
    Embed {
        /// Such as `openai:http://127.0.0.1:8080/v1#minilm`; none when absent.
        address: Option<String>,
    }

    /// Who proposes when a task names nobody.
    Standard {
        /// Such as `openai:http://127.0.0.1:8080/v1#qwen`; nobody when absent.
        address: Option<String>,
    }
}

answers! {
    /// What was found, and what is set up.
    Found {
        servers: Vec<Server>,
        /// Ports that were looked at.
        looked: Vec<u16>,
        /// Who proposes when a task names nobody.
        standard: Option<String>,
        providers: Vec<Provider>,
        /// Models that something is set for, and the standard.
        set: Vec<Asked>,
        /// Addresses that were named in the newest tasks of a person or of a page and stand nowhere above, the newest first.
        #[serde(default)]
        used: Vec<String>,
    }
    /// A server of models.
    Server {
        /// `Ollama` and others, as far as it can be told.
        name: String,
        /// Its base URL.
        url: String,
        models: Vec<Model>,
        /// Why it lists no model.
        trouble: Option<String>,
    }
    /// A model of a server.
    Model {
        /// Its name there.
        id: String,
        /// What to name it by in a task.
        address: String,
        /// How it is asked.
        asked: Option<Asked>,
    }
    /// How a model is asked.
    Asked {
        /// What it is named by in a task.
        address: String,
        /// Tokens that prompt and answer may have together.
        context: u32,
        /// Tokens of one answer.
        output: u32,
        /// Where the sizes are known from, in words.
        from: String,
        /// `own`, or a number.
        temperature: String,
        mode: ToolMode,
        tools: ToolOffer,
        /// What it costs, where that is known.
        price: Option<Price>,
        /// Parameters that its server refuses.
        without: Vec<String>,
        /// Whether it is shown pictures.
        sees: bool,
    }
    /// What a model costs, in US dollars for a million tokens.
    Price {
        input: String,
        output: String,
        /// Where it is known from, in words.
        from: String,
    }
    /// A server that has a key.
    Provider {
        /// Its base URL.
        url: String,
        /// Handle of the key; its value is kept in the vault.
        secret: String,
        /// Whether there is such a secret.
        kept: bool,
    }
    /// What models have cost.
    CostsBy {
        /// Today, such as `2026-11-27`.
        today: String,
        /// When today ends, in milliseconds since 1970.
        ends_at: i64,
        /// What models may cost in a day, in millionths of a US dollar; no bound when absent.
        ceiling_micros: Option<u64>,
        /// What was spent today, in millionths of a US dollar.
        spent_micros: u64,
        /// What is set aside for calls that are under way.
        aside_micros: u64,
        /// Each day, the newest first.
        days: Vec<DayCosts>,
        /// All these days together, by model, the dearest first.
        models: Vec<ModelCosts>,
    }
    /// What models have cost in one day.
    DayCosts {
        /// Such as `2026-11-27`.
        day: String,
        tokens: u64,
        cost_micros: u64,
        models: Vec<ModelCosts>,
    }
    /// What one model has used.
    ModelCosts {
        /// The protocol that it speaks.
        provider: String,
        model: String,
        tokens: u64,
        cost_micros: u64,
    }
    /// How many reads of one answer run at the same time.
    ReadsAtOnce {
        at_once: u32,
        /// Whether a person set it.
        is_set: bool,
        /// As many as run without a setting.
        standard: u32,
        /// As many as can be set.
        most: u32,
    }
    /// What models may cost in a day from now on, in millionths of a US dollar.
    CeilingSet { ceiling_micros: Option<u64> }
    /// How memory is found by meaning.
    Embeddings {
        /// The embedding model that is named; memory is found by words alone when absent.
        model: Option<String>,
        /// Records of memory that are held.
        memories: u64,
        /// How many of them have a vector of this model.
        with_vectors: u64,
        /// Why the model could not be used when it was last asked; memory is found by words meanwhile.
        trouble: Option<String>,
    }
    /// Models in the box, by name.
    BoxModels {
        models: Vec<BoxModel>,
        /// Why none of them can be asked here, where that is so: the program that runs them is missing.
        trouble: Option<String>,
    }
    /// A model in the box.
    BoxModel {
        name: String,
        /// Its address, such as `box:qwen2.5-coder-1.5b`.
        address: String,
        /// Bytes of its weights.
        bytes: u64,
        /// SHA-256 of them.
        sha256: String,
        license: Option<String>,
        /// What it is good for.
        about: Option<String>,
        state: BoxState,
        /// Bytes that are here.
        bytes_here: u64,
        /// Why the last fetch ended before its end, and what helps.
        trouble: Option<String>,
    }
    /// Who proposes from now on.
    Chosen { standard: Option<String> }
}
