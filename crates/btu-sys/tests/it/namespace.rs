//! Network namespaces are separate, entered by a thread, and gone with their last handle.

use std::net::TcpListener;
use std::net::TcpStream;
use std::thread;

use btu_sys::namespace;
use btu_sys::namespace::IdMap;
use btu_sys::namespace::NamespaceError;
use btu_sys::namespace::NetNs;

use crate::isolated::isolated;

#[test]
fn two_namespaces_are_two() {
    isolated("namespace::two_namespaces_are_two", || {
        let here = NetNs::current().unwrap();
        let one = NetNs::create().unwrap();
        let two = NetNs::create().unwrap();
        let inodes = [here.inode().unwrap(), one.inode().unwrap(), two.inode().unwrap()];
        assert_ne!(inodes[0], inodes[1]);
        assert_ne!(inodes[1], inodes[2]);
    });
}

#[test]
fn a_thread_that_enters_is_inside_and_others_stay() {
    isolated("namespace::a_thread_that_enters_is_inside_and_others_stay", || {
        let made = NetNs::create().unwrap();
        let before = NetNs::current().unwrap().inode().unwrap();
        let seen = made.inside(|| NetNs::current().unwrap().inode().unwrap()).unwrap();
        assert_eq!(seen, made.inode().unwrap());
        assert_eq!(NetNs::current().unwrap().inode().unwrap(), before);
    });
}

#[test]
fn in_a_new_namespace_nobody_answers() {
    isolated("namespace::in_a_new_namespace_nobody_answers", || {
        let made = NetNs::create().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let refused = made.inside(|| TcpStream::connect(address)).unwrap();
        assert!(refused.is_err());
    });
}

#[test]
fn a_process_with_threads_is_told_why() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let other = thread::spawn(move || wait.recv());
    let refused = namespace::enter_user_namespace(IdMap::Root);
    drop(release);
    other.join().unwrap().unwrap_err();
    assert!(matches!(refused, Err(NamespaceError::Threads { threads }) if threads > 1));
}
