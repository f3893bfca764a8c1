-- The tasks whose contexts held each record of memory, and in which turns.
CREATE TABLE view_memory_uses (
  seq          INTEGER NOT NULL,
  memory_id    TEXT    NOT NULL,
  task_id      TEXT    NOT NULL,
  first_at     INTEGER NOT NULL,
  last_at      INTEGER NOT NULL,
  last_seq     INTEGER NOT NULL,
  contexts     INTEGER NOT NULL,
  turns        TEXT    NOT NULL,
  helped       INTEGER NOT NULL CHECK (helped IN (0, 1)),
  contradicted INTEGER NOT NULL CHECK (contradicted IN (0, 1)),
  PRIMARY KEY (memory_id, task_id)
) STRICT, WITHOUT ROWID;
