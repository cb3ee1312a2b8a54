//! The causes, and the list of them.

mod application;
mod blackbox_limited;
mod blackbox_path;
mod bloated_queue;
mod congestion_window;
mod delayed_ack;
mod distant_cpus;
mod disturbed_passes;
mod emulator_pattern;
mod fast_retransmit;
mod receiver_drops;
mod reordering;
mod silly_window;
mod slow_reader;
mod slow_start_after_idle;
mod small_queue;
mod small_receive_buffer;
mod small_send_buffer;
mod starved_receiver;
mod starved_sender;
mod stolen_time;
mod tail_loss;
mod timeout;
mod two_modes;
pub(super) mod unknown;

use super::Cause;

/// Every cause; where two explain the same share of the time, the first is named first.
pub static CAUSES: &[Cause] = &[
    delayed_ack::CAUSE,
    silly_window::CAUSE,
    slow_reader::CAUSE,
    small_receive_buffer::CAUSE,
    small_send_buffer::CAUSE,
    emulator_pattern::CAUSE,
    receiver_drops::CAUSE,
    small_queue::CAUSE,
    bloated_queue::CAUSE,
    reordering::CAUSE,
    tail_loss::CAUSE,
    timeout::CAUSE,
    fast_retransmit::CAUSE,
    slow_start_after_idle::CAUSE,
    starved_receiver::CAUSE,
    starved_sender::CAUSE,
    stolen_time::CAUSE,
    blackbox_limited::CAUSE,
    blackbox_path::CAUSE,
    congestion_window::CAUSE,
    application::CAUSE,
    disturbed_passes::CAUSE,
    distant_cpus::CAUSE,
    two_modes::CAUSE,
    unknown::CAUSE,
];
