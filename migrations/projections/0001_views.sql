-- Folded from events, disposable: drop, refold, and every byte is the same. Identifiers are text, digests of
-- sensitive leaves are the 32 bytes of their disclosure; their text stays where it can be erased, in `disclosures`.
-- `seq` is the place in the log of the event that made the row: the order of lists and what their cursors name.

CREATE TABLE view_meta (
  one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, log_seq INTEGER NOT NULL
) STRICT;

-- HK-13.6-2
CREATE TABLE view_tasks (
  task_id          TEXT    NOT NULL PRIMARY KEY,
  seq              INTEGER NOT NULL UNIQUE,
  conversation_id  TEXT    NOT NULL,
  title            BLOB    NOT NULL CHECK (length(title) = 32),
  goal             BLOB    NOT NULL CHECK (length(goal) = 32),
  status           TEXT    NOT NULL,
  run_status       TEXT    NOT NULL,
  reason           TEXT    NOT NULL,
  priority         TEXT    NOT NULL,
  owner            TEXT    NOT NULL,
  profile          TEXT    NOT NULL,
  channel          TEXT    NOT NULL,
  origin           TEXT    NOT NULL,
  contract_ref     TEXT    NOT NULL,
  ingress_id       TEXT    NOT NULL,
  parent_task_id   TEXT,
  anchor_task_id   TEXT,
  workspace_id     TEXT,
  labels           TEXT    NOT NULL,
  depends_on       TEXT    NOT NULL,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  deadline_at      INTEGER,
  ended_at         INTEGER,
  rolled_back      INTEGER NOT NULL CHECK (rolled_back IN (0, 1)),
  cancel_requested INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
  pause_requested  INTEGER NOT NULL CHECK (pause_requested IN (0, 1)),
  quiet            INTEGER NOT NULL CHECK (quiet IN (0, 1)),
  attempt_id       TEXT,
  attempt_status   TEXT,
  proposer         TEXT,
  termination      TEXT,
  attempts         INTEGER NOT NULL CHECK (attempts >= 0),
  iterations       INTEGER NOT NULL CHECK (iterations >= 0),
  open_approvals   INTEGER NOT NULL CHECK (open_approvals >= 0),
  open_questions   INTEGER NOT NULL CHECK (open_questions >= 0),
  unread_inputs    INTEGER NOT NULL CHECK (unread_inputs >= 0),
  unknown_effects  INTEGER NOT NULL CHECK (unknown_effects >= 0),
  receipts         INTEGER NOT NULL CHECK (receipts >= 0),
  tokens_reserved  INTEGER NOT NULL,
  tokens_used      INTEGER NOT NULL,
  cost_reserved    INTEGER NOT NULL,
  cost_used        INTEGER NOT NULL,
  wall_ms          INTEGER NOT NULL,
  CHECK ((ended_at IS NULL) = (status IN ('created', 'ready', 'running', 'blocked', 'paused')))
) STRICT, WITHOUT ROWID;
CREATE INDEX view_tasks_by_status ON view_tasks (status, seq);
CREATE INDEX view_tasks_by_conversation ON view_tasks (conversation_id, seq);

