-- HV-3.6-1
CREATE TABLE view_state_roots (
  number      INTEGER NOT NULL,
  subject     TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  size        INTEGER NOT NULL,
  root        TEXT    NOT NULL,
  through     INTEGER NOT NULL,
  state_root  TEXT    NOT NULL,
  task_seq    INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  list        TEXT    NOT NULL,
  PRIMARY KEY (number, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_state_roots_by_subject ON view_state_roots (subject, number);
CREATE INDEX view_state_roots_by_list ON view_state_roots (list);
CREATE INDEX view_conversations_by_message ON view_conversations (last_message);
CREATE INDEX view_memories_by_end ON view_memories (ended_seq) WHERE ended_seq IS NOT NULL;
CREATE INDEX view_memories_by_project ON view_memories (project_hash, seq);
