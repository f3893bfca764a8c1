//! The bundle format and its verifier; knows nothing of kernel or database.
