//! The document of a file service and its schema.

use super::super::schema;
use super::*;

#[test]
fn every_key_that_may_be_null_has_its_reason_and_no_other() {
    schema::tests::check::<FileDocument>(REASONS);
}
