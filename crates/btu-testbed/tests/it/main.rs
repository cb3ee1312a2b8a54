//! Integration tests of the testbed: what the kernel and the emulator really do.
#![forbid(unsafe_code)]
