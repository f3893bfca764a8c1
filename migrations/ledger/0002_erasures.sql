-- Content of small artifacts may be erased when the log says so (proof.md 5): what an event names here may go, and
-- nothing else. Digests, chains and trees stay as they are.

CREATE TABLE erasures (
  digest   BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
  epoch    INTEGER NOT NULL REFERENCES epochs (epoch),
  log_seq  INTEGER NOT NULL REFERENCES events (log_seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER erasures_append BEFORE INSERT ON erasures BEGIN
  SELECT RAISE(ABORT, 'ledger: stale epoch') WHERE NEW.epoch IS NOT (SELECT max(epoch) FROM epochs);
  SELECT RAISE(IGNORE) WHERE EXISTS (SELECT 1 FROM erasures WHERE digest = NEW.digest);
END;
CREATE TRIGGER erasures_keep BEFORE UPDATE ON erasures BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;
CREATE TRIGGER erasures_stay BEFORE DELETE ON erasures BEGIN SELECT RAISE(ABORT, 'ledger: append-only'); END;

DROP TRIGGER blobs_stay;
CREATE TRIGGER blobs_stay BEFORE DELETE ON blobs BEGIN
  SELECT RAISE(ABORT, 'ledger: append-only') WHERE NOT EXISTS (SELECT 1 FROM erasures WHERE digest = OLD.digest);
END;
