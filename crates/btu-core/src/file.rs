//! A file service: what it delivers to one and to many clients, and what that costs its server.
//!
//! The five experiments are those of CITI TR 92-2 (Antonelli 1992), each with its table.

pub mod sample;
