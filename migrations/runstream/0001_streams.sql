-- The run stream. Never truth: whatever is here follows from the ledger, but for the deltas, and may be lost.
-- Rows are added, never changed. Two things may be deleted: the deltas of a run that has ended (reconciliation C31),
-- and a whole run that is about to be written again from the ledger (its row says `forgetting`).

CREATE TABLE journal (
  one         INTEGER PRIMARY KEY CHECK (one = 1),
  journal_id  BLOB    NOT NULL CHECK (length(journal_id) = 16),
  clean       INTEGER NOT NULL CHECK (clean IN (0, 1))
) STRICT;

CREATE TABLE runs (
  run_id       BLOB    PRIMARY KEY CHECK (length(run_id) = 16),
  session_id   TEXT    NOT NULL,
  generation   INTEGER NOT NULL CHECK (generation >= 1),
  first_seq    INTEGER NOT NULL CHECK (first_seq >= 1),
  next_seq     INTEGER NOT NULL CHECK (next_seq >= first_seq),
  mirrored     INTEGER NOT NULL CHECK (mirrored >= 0),
  ended_seq    INTEGER          CHECK (ended_seq < next_seq),
  compacted    INTEGER NOT NULL DEFAULT 0 CHECK (compacted IN (0, 1)),
  forgetting   INTEGER NOT NULL DEFAULT 0 CHECK (forgetting IN (0, 1)),
  CHECK (compacted = 0 OR ended_seq IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_session ON runs (session_id);
CREATE INDEX runs_to_compact ON runs (run_id) WHERE ended_seq IS NOT NULL AND compacted = 0;

CREATE TABLE events (
  run_id      BLOB    NOT NULL REFERENCES runs (run_id),
  seq         INTEGER NOT NULL CHECK (seq >= 1),
  family      TEXT    NOT NULL CHECK (family <> ''),
  created_at  INTEGER NOT NULL,
  terminal    INTEGER NOT NULL CHECK (terminal IN (0, 1)),
  payload     TEXT    NOT NULL CHECK (json_type(payload) = 'object'),
  PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_one_end ON events (run_id) WHERE terminal = 1;

CREATE TRIGGER events_in_order BEFORE INSERT ON events
WHEN NEW.seq IS NOT (SELECT next_seq FROM runs WHERE run_id = NEW.run_id)
BEGIN SELECT RAISE(ABORT, 'an event takes the next seq of its run'); END;

CREATE TRIGGER events_not_after_the_end BEFORE INSERT ON events
WHEN (SELECT ended_seq FROM runs WHERE run_id = NEW.run_id) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the run has ended'); END;

CREATE TRIGGER events_counted AFTER INSERT ON events
BEGIN
  UPDATE runs SET next_seq = NEW.seq + 1, ended_seq = CASE WHEN NEW.terminal THEN NEW.seq END
  WHERE run_id = NEW.run_id;
END;

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'an event never changes'); END;

CREATE TRIGGER events_stay BEFORE DELETE ON events
WHEN NOT EXISTS (
  SELECT 1 FROM runs WHERE run_id = OLD.run_id
  AND (forgetting = 1 OR (ended_seq IS NOT NULL AND OLD.family IN ('token.delta', 'reasoning.delta')))
)
BEGIN SELECT RAISE(ABORT, 'only deltas of an ended run are deleted'); END;
