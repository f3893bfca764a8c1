//! The #[conforms("ID")] attribute: a test that passes leaves its ids for the conformance report.