-- HK-13.6-3
CREATE TABLE view_steps (
  step_id       TEXT    NOT NULL PRIMARY KEY,
  seq           INTEGER NOT NULL UNIQUE,
  task_id       TEXT    NOT NULL,
  kind          TEXT    NOT NULL,
  title         BLOB    NOT NULL CHECK (length(title) = 32),
  contract_ref  TEXT    NOT NULL,
  status        TEXT    NOT NULL,
  reason        TEXT    NOT NULL,
  depends_on    TEXT    NOT NULL,
  max_attempts  INTEGER NOT NULL,
  attempts      INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX view_steps_by_task ON view_steps (task_id, seq);
CREATE INDEX view_steps_by_status ON view_steps (status, seq);

CREATE TABLE view_attempts (
  attempt_id         TEXT    NOT NULL PRIMARY KEY,
  seq                INTEGER NOT NULL UNIQUE,
  task_id            TEXT    NOT NULL,
  step_id            TEXT    NOT NULL,
  attempt_no         INTEGER NOT NULL,
  status             TEXT    NOT NULL,
  phase              TEXT    NOT NULL,
  reason             TEXT    NOT NULL,
  started_at         INTEGER NOT NULL,
  finished_at        INTEGER,
  lease_id           TEXT,
  lease_expires_at   INTEGER,
  context_pack_ref   TEXT,
  working_state_ref  TEXT,
  environment_ref    TEXT,
  resume_from        TEXT,
  policy_version     TEXT,
  checkpoint         INTEGER NOT NULL,
  iterations         INTEGER NOT NULL,
  termination        TEXT,
  summary            BLOB             CHECK (length(summary) = 32),
  answer_ref         TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX view_attempts_by_task ON view_attempts (task_id, seq);

CREATE TABLE view_iterations (
  attempt_id     TEXT    NOT NULL,
  iteration      INTEGER NOT NULL,
  seq            INTEGER NOT NULL UNIQUE,
  task_id        TEXT    NOT NULL,
  pack_ref       TEXT,
  pack_tokens    INTEGER,
  pack_items     INTEGER,
  pack_omissions INTEGER,
  request_ref    TEXT,
  provider       TEXT,
  model          TEXT,
  remote         INTEGER          CHECK (remote IN (0, 1)),
  response_ref   TEXT,
  answer_ref     TEXT,
  tokens_in      INTEGER,
  tokens_out     INTEGER,
  cost_micros    INTEGER,
  finish_reason  TEXT,
  failures       INTEGER NOT NULL,
  rejections     INTEGER NOT NULL,
  trouble        BLOB             CHECK (length(trouble) = 32),
  decision       BLOB             CHECK (length(decision) = 32),
  tool           TEXT,
  tool_input     TEXT,
  tool_output    TEXT,
  error          BLOB             CHECK (length(error) = 32),
  summary        BLOB             CHECK (length(summary) = 32),
  completed_at   INTEGER,
  PRIMARY KEY (attempt_id, iteration)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_iterations_by_task ON view_iterations (task_id, seq);

CREATE TABLE view_leases (
  lease_id      TEXT    NOT NULL PRIMARY KEY,
  seq           INTEGER NOT NULL UNIQUE,
  task_id       TEXT    NOT NULL,
  attempt_id    TEXT    NOT NULL,
  workspace_id  TEXT    NOT NULL,
  root_path     BLOB    NOT NULL CHECK (length(root_path) = 32),
  mode          TEXT    NOT NULL,
  holder        TEXT    NOT NULL,
  acquired_at   INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  ended_at      INTEGER,
  ended_by      TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX view_leases_by_task ON view_leases (task_id, seq);

CREATE TABLE view_actions (
  action_request_id  TEXT    NOT NULL PRIMARY KEY,
  seq                INTEGER NOT NULL UNIQUE,
  task_id            TEXT    NOT NULL,
  step_id            TEXT,
  attempt_id         TEXT,
  action_class       TEXT    NOT NULL,
  tool               TEXT    NOT NULL,
  summary            BLOB    NOT NULL CHECK (length(summary) = 32),
  request_ref        TEXT    NOT NULL,
  state              TEXT    NOT NULL,
  verdict            TEXT,
  risk_band          TEXT,
  policy_result_id   TEXT,
  policy_ref         TEXT,
  witness_id         TEXT,
  witness_state      TEXT,
  approval_id        TEXT,
  grant_id           TEXT,
  executor           TEXT,
  requested_at       INTEGER NOT NULL,
  dispatched_at      INTEGER,
  observed_at        INTEGER,
  result_ref         TEXT,
  result_code        TEXT,
  sandbox_level      TEXT,
  recovered          INTEGER NOT NULL CHECK (recovered IN (0, 1)),
  trouble            BLOB             CHECK (length(trouble) = 32),
  receipt_id         TEXT,
  instead_of         TEXT,
  instead_rules      TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX view_actions_by_task ON view_actions (task_id, seq);
CREATE INDEX view_actions_by_state ON view_actions (state, seq);

-- HK-13.6-4
CREATE TABLE view_approvals (
  approval_id        TEXT    NOT NULL PRIMARY KEY,
  seq                INTEGER NOT NULL UNIQUE,
  task_id            TEXT    NOT NULL,
  step_id            TEXT    NOT NULL,
  attempt_id         TEXT    NOT NULL,
  action_request_id  TEXT    NOT NULL,
  action_class       TEXT    NOT NULL,
  risk_band          TEXT    NOT NULL,
  summary            BLOB    NOT NULL CHECK (length(summary) = 32),
  status             TEXT    NOT NULL,
  packet_ref         TEXT    NOT NULL,
  packet_sha256      TEXT    NOT NULL,
  nonce              TEXT    NOT NULL,
  requested_at       INTEGER NOT NULL,
  expires_at         INTEGER NOT NULL,
  resolved_at        INTEGER,
  resolved_by        TEXT,
  surface            TEXT,
  scope              TEXT,
  envelope_ref       TEXT,
  feedback           BLOB             CHECK (length(feedback) = 32),
  reason             TEXT    NOT NULL,
  receipt_id         TEXT,
  CHECK ((resolved_at IS NULL) = (status = 'pending'))
) STRICT, WITHOUT ROWID;
CREATE INDEX view_approvals_by_status ON view_approvals (status, seq);
CREATE INDEX view_approvals_by_task ON view_approvals (task_id, seq);

-- HK-13.6-5
CREATE TABLE view_grants (
  grant_id           TEXT    NOT NULL PRIMARY KEY,
  seq                INTEGER NOT NULL UNIQUE,
  task_id            TEXT    NOT NULL,
  attempt_id         TEXT,
  action_request_id  TEXT    NOT NULL,
  action_class       TEXT    NOT NULL,
  issued_to          TEXT    NOT NULL,
  issued_at          INTEGER NOT NULL,
  expires_at         INTEGER NOT NULL,
  max_uses           INTEGER NOT NULL,
  uses               INTEGER NOT NULL CHECK (uses <= max_uses),
  state              TEXT    NOT NULL,
  approval_id        TEXT,
  decision_id        TEXT,
  grant_ref          TEXT    NOT NULL,
  reason             TEXT    NOT NULL,
  consumed_at        INTEGER, revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX view_grants_by_state ON view_grants (state, seq);
CREATE INDEX view_grants_by_task ON view_grants (task_id, seq);

-- HK-13.6-6
CREATE TABLE view_artifacts (
  artifact_id     TEXT    NOT NULL PRIMARY KEY,
  seq             INTEGER NOT NULL UNIQUE,
  task_id         TEXT    NOT NULL,
  class           TEXT    NOT NULL,
  kind            TEXT    NOT NULL,
  uri             BLOB    NOT NULL CHECK (length(uri) = 32),
  alias           BLOB             CHECK (length(alias) = 32),
  content_hash    TEXT    NOT NULL,
  media_type      TEXT    NOT NULL,
  byte_size       INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  producer        TEXT    NOT NULL,
  retention       TEXT    NOT NULL,
  trust_tier      TEXT    NOT NULL,
  sensitivity     TEXT    NOT NULL,
  produced_by     TEXT,
  inputs          TEXT    NOT NULL,
  state           TEXT    NOT NULL,
  uses            INTEGER NOT NULL,
  sealed_at       INTEGER,
  sealed_by       TEXT,
  memory_id       TEXT,
  compacted_into  TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX view_artifacts_by_task ON view_artifacts (task_id, seq);
CREATE INDEX view_artifacts_by_hash ON view_artifacts (content_hash, seq);

-- HK-13.6-7
CREATE TABLE view_working_states (
  holder       TEXT    NOT NULL PRIMARY KEY,
  seq          INTEGER NOT NULL UNIQUE,
  task_id      TEXT    NOT NULL,
  attempt_id   TEXT,
  artifact_id  TEXT    NOT NULL,
  sha256       TEXT    NOT NULL,
  byte_size    INTEGER NOT NULL,
  revision     INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX view_working_states_by_task ON view_working_states (task_id, seq);

-- HK-13.6-8
CREATE TABLE view_beliefs (
  belief_id      TEXT    NOT NULL PRIMARY KEY,
  seq            INTEGER NOT NULL UNIQUE,
  task_id        TEXT    NOT NULL,
  step_id        TEXT,
  attempt_id     TEXT,
  claim          BLOB    NOT NULL CHECK (length(claim) = 32),
  scope          BLOB    NOT NULL CHECK (length(scope) = 32),
  confidence     INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 1000),
  trust_tier     TEXT    NOT NULL,
  status         TEXT    NOT NULL,
  revision       INTEGER NOT NULL,
  evidence       TEXT    NOT NULL,
  asserted_by    TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  expires_at     INTEGER,
  supersedes     TEXT,
  superseded_by  TEXT,
  contradicts    TEXT    NOT NULL,
  reason         BLOB             CHECK (length(reason) = 32)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_beliefs_by_task ON view_beliefs (task_id, seq);

CREATE TABLE view_belief_revisions (
  belief_id   TEXT    NOT NULL,
  revision    INTEGER NOT NULL,
  seq         INTEGER NOT NULL UNIQUE,
  confidence  INTEGER NOT NULL,
  trust_tier  TEXT    NOT NULL,
  evidence    TEXT    NOT NULL,
  reason      BLOB             CHECK (length(reason) = 32),
  at          INTEGER NOT NULL,
  PRIMARY KEY (belief_id, revision)
) STRICT, WITHOUT ROWID;

-- HK-13.6-9
CREATE TABLE view_memories (
  memory_id      TEXT    NOT NULL PRIMARY KEY,
  seq            INTEGER NOT NULL UNIQUE,
  task_id        TEXT    NOT NULL,
  claim          BLOB    NOT NULL CHECK (length(claim) = 32),
  scope          BLOB    NOT NULL CHECK (length(scope) = 32),
  reason         BLOB    NOT NULL CHECK (length(reason) = 32),
  trust_tier     TEXT    NOT NULL,
  status         TEXT    NOT NULL,
  evidence       TEXT    NOT NULL,
  promoted_by    TEXT    NOT NULL,
  from_belief    TEXT,
  supersedes     TEXT,
  superseded_by  TEXT,
  created_at     INTEGER NOT NULL,
  ended_at       INTEGER,
  end_reason     BLOB             CHECK (length(end_reason) = 32),
  project_hash   TEXT,
  memory_type    TEXT,
  retention      TEXT,
  invalidation   TEXT,
  expires_at     INTEGER,
  uses           INTEGER NOT NULL,
  last_used_at   INTEGER, helped INTEGER NOT NULL, helped_in TEXT, contradicted INTEGER NOT NULL, contradicted_in TEXT,
  state_leaf     TEXT    NOT NULL,
  ended_seq      INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX view_memories_by_status ON view_memories (status, seq);
CREATE INDEX view_memories_by_expiry ON view_memories (expires_at) WHERE status = 'active' AND expires_at IS NOT NULL;
CREATE INDEX view_memories_by_belief ON view_memories (from_belief) WHERE from_belief IS NOT NULL;
CREATE INDEX view_memories_in_force ON view_memories (project_hash, seq) WHERE status = 'active' AND (retention = 'pinned' OR memory_type IN ('preference', 'correction'));

-- HK-13.6-10
CREATE TABLE view_decisions (
  decision_id      TEXT    NOT NULL PRIMARY KEY,
  seq              INTEGER NOT NULL UNIQUE,
  task_id          TEXT    NOT NULL,
  step_id          TEXT,
  attempt_id       TEXT,
  class            TEXT    NOT NULL,
  summary          BLOB    NOT NULL CHECK (length(summary) = 32),
  rationale        BLOB    NOT NULL CHECK (length(rationale) = 32),
  risk             TEXT    NOT NULL,
  decided_by       TEXT    NOT NULL,
  reversible       INTEGER NOT NULL CHECK (reversible IN (0, 1)),
  evidence         TEXT    NOT NULL,
  alternatives     TEXT    NOT NULL,
  override_ref     TEXT,
  effective_until  INTEGER,
  created_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX view_decisions_by_task ON view_decisions (task_id, seq);

-- HK-13.6-11
CREATE TABLE view_receipts (
  receipt_id         TEXT    NOT NULL PRIMARY KEY,
  seq                INTEGER NOT NULL UNIQUE,
  task_id            TEXT    NOT NULL,
  class              TEXT    NOT NULL,
  action_class       TEXT    NOT NULL,
  result_code        TEXT    NOT NULL,
  resolved_code      TEXT,
  action_request_id  TEXT,
  envelope_ref       TEXT    NOT NULL,
  statement_sha256   TEXT    NOT NULL,
  reversibility      TEXT    NOT NULL,
  rolls_back         TEXT,
  undone_by          TEXT,
  verifiability      TEXT    NOT NULL,
  summary            BLOB    NOT NULL CHECK (length(summary) = 32),
  issued_at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX view_receipts_by_task ON view_receipts (task_id, seq);
CREATE INDEX view_receipts_by_action ON view_receipts (action_request_id);

-- HK-13.6-13: the primary key and the one column are the rule of one focus at most (HK-13.6-16).
CREATE TABLE view_conversations (
  conversation_id  TEXT    NOT NULL PRIMARY KEY,
  seq              INTEGER NOT NULL UNIQUE,
  inbox_task_id    TEXT    NOT NULL UNIQUE,
  title            BLOB    NOT NULL CHECK (length(title) = 32),
  opened_at        INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  focus_task_id    TEXT,
  focus_reason     TEXT    NOT NULL,
  focus_at         INTEGER,
  last_focus       TEXT,
  open_tasks       INTEGER NOT NULL CHECK (open_tasks >= 0),
  workspace_id     TEXT, last_message INTEGER NOT NULL, edge BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX view_conversations_by_focus ON view_conversations (focus_task_id) WHERE focus_task_id IS NOT NULL;

-- HK-13.6-12
CREATE TABLE view_messages (
  seq              INTEGER NOT NULL PRIMARY KEY,
  conversation_id  TEXT    NOT NULL,
  task_id          TEXT,
  role             TEXT    NOT NULL,
  kind             TEXT    NOT NULL,
  ref_id           TEXT    NOT NULL,
  text             BLOB             CHECK (length(text) = 32),
  artifact_ref     TEXT,
  note             TEXT    NOT NULL,
  at               INTEGER NOT NULL
) STRICT;
CREATE INDEX view_messages_by_conversation ON view_messages (conversation_id, seq);
CREATE INDEX view_messages_by_ref ON view_messages (ref_id, seq);
CREATE INDEX view_messages_by_task ON view_messages (task_id, seq);

CREATE TABLE view_ingress (
  ingress_id       TEXT    NOT NULL PRIMARY KEY,
  seq              INTEGER NOT NULL UNIQUE,
  conversation_id  TEXT    NOT NULL,
  channel          TEXT    NOT NULL,
  text             BLOB    NOT NULL CHECK (length(text) = 32),
  status           TEXT    NOT NULL,
  resolution       TEXT    NOT NULL,
  actor            TEXT,
  chosen_task_id   TEXT,
  candidates       TEXT    NOT NULL,
  rationale        BLOB             CHECK (length(rationale) = 32),
  waits_for        TEXT,
  absorbed_at      INTEGER,
  boundary         TEXT,
  trust_tier       TEXT,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  prompt_ref          TEXT,
  reply_to_ref        TEXT,
  quoted_message_ref  TEXT,
  parent_task_id      TEXT,
  confidence          INTEGER, margin INTEGER,
  anchor_task_id      TEXT,
  enclosed            TEXT    NOT NULL,
  spoken              INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX view_ingress_by_conversation ON view_ingress (conversation_id, seq);
CREATE INDEX view_ingress_by_task ON view_ingress (waits_for, seq);

CREATE TABLE view_questions (
  clarification_id  TEXT    NOT NULL PRIMARY KEY,
  seq               INTEGER NOT NULL UNIQUE,
  task_id           TEXT    NOT NULL,
  attempt_id        TEXT    NOT NULL,
  question          BLOB    NOT NULL CHECK (length(question) = 32),
  choices           TEXT    NOT NULL,
  status            TEXT    NOT NULL,
  requested_at      INTEGER NOT NULL,
  expires_at        INTEGER NOT NULL,
  resolved_at       INTEGER,
  answered_by       TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX view_questions_by_task ON view_questions (task_id, seq);
CREATE INDEX view_questions_by_status ON view_questions (status, seq);

CREATE TABLE view_principals (
  principal_id  TEXT    NOT NULL PRIMARY KEY,
  seq           INTEGER NOT NULL UNIQUE,
  kind          TEXT    NOT NULL,
  name          BLOB    NOT NULL CHECK (length(name) = 32),
  labels        TEXT    NOT NULL,
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE view_workspaces (
  workspace_id  TEXT    NOT NULL PRIMARY KEY,
  seq           INTEGER NOT NULL UNIQUE,
  root_path     BLOB    NOT NULL CHECK (length(root_path) = 32),
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE view_gate (
  one      INTEGER PRIMARY KEY CHECK (one = 1),
  halted   INTEGER NOT NULL CHECK (halted IN (0, 1)),
  session  TEXT    NOT NULL,
  reason   BLOB             CHECK (length(reason) = 32),
  at       INTEGER NOT NULL
) STRICT;
