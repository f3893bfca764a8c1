//! Every limit of Hermit, with its reason beside the number.

/// How often, in milliseconds, it is written how far a chat service was read while nothing of it is received: a flood of strangers
/// writes no more.
pub const GATEWAY_READ_MS: i64 = 60_000;
/// Bytes of a path: Linux refuses longer ones.
pub const PATH_BYTES_MAX: usize = 4096;
/// Bytes of a goal kept inline; a longer one is refused with advice to put it into a file and ingest that.
pub const GOAL_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a message to a task: every context pack carries those that were heard.
pub const NOTE_BYTES_MAX: usize = 64 * 1024;
/// Files that come with one message: a row of them is still read.
pub const ENCLOSED_MAX: usize = 16;
/// Bytes of all files that come with one message.
pub const ENCLOSED_BYTES_MAX: u64 = ARTIFACT_BYTES_MAX;
/// Files and quotations that one task is given: each stands in every context, if only by its name.
pub const ENCLOSED_OF_TASK_MAX: usize = 64;
/// Bytes of a passage that is quoted: what is longer is pointed at by its identifier.
pub const QUOTE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a file that are looked at for a context: no model takes more.
pub const MATERIAL_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Bytes of all files and quotations that are looked at for one context; of the rest, name and size are told.
pub const GIVEN_BYTES_MAX: u64 = 2 * MATERIAL_BYTES_MAX;
/// Pictures that one request to a model shows: each costs as much as a page of text.
pub const PICTURES_MAX: usize = 8;
/// Bytes of one picture that a model is shown: Anthropic takes 5 MB of base64, others more.
pub const PICTURE_BYTES_MAX: u64 = 3 * 1024 * 1024;
/// Pixels of one picture that a model is shown: a photograph of a camera has 12 to 24 millions. Its bytes alone do not bound
/// them, and whoever decodes it pays for them.
pub const PICTURE_PIXELS_MAX: u64 = 40_000_000;
/// Pixels of each side of one: Anthropic takes 8000.
pub const PICTURE_SIDE_MAX: u32 = 8_000;
/// Pictures that a context pack names as left out; further ones are counted.
pub const PICTURES_LEFT_OUT_NAMED: usize = 12;
/// Contents of their own that are kept of one answer of a tool of a server; of the others the digest is.
pub const ANSWER_CONTENTS_MAX: usize = 16;
/// Bytes of all pictures of one request.
pub const PICTURES_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Tokens that a picture is counted as: what Anthropic takes at most for one, and OpenAI and Gemini for a large one.
pub const PICTURE_TOKENS: u32 = 1_600;
/// Bytes of one canonical event: bodies point at artifacts for anything larger.
pub const EVENT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of an artifact committed inside the ledger's transaction; larger ones are synced files (recovery.md 4).
pub const INLINE_ARTIFACT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of any artifact: memory is bounded, larger content is refused by name.
pub const ARTIFACT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes up to which content is one file; larger content is cut into chunks that other content may share. Below, a
/// file of its own costs one sync, and there is little to share.
pub const WHOLE_ARTIFACT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a chunk at least, but for the last of its content: a list of chunks stays short.
pub const CHUNK_BYTES_MIN: usize = 128 * 1024;
/// Bytes of a chunk on average. Every chunk is a file with a sync of its own: at 64 KiB the syncs took most of the time
/// of keeping 64 MiB, at 2 MiB a changed byte cost four times as much room (tests/bench/README.md).
pub const CHUNK_BYTES_AVERAGE: usize = 512 * 1024;
/// Bytes of a chunk at most: what a reader holds in memory.
pub const CHUNK_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Chunks synced at the same time: the disk then writes its own journal once for all of them.
pub const CHUNKS_SYNCED_AT_ONCE: usize = 16;
/// How long content that was kept and is not named yet is left alone by a collection, in milliseconds. An act names what
/// it kept when it ends, and none runs for a day.
pub const CONTENT_LEASE_MS: i64 = 24 * 3600 * 1000;
/// Items of one change set: the rows of one card, which is grouped and drawn by window, and one transaction.
pub const CHANGE_ITEMS_MAX: usize = 100_000;
/// Reads of one read request (HK-20, reconciliation C17).
pub const PARALLEL_READS_MAX: usize = 10;
/// Reads of one answer that run at the same time, unless `parallel_reads` in `config.json` says otherwise (HV-3.2-2).
pub const PARALLEL_READS: usize = 10;
/// Reads that may be set to run at the same time: each has a thread, and a server of tools or a connection of its own.
pub const PARALLEL_READS_MOST: usize = 64;
/// Entries that one `list` returns: beyond it the listing says it is cut and how to narrow it.
pub const LIST_ENTRIES_MAX: usize = 100_000;
/// Iterations of one attempt, enforced in code (RX-6-1).
pub const ITERATIONS_MAX: u32 = 64;
/// Malformed answers in a row that are re-prompted before the attempt fails (RX-8-3).
pub const MALFORMED_MAX: u32 = 3;
/// Tool failures in a row before the attempt fails (RX-9-4).
pub const TOOL_FAILURES_MAX: u32 = 3;
/// Iterations in a row with nothing new before the attempt fails (RX-5-4).
pub const NO_PROGRESS_MAX: u32 = 3;
/// Attempts of one step unless its contract says otherwise.
pub const ATTEMPTS_MAX: u32 = 3;
/// Steps that one task may be given: a list that a person still reads whole.
pub const STEPS_MAX: usize = 32;
/// Child tasks that the agent of one task may begin in all.
pub const CHILD_TASKS_MAX: usize = 8;
/// How far a child task may stand below the task that a person began.
pub const CHILD_DEPTH_MAX: usize = 2;
/// Tokens of the smallest budget that a child task is begun with.
pub const CHILD_TOKENS_MIN: u64 = 2_000;
/// Bytes of one working state, canonical (HK-15.2-1).
pub const WORKING_STATE_BYTES_MAX: usize = 32 * 1024;
/// Items of one list inside a working state.
pub const WORKING_STATE_ITEMS_MAX: usize = 64;
/// Bytes of one item of a working state: an item is a line, not a document.
pub const WORKING_STATE_ITEM_BYTES_MAX: usize = 2 * 1024;
/// Bytes of one claim, belief or memory: what is longer is an artifact with a claim about it.
pub const CLAIM_BYTES_MAX: usize = 4 * 1024;
/// Evidence references of one claim or decision: an event must stay small.
pub const EVIDENCE_REFS_MAX: usize = 64;
/// Tasks offered when nobody can tell what a message is about: a person reads them all.
pub const CANDIDATES_MAX: usize = 8;
/// Artifacts of an ended task that its follow-up carries: a context pack names them all.
pub const ANCHOR_ARTIFACTS_MAX: usize = 64;
/// Rows of one page of any list: a screen shows fewer, and a caller pages on.
pub const PAGE_ROWS_MAX: u32 = 500;
/// Tokens of a context pack unless the model says otherwise: small local models see 4,096.
pub const CONTEXT_TOKENS_DEFAULT: u32 = 3_000;
/// Turns of a task that a service or the scheduler began: some look, one proposes; what needs more is for a person to begin.
pub const BACKGROUND_ITERATIONS_MAX: u32 = 8;
/// Tokens of such a task: its turns at the usual pack of 3,000 tokens, answers and one larger pack included.
pub const BACKGROUND_TOKENS_MAX: u64 = 60_000;
/// Time at work of such a task: longer, and it holds folder and model when a person comes back.
pub const BACKGROUND_MS_MAX: i64 = 10 * 60 * 1000;
/// How long an approval waits before it expires: a week, so that a weekend never decides.
pub const APPROVAL_MS_MAX: i64 = 7 * 24 * 3600 * 1000;
/// How long a witness holds before it is observed again: it is always observed again before execution.
pub const WITNESS_MS_MAX: i64 = 7 * 24 * 3600 * 1000;
/// How long a grant lives: dispatch follows in the same commit or the next.
pub const GRANT_MS_MAX: i64 = 5 * 60 * 1000;
/// How long a lease lives without renewal.
pub const LEASE_MS_MAX: i64 = 15 * 60 * 1000;
/// How long a command may run unless the request says less.
pub const COMMAND_MS_MAX: u64 = 10 * 60 * 1000;
/// Bytes kept of a command's output, each stream.
pub const COMMAND_OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long one request to a server may take.
pub const FETCH_MS_MAX: u64 = 2 * 60 * 1000;
/// Bytes of an address: servers refuse longer ones.
pub const FETCH_URL_BYTES_MAX: usize = 8 * 1024;
/// Bytes of what one request sends: it stands on the card, where a person reads it whole.
pub const FETCH_BODY_BYTES_MAX: usize = 64 * 1024;
/// Headers that a request names.
pub const FETCH_HEADERS_MAX: usize = 32;
/// Bytes of one header's value.
pub const FETCH_VALUE_BYTES_MAX: usize = 4 * 1024;
/// Bytes kept of a server's answer; what goes beyond is not read.
pub const FETCH_REPLY_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Files that one commit names: a person reads them all.
pub const COMMIT_FILES_MAX: usize = 500;
/// Bytes of a commit's message.
pub const COMMIT_MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// How long one model call may take.
pub const MODEL_CALL_MS_MAX: u64 = 10 * 60 * 1000;
/// Bytes of a model's answer.
pub const MODEL_ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a model's reasoning that are kept beside its answer; the rest is dropped, and no answer is lost by it.
pub const MODEL_REASONING_BYTES_MAX: usize = 256 * 1024;
/// How long a server is waited for in one call that says when it may be asked again; a task that waits longer pauses.
pub const MODEL_WAIT_MS_MAX: u64 = 2 * 60 * 1000;
/// How often in one call.
pub const MODEL_WAITS_MAX: u32 = 5;
/// Events between two task checkpoints (proof.md 2).
pub const CHECKPOINT_EVENTS: u64 = 1_000;
/// Bytes of a playbook file.
pub const PLAYBOOK_BYTES_MAX: usize = 256 * 1024;
/// Open approvals of one task: duplicates are bounded (governance.md 2).
pub const OPEN_APPROVALS_MAX: usize = 16;
/// How long a standing grant lives at most: a quarter, so that nobody lives with a yes they have forgotten.
pub const STANDING_MS_MAX: i64 = 92 * 24 * 3600 * 1000;
/// Uses of a standing grant at most.
pub const STANDING_USES_MAX: u32 = 10_000;
/// How long an override of policy holds at most, and how often: long enough to try again, too short to live with.
pub const OVERRIDE_MS_MAX: i64 = 24 * 3600 * 1000;
/// Uses of an override at most.
pub const OVERRIDE_USES_MAX: u32 = 3;
/// Words, globs and acts that one standing grant names at most: it stays readable on a card.
pub const STANDING_PARTS_MAX: usize = 64;
/// How long the approval key may stay open for low and moderate risk (proof.md 3).
pub const APPROVAL_KEY_OPEN_MS_MAX: i64 = 15 * 60 * 1000;
/// Attempts at a busy database before an error, in milliseconds.
pub const DATABASE_BUSY_MS_MAX: u64 = 5_000;
/// Ledger submissions joined in one commit.
pub const GROUP_COMMIT_MAX: usize = 256;
/// Calls of one model answer: more than a person could follow is refused.
pub const CALLS_MAX: usize = 64;
/// Largest integer JSON holds exactly, 2^53−1: what canonical form allows (proof.md 1).
pub const JSON_INTEGER_MAX: i64 = (1 << 53) - 1;
/// Bytes of a plain field of a gate request: identifiers and codes are short.
pub const GATE_FIELD_BYTES_MAX: usize = 128;
/// Bytes of a gate request's evidence: some hundred identifiers.
pub const GATE_EVIDENCE_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a gate request's parameters, canonical: they name artifacts for anything larger.
pub const GATE_PARAMS_BYTES_MAX: usize = 256 * 1024;
/// How far a request may lie behind an earlier one: clocks are slewed by seconds, not by minutes.
pub const GATE_CLOCK_BACK_MS_MAX: i64 = 5 * 60 * 1000;
/// How long content stays after its task has ended although nothing leads to it: so long it can be looked at what was
/// sent to a model and what came back.
pub const COLLECT_AFTER_MS: i64 = 30 * 24 * 3600 * 1000;
/// The shortest such time that may be asked for while the store is in use, also by a program: what a person saw today is
/// there tomorrow. Who holds the store alone may ask for less.
pub const COLLECT_AFTER_MS_MIN: i64 = 24 * 3600 * 1000;
/// Bytes of content in files from which on a person is told to make room, unless the settings say otherwise.
pub const CONTENT_BYTES_QUOTA: u64 = 10 * 1024 * 1024 * 1024;
/// Bytes of what an act prints that are told while it is under way; its result holds all that is kept.
pub const OUTPUT_TOLD_BYTES_MAX: usize = 256 * 1024;
/// How often an act that is under way reports by itself, at most: often enough for whoever waits, and few
/// enough for the log.
pub const PROGRESS_MS_MIN: u64 = 30 * 1000;
/// Such reports of one act: an hour of them; a longer act is followed by its checkpoints.
pub const PROGRESS_REPORTS_MAX: u32 = 120;
/// Checkpoints of one act: each is an artifact that is kept, and an executor may be a stranger's.
pub const CHECKPOINTS_MAX: u32 = 120;
/// Bytes of one checkpoint.
pub const CHECKPOINT_BYTES_MAX: usize = 1024 * 1024;
/// Characters of what an act says of itself.
pub const PROGRESS_NOTE_CHARS_MAX: usize = 300;
/// Servers of tools that are registered at once: a person reads the words of each.
pub const TOOL_SERVERS_MAX: usize = 64;
/// Letters of the name of a server: with the name of a tool it has to fit into the 64 that providers of models take.
pub const SERVER_NAME_MAX: usize = 24;
/// Tools of one server: the largest that are known offer some 130.
pub const SERVER_TOOLS_MAX: usize = 256;
/// Resources, and as many templates of their addresses, of one server.
pub const SERVER_RESOURCES_MAX: usize = 256;
/// Letters of the address of a resource.
pub const RESOURCE_URI_MAX: usize = 2_048;
/// Prompts of one server.
pub const SERVER_PROMPTS_MAX: usize = 64;
/// Letters of the name of a tool, as the protocol bounds them.
pub const TOOL_NAME_MAX: usize = 128;
/// Bytes of all that one server says of its tools, canonical: a person is shown it on one card.
pub const MANIFEST_BYTES_MAX: usize = 512 * 1024;
/// Variables that are set for one server.
pub const LAUNCH_VARIABLES_MAX: usize = 32;
/// Bytes of the value of each.
pub const LAUNCH_VALUE_BYTES_MAX: usize = 1_024;
/// Examples of calls that are given with what a tool may do.
pub const TERMS_EXAMPLES_MAX: usize = 8;
/// Bytes of each.
pub const TERMS_EXAMPLE_BYTES_MAX: usize = 2_048;
/// Bytes of one schema of a tool, as JSON.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Levels of one schema of a tool.
pub const SCHEMA_DEPTH_MAX: usize = 64;
/// Arguments of one tool that are named as places or hosts.
pub const TOOL_POINTERS_MAX: usize = 16;
/// How long one turn of a guest may take: agents work for many minutes, and a person can end one at any time.
pub const GUEST_MS_MAX: u64 = 60 * 60 * 1000;
/// Bytes that a guest may leave behind in its view and its HOME at once.
pub const GUEST_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Bytes of all words, hosts and folders with which a server of tools or a guest is started: a card shows them.
pub const LAUNCH_BYTES_MAX: usize = 32 * 1024;
/// Bytes of the arguments of one call: what is larger is a file.
pub const CALL_ARGUMENTS_BYTES_MAX: usize = 256 * 1024;
/// Bytes that one server may send while it is started or asked once: its answer is kept whole.
pub const CALL_REPLY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a server may take to start and to tell what it offers.
pub const SERVER_START_MS: u64 = 30 * 1000;
/// How long one call may take, unless a person said otherwise of its tool.
pub const TOOL_CALL_MS: u64 = 120 * 1000;
/// The longest that a person can say.
pub const TOOL_CALL_MS_MAX: u64 = 60 * 60 * 1000;
/// Questions that a server may put to the person during one call of a tool.
pub const SERVER_QUESTIONS_MAX: usize = 4;
/// Fields of one such question.
pub const QUESTION_FIELDS_MAX: usize = 8;
/// How long a server waits for the answer to each, in milliseconds.
pub const SERVER_QUESTION_MS: i64 = 10 * 60 * 1000;
/// The most questions to a model that a person can allow a server during one call of a tool.
pub const SAMPLING_CALLS_MAX: u32 = 32;
/// The most tokens of one of them, question and answer together.
pub const SAMPLING_TOKENS_MAX: u64 = 64_000;
/// The most tokens of all of them in one task.
pub const SAMPLING_TASK_TOKENS_MAX: u64 = 1_000_000;
/// Questions to a model that a server may go on asking in one call after it was refused; then the call is ended.
pub const SAMPLING_REFUSED_MAX: u32 = 8;
/// Bytes of all words of one question.
pub const SAMPLING_BYTES_MAX: usize = 256 * 1024;
/// Messages of one question.
pub const SAMPLING_MESSAGES_MAX: usize = 64;
/// Scopes that one log-in at a server of tools asks for.
pub const LOGIN_SCOPES_MAX: usize = 64;
/// Bytes of one scope.
pub const LOGIN_SCOPE_BYTES_MAX: usize = 256;
/// Bytes of a name in a log-in: of who gives tokens, of a client.
pub const LOGIN_TEXT_BYTES_MAX: usize = 2_048;
/// How long a server that nobody calls is kept for the attempt that started it.
pub const SERVER_IDLE_MS: u64 = 10 * 60 * 1000;
/// Servers of one host that are kept between calls.
pub const SERVER_SESSIONS_MAX: usize = 16;
/// Seconds of processor time that one process of a server may use, for each core.
pub const SERVER_CPU_S: u64 = 60 * 60;
/// Tools of servers that a model is offered at once: more would leave it no room to think.
pub const OFFERED_TOOLS_MAX: usize = 64;
/// Bytes of their names, words and schemas together.
pub const OFFERED_BYTES_MAX: usize = 48 * 1024;
/// The share of a context that they may take: one of so many parts.
pub const OFFERED_SHARE: u32 = 4;
/// Tools that one search of a model finds.
pub const FOUND_TOOLS_MAX: usize = 8;
/// Tools that a model has found in one attempt and that are offered to it still; the oldest give way.
pub const FOUND_TOOLS_KEPT: usize = 32;
/// Letters of what a server says of one tool that a model is given.
pub const OFFERED_WORDS_MAX: usize = 1_500;
/// Skills of one place that are looked at.
pub const SKILLS_MAX: usize = 200;
/// Bytes of a `SKILL.md`, and of any text of a skill that a model reads.
pub const SKILL_TEXT_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of what stands before its text, between two lines of `---`.
pub const SKILL_FRONT_BYTES_MAX: usize = 16 * 1024;
/// Letters of what a skill says it is for.
pub const SKILL_WORDS_MAX: usize = 1_024;
/// Letters of its name.
pub const SKILL_NAME_MAX: usize = 64;
/// Files of one skill, folders counted as well.
pub const SKILL_FILES_MAX: usize = 256;
/// Bytes of all of them.
pub const SKILL_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// How deep folders lie in it.
pub const SKILL_DEPTH_MAX: usize = 8;
/// Skills that a model is told of at once.
pub const SKILLS_TOLD_MAX: usize = 32;
/// The share of a context that these lines may take: one of so many parts.
pub const SKILLS_TOLD_SHARE: u32 = 16;
/// Texts of skills that stand in a context at once; the oldest give way.
pub const SKILL_TEXTS_KEPT: usize = 8;
/// Texts of skills that receipts of an attempt name; the oldest give way.
pub const SKILL_TEXTS_NAMED: usize = 256;
/// Bytes of the file of a skin: a person reads every word of it on its card.
pub const SKIN_BYTES_MAX: usize = 64 * 1024;
/// Bytes of one text of a skin: it stands in every context of its conversation.
pub const SKIN_TEXT_BYTES_MAX: usize = 8 * 1024;
/// Letters of the line in which a skin says what it is like.
pub const SKIN_ABOUT_MAX: usize = 160;
/// Letters of the mark of a skin.
pub const SKIN_MARK_MAX: usize = 4;
/// Tools that a skin names.
pub const SKIN_TOOLS_MAX: usize = 128;
/// Criteria that a person sets for the end of a task.
pub const CRITERIA_MAX: usize = 16;
/// Bytes of one criterion.
pub const CRITERION_BYTES_MAX: usize = 500;
/// Bytes of a change of Hermit that a task can have tried: a card shows all of it.
pub const TRIAL_PATCH_BYTES_MAX: usize = 96 * 1024;
/// Characters of the line that says what such a change is to do.
pub const TRIAL_ABOUT_CHARS_MAX: usize = 500;
/// Finished tasks that are played for it: whoever proposed it waits.
pub const TRIAL_TASKS_MAX: u32 = 20;
/// The longest that a clone of it may take, in seconds.
pub const TRIAL_SECONDS_MAX: u64 = 60 * 60;
