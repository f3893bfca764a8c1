//! Fake clock, seeded ids, crash points, scripted reasoner, a person of its own; dev-dependency only.
