//! Every proof that the whole house stands, in one binary.
