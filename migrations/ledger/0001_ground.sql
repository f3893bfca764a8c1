-- Ground truth. Rows are added, never changed; only a disclosure may be deleted, which erases a value (proof.md 5).
-- Every row carries the epoch of the host that wrote it, and only the newest epoch may write (recovery.md 1).
-- Identifiers are the 16 bytes of their UUID, digests the 32 bytes of SHA-256. Columns beside `bytes` are copies
-- that exist to be searched; verification compares them with the bytes.
-- The BEFORE INSERT triggers also look for the row itself, because REPLACE deletes without asking a trigger.

CREATE TABLE epochs (
  epoch           INTEGER PRIMARY KEY CHECK (epoch >= 1),
  session         TEXT    NOT NULL UNIQUE CHECK (length(session) = 32),
  pid             INTEGER NOT NULL,
  hermit_version  TEXT    NOT NULL
) STRICT;

CREATE TABLE store (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  epoch   INTEGER NOT NULL REFERENCES epochs (epoch),
  log_id  TEXT    NOT NULL CHECK (length(log_id) = 32)
) STRICT;

CREATE TABLE events (
  log_seq          INTEGER PRIMARY KEY CHECK (log_seq >= 1),
  epoch            INTEGER NOT NULL REFERENCES epochs (epoch),
  task_id          BLOB    NOT NULL CHECK (length(task_id) = 16),
  task_seq         INTEGER NOT NULL CHECK (task_seq >= 1),
  event_id         BLOB    NOT NULL UNIQUE CHECK (length(event_id) = 16),
  event_type       TEXT    NOT NULL CHECK (event_type <> ''),
  idempotency_key  TEXT             CHECK (idempotency_key <> ''),
  hash             BLOB    NOT NULL CHECK (length(hash) = 32),
  bytes            BLOB    NOT NULL CHECK (length(bytes) > 0),
  UNIQUE (task_id, task_seq)
) STRICT;
CREATE UNIQUE INDEX events_by_key ON events (idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE entries (
  entry_seq   INTEGER PRIMARY KEY CHECK (entry_seq >= 1),
  epoch       INTEGER NOT NULL REFERENCES epochs (epoch),
  request_id  TEXT    NOT NULL,
  hash        BLOB    NOT NULL CHECK (length(hash) = 32),
  bytes       BLOB    NOT NULL CHECK (length(bytes) > 0)
) STRICT;
CREATE INDEX entries_by_request ON entries (request_id);

-- Complete nodes of the gate tree at the levels 8, 16, 24 and so on: enough to prove any entry by reading at most
-- 256 hashes for each of those levels.
CREATE TABLE gate_nodes (
  level  INTEGER NOT NULL CHECK (level > 0 AND level % 8 = 0),
  idx    INTEGER NOT NULL CHECK (idx >= 0),
  epoch  INTEGER NOT NULL REFERENCES epochs (epoch),
  hash   BLOB    NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (level, idx)
) STRICT, WITHOUT ROWID;

-- Content small enough to be committed together with the events that name it.
CREATE TABLE blobs (
  blob_seq  INTEGER PRIMARY KEY,
  epoch     INTEGER NOT NULL REFERENCES epochs (epoch),
  digest    BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
  bytes     BLOB    NOT NULL CHECK (length(bytes) <= 65536)
) STRICT;

CREATE TABLE disclosures (
  disclosure_seq  INTEGER PRIMARY KEY,
  epoch           INTEGER NOT NULL REFERENCES epochs (epoch),
  log_seq         INTEGER REFERENCES events (log_seq),
  digest          BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
  bytes           BLOB    NOT NULL CHECK (length(bytes) > 0)
) STRICT;

CREATE TABLE grant_uses (
  grant_id  BLOB    NOT NULL CHECK (length(grant_id) = 16),
  use_no    INTEGER NOT NULL CHECK (use_no >= 1),
  max_uses  INTEGER NOT NULL CHECK (max_uses >= use_no),
  epoch     INTEGER NOT NULL REFERENCES epochs (epoch),
  PRIMARY KEY (grant_id, use_no)
) STRICT, WITHOUT ROWID;

-- Signed notes. Those of tasks and of the gate are the leaves of the global log, in the order of `leaf_index`.
CREATE TABLE checkpoints (
  checkpoint_seq  INTEGER PRIMARY KEY CHECK (checkpoint_seq >= 1),
  epoch           INTEGER NOT NULL REFERENCES epochs (epoch),
  kind            TEXT    NOT NULL CHECK (kind IN ('task', 'gate', 'global')),
  task_id         BLOB             CHECK (length(task_id) = 16),
  size            INTEGER NOT NULL CHECK (size >= 1),
  root            BLOB    NOT NULL CHECK (length(root) = 32),
  leaf_index      INTEGER UNIQUE CHECK (leaf_index >= 0),
  made_at         INTEGER NOT NULL,
  frontier        BLOB    NOT NULL,
  note            BLOB    NOT NULL,
  CHECK ((kind = 'task') = (task_id IS NOT NULL)),
  CHECK ((kind = 'global') = (leaf_index IS NULL))
) STRICT;
CREATE INDEX checkpoints_by_log ON checkpoints (kind, task_id, size);

CREATE TRIGGER epochs_append BEFORE INSERT ON epochs BEGIN
  SELECT RAISE(ABORT, 'ledger: epochs count up by one')
  WHERE NEW.epoch IS NOT (SELECT coalesce(max(epoch), 0) + 1 FROM epochs);
  SELECT RAISE(ABORT, 'ledger: this session already has an epoch')
  WHERE EXISTS (SELECT 1 FROM epochs WHERE session = NEW.session);
END;
CREATE TRIGGER epochs_keep BEFORE UPDATE ON epochs BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
CREATE TRIGGER epochs_stay BEFORE DELETE ON epochs BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;

CREATE TRIGGER store_append BEFORE INSERT ON store BEGIN
  SELECT RAISE(ABORT, 'ledger: stale epoch') WHERE NEW.epoch IS NOT (SELECT max(epoch) FROM epochs);
  SELECT RAISE(ABORT, 'ledger: append-only') WHERE EXISTS (SELECT 1 FROM store);
END;
CREATE TRIGGER store_keep BEFORE UPDATE ON store BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
CREATE TRIGGER store_stay BEFORE DELETE ON store BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;

CREATE TRIGGER events_append BEFORE INSERT ON events BEGIN
  SELECT RAISE(ABORT, 'ledger: stale epoch') WHERE NEW.epoch IS NOT (SELECT max(epoch) FROM epochs);
  SELECT RAISE(ABORT, 'ledger: the log counts up by one')
  WHERE NEW.log_seq IS NOT (SELECT coalesce(max(log_seq), 0) + 1 FROM events);
  SELECT RAISE(ABORT, 'ledger: a task counts up by one')
  WHERE NEW.task_seq IS NOT (SELECT coalesce(max(task_seq), 0) + 1 FROM events WHERE task_id = NEW.task_id);
  SELECT RAISE(ABORT, 'ledger: this event is known')
  WHERE EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id);
  SELECT RAISE(ABORT, 'ledger: this idempotency key is known')
  WHERE NEW.idempotency_key IS NOT NULL
    AND EXISTS (SELECT 1 FROM events WHERE idempotency_key = NEW.idempotency_key);
