//! Command bodies against a Host trait; model to wire conversion; error codes.
