-- What models cost, call by call, and what is set aside for calls that are not settled.
CREATE TABLE view_spent (
  seq         INTEGER NOT NULL,
  task_id     TEXT    NOT NULL,
  task_seq    INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  provider    TEXT    NOT NULL,
  model       TEXT    NOT NULL,
  tokens      INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  PRIMARY KEY (task_id, task_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_spent_by_time ON view_spent (at);
CREATE TABLE view_asking (
  seq         INTEGER NOT NULL,
  task_id     TEXT    NOT NULL PRIMARY KEY,
  provider    TEXT    NOT NULL,
  model       TEXT    NOT NULL,
  cost_micros INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX view_asking_by_cost ON view_asking (cost_micros) WHERE cost_micros > 0;