END;
CREATE TRIGGER events_keep BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;

CREATE TRIGGER entries_append BEFORE INSERT ON entries BEGIN
  SELECT RAISE(ABORT, 'ledger: stale epoch') WHERE NEW.epoch IS NOT (SELECT max(epoch) FROM epochs);
  SELECT RAISE(ABORT, 'ledger: the gate counts up by one')
  WHERE NEW.entry_seq IS NOT (SELECT coalesce(max(entry_seq), 0) + 1 FROM entries);
END;
CREATE TRIGGER entries_keep BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
CREATE TRIGGER entries_stay BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;

CREATE TRIGGER gate_nodes_append BEFORE INSERT ON gate_nodes BEGIN
  SELECT RAISE(ABORT, 'ledger: stale epoch') WHERE NEW.epoch IS NOT (SELECT max(epoch) FROM epochs);
  SELECT RAISE(ABORT, 'ledger: a tree level counts up by one')
  WHERE NEW.idx IS NOT (SELECT coalesce(max(idx), -1) + 1 FROM gate_nodes WHERE level = NEW.level);
END;
CREATE TRIGGER gate_nodes_keep BEFORE UPDATE ON gate_nodes BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
CREATE TRIGGER gate_nodes_stay BEFORE DELETE ON gate_nodes BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;

