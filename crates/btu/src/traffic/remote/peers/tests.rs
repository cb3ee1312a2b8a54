//! Which host plays which part, and what cannot be.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::*;

/// The first is lost while the second is waited for, and that one while the first is.
#[test]
fn an_agent_that_is_lost_while_another_is_regained_is_regained_too() {
    let roles = [Role::Active, Role::Passive];
    let lost = RefCell::new(BTreeSet::from([Role::Passive]));
    let mut order = Vec::new();
    let regain = |role: Role| {
        order.push(role);
        let mut lost = lost.borrow_mut();
        lost.remove(&role);
        let other = roles.into_iter().find(|other| *other != role);
        lost.extend(other.filter(|_| order.len() < 3));
        Ok::<(), ()>(())
    };
    all_back(&roles, |role| lost.borrow().contains(&role), regain).unwrap();
    assert_eq!(order, [Role::Passive, Role::Active, Role::Passive]);
    assert!(lost.borrow().is_empty());
}

#[test]
fn nobody_is_waited_for_after_one_that_does_not_come_back() {
    let roles = [Role::Active, Role::Passive];
    let mut asked = Vec::new();
    let regain = |role: Role| {
        asked.push(role);
        Err("gone")
    };
    assert_eq!(all_back(&roles, |_| true, regain), Err("gone"));
    assert_eq!(asked, [Role::Active]);
}
