//! `hermit-desktop`.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::alloc::System;
use std::process::ExitCode;
use zeroizing_alloc::ZeroAlloc;

/// What is given back is wiped: passphrases and keys pass through buffers of parsers and windows that nobody else wipes.
#[global_allocator]
static MEMORY: ZeroAlloc<System> = ZeroAlloc(System);

fn main() -> ExitCode {
    host::keep_private_with_pages();
    host::hear_file_limits();
    host::carry_source(source::stream);
    desktop::main()
}
