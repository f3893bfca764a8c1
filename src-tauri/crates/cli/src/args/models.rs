//! Verbs about models.

use clap::{Args, Subcommand};

/// `hermit models`.
#[derive(Debug, Subcommand)]
pub enum ModelsVerb {
    /// Lists the models in the box, looks for servers of models on this machine, and names those elsewhere that have a key.
    List {
        /// A further port of this machine to look at; may be given more than once.
        #[arg(long, value_name = "N")]
        port: Vec<u16>,
    },
    /// Says who proposes when a task names nobody.
    Use {
        /// The model's address, as `hermit models list` shows it; `none` for nobody.
        address: String,
    },
    /// Names the embedding model by which memory is found by meaning, besides by words: one at a server of this machine. Without
    /// an address: which one is named, and how many memories have a vector.
    Embeddings {
        /// The model's address, such as `openai:http://127.0.0.1:8080/v1#minilm` or `ollama:all-minilm`; `off` for none.
        address: Option<String>,
    },
    /// Sets what a model takes and how it is asked. What is not named stays as it is.
    Set(ModelsSet),
    /// Tells what models have cost, by day and by model, and what they may cost in a day.
    Costs {
        /// How many days, today among them.
        #[arg(long, value_name = "N", default_value_t = 7)]
        days: u32,
    },
    /// Sets what models may cost in a day, by the clock of this machine: a call that would go beyond it is not made, and its
    /// task pauses. Only models whose price is known are counted.
    Ceiling {
        /// US dollars, such as `5.00`; `none` for no bound.
        dollars: String,
    },
    /// Sets how many reads of one answer of a model run at the same time, from the next answer on. Without a number: how many do.
    Reads {
        /// From 1 to 64; `standard` for as many as without a setting.
        at_once: Option<String>,
    },
    /// Asks a server which models it offers, with the key for it, and says what is wrong.
    Test(ModelsTest),
    /// Keeps a key for a server of models: every call to a model there takes it.
    Add(ModelsAdd),
    /// Gets a model that runs on this machine by itself, without a server and without the network.
    Get(ModelsGet),
    /// Takes a model in the box away, or a server off the list. A server's key stays a secret: `hermit secret rm` forgets it.
    Rm {
        /// The name of a model in the box, a provider, or a base URL.
        url: String,
    },
}

/// `hermit models get`.
#[derive(Debug, Args)]
#[command(after_help = "\
The weights are kept in the store's folder by their digest, and count only when it is right. What broke off goes on where \
it stopped when the same command is given again. Use the model as `box:NAME`. Without a NAME: what can be had.

Examples:
  hermit models get qwen2.5-coder-1.5b
  hermit models get my-model --from my-model.gguf
  hermit models use box:my-model")]
pub struct ModelsGet {
    /// A name of the catalogue, or the name to give a file.
    pub name: Option<String>,
    /// A GGUF file, or an address of one in place of the catalogue's.
    #[arg(long, value_name = "FILE or URL")]
    pub from: Option<String>,
    /// The SHA-256 that the weights must have; the catalogue knows those that it names.
    #[arg(long, value_name = "DIGEST")]
    pub sha256: Option<String>,
}

/// `hermit models add`.
#[derive(Debug, Args)]
#[command(after_help = "\
The key is typed without being shown, or read from standard input. It is stored where your keys are, may go to this server \
alone, and is taken out of everything Hermit keeps or sends.

A provider alone names its own server: `openai`, `anthropic` or `gemini`.

Examples:
  hermit models add anthropic
  hermit models use anthropic:MODEL
  hermit models add https://models.example.com/v1 --secret example
  hermit models use openai:https://models.example.com/v1#large")]
pub struct ModelsAdd {
    /// A provider, or a base URL, which often ends in `/v1`.
    pub url: String,
    /// The name to keep the key under: a-z, 0-9, `_`, `-`, `.`. A provider's own when not given.
    #[arg(long, value_name = "NAME")]
    pub secret: Option<String>,
}

/// `hermit models test`.
#[derive(Debug, Args)]
#[command(after_help = "\
A server on this machine is asked at any port; one elsewhere only when a key was given for it with `hermit models add`.

Examples:
  hermit models test http://127.0.0.1:8080/v1
  hermit models test ollama:http://127.0.0.1:11434
  hermit models test anthropic")]
pub struct ModelsTest {
    /// A provider, a base URL, or a protocol with one: `PROTOCOL:URL`.
    pub server: String,
    /// The name of the key to send along; the one that was given for this server when not named.
    #[arg(long, value_name = "NAME")]
    pub secret: Option<String>,
}

/// `hermit models set`.
#[derive(Debug, Args)]
#[command(after_help = "\
Hermit asks a model's server how much it takes and what it costs, and knows some models by name; what is set here goes before that. \
`hermit models list` shows what holds.

Examples:
  hermit models set openai:http://127.0.0.1:8080/v1#qwen --context 16384 --output 4096
  hermit models set openai:http://127.0.0.1:8080/v1#qwen --temperature own --mode tools --tools all
  hermit models set openai:https://models.example.com/v1#large --price-in 2.50 --price-out 10")]
pub struct ModelsSet {
    /// The model's address, as `hermit models list` shows it.
    pub address: String,
    /// Tokens that prompt and answer may have together; 0 asks its server.
    #[arg(long, value_name = "TOKENS")]
    pub context: Option<u32>,
    /// Tokens of one answer; 0 leaves it to Hermit.
    #[arg(long, value_name = "TOKENS")]
    pub output: Option<u32>,
    /// From 0 to 2; `own` for the model's own.
    #[arg(long, value_name = "NUMBER")]
    pub temperature: Option<String>,
    /// How tools are offered: `tools` natively, `json_schema` as a grammar, `auto` as fits.
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,
    /// Which tools are offered: `all`, `few`, or `auto`: few to small models.
    #[arg(long, value_name = "WHICH")]
    pub tools: Option<String>,
    /// Whether it is shown pictures: those that come with words, that a tool answers with, and that it reads. They leave this
    /// machine where the model is elsewhere.
    #[arg(long, value_name = "yes|no", value_parser = clap::builder::BoolishValueParser::new())]
    pub sees: Option<bool>,
    /// US dollars for a million tokens read; empty leaves it to Hermit.
    #[arg(long, value_name = "DOLLARS")]
    pub price_in: Option<String>,
    /// US dollars for a million tokens written; empty leaves it to Hermit.
    #[arg(long, value_name = "DOLLARS")]
    pub price_out: Option<String>,
}
