//! The only writer: decide, append, project, act; recovery, leases, scheduling; one file per command.
