//! The gate's own bundle (KS-4.8) as a file.
