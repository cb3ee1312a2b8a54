//! What answers mean, and what is refused before a call.

use std::error::Error as _;

use super::*;

#[test]
fn a_negative_answer_is_told_by_its_name_and_any_other_by_its_number() {
    let told = |answer| checked("pvm_spawn x", answer).err().unwrap();
    assert_eq!(told(-7).to_string(), "pvm_spawn x");
    assert!(told(-7).source().unwrap().to_string().starts_with("PvmNoFile: "));
    assert_eq!(told(-99).source().unwrap().to_string(), "error -99 of PVM");
    assert_eq!(checked("pvm_nrecv", 0).unwrap(), 0);
}

#[test]
fn numbers_of_tasks_come_back_from_their_bytes() {
    let id = TaskId(0x40001);
    assert_eq!(TaskId::from_bytes(id.to_bytes()), id);
}

#[test]
fn tags_and_lengths_beyond_31_bits_are_refused_by_their_value() {
    assert_eq!(tag_of(1 << 31).err().unwrap().to_string(), "use tag 2147483648");
    assert_eq!(tag_of(7).unwrap(), 7);
    assert!(length("pvm_pkbyte", 1 << 31).is_err() && length("pvm_pkbyte", 5).is_ok());
}
