-- A broken chain is never reset: an event anchors it anew and names what it severed (proof.md 2). The few that there
-- are, nearly always none, are looked up whenever a store is opened or verified.

CREATE INDEX events_reanchored ON events (log_seq) WHERE event_type = 'chain.reanchored';
