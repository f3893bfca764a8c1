//! `hermit`.

use std::alloc::System;
use std::process::ExitCode;
use zeroizing_alloc::ZeroAlloc;

/// What is given back is wiped: passphrases and keys pass through buffers of parsers and sockets that nobody else wipes.
#[global_allocator]
static MEMORY: ZeroAlloc<System> = ZeroAlloc(System);

fn main() -> ExitCode {
    host::keep_private();
    host::hear_file_limits();
    host::carry_source(source::stream);
    cli::main()
}