CREATE TRIGGER blobs_append BEFORE INSERT ON blobs BEGIN
  SELECT RAISE(ABORT, 'ledger: stale epoch') WHERE NEW.epoch IS NOT (SELECT max(epoch) FROM epochs);
  SELECT RAISE(IGNORE) WHERE EXISTS (SELECT 1 FROM blobs WHERE digest = NEW.digest);
  SELECT RAISE(ABORT, 'ledger: append-only') WHERE EXISTS (SELECT 1 FROM blobs WHERE blob_seq = NEW.blob_seq);
END;
CREATE TRIGGER blobs_keep BEFORE UPDATE ON blobs BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
CREATE TRIGGER blobs_stay BEFORE DELETE ON blobs BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;

CREATE TRIGGER disclosures_append BEFORE INSERT ON disclosures BEGIN
  SELECT RAISE(ABORT, 'ledger: stale epoch') WHERE NEW.epoch IS NOT (SELECT max(epoch) FROM epochs);
  SELECT RAISE(IGNORE) WHERE EXISTS (SELECT 1 FROM disclosures WHERE digest = NEW.digest);
  SELECT RAISE(ABORT, 'ledger: append-only')
  WHERE EXISTS (SELECT 1 FROM disclosures WHERE disclosure_seq = NEW.disclosure_seq);
END;
CREATE TRIGGER disclosures_keep BEFORE UPDATE ON disclosures BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;

CREATE TRIGGER grant_uses_append BEFORE INSERT ON grant_uses BEGIN
  SELECT RAISE(ABORT, 'ledger: stale epoch') WHERE NEW.epoch IS NOT (SELECT max(epoch) FROM epochs);
  SELECT RAISE(ABORT, 'ledger: uses of a grant count up by one')
  WHERE NEW.use_no IS NOT (SELECT coalesce(max(use_no), 0) + 1 FROM grant_uses WHERE grant_id = NEW.grant_id);
  SELECT RAISE(ABORT, 'ledger: a grant keeps its limit')
  WHERE EXISTS (SELECT 1 FROM grant_uses WHERE grant_id = NEW.grant_id AND max_uses IS NOT NEW.max_uses);
END;
CREATE TRIGGER grant_uses_keep BEFORE UPDATE ON grant_uses BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
CREATE TRIGGER grant_uses_stay BEFORE DELETE ON grant_uses BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;

CREATE TRIGGER checkpoints_append BEFORE INSERT ON checkpoints BEGIN
  SELECT RAISE(ABORT, 'ledger: stale epoch') WHERE NEW.epoch IS NOT (SELECT max(epoch) FROM epochs);
  SELECT RAISE(ABORT, 'ledger: checkpoints count up by one')
  WHERE NEW.checkpoint_seq IS NOT (SELECT coalesce(max(checkpoint_seq), 0) + 1 FROM checkpoints);
  SELECT RAISE(ABORT, 'ledger: leaves count up by one')
  WHERE NEW.leaf_index IS NOT NULL
    AND NEW.leaf_index IS NOT (SELECT coalesce(max(leaf_index), -1) + 1 FROM checkpoints);
END;
CREATE TRIGGER checkpoints_keep BEFORE UPDATE ON checkpoints BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
CREATE TRIGGER checkpoints_stay BEFORE DELETE ON checkpoints BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
