//! Tests of URLs of servers.

use proptest::prelude::*;

use super::*;

fn target(text: &str) -> Target {
    text.parse().unwrap()
}

fn refused(text: &str) -> String {
    text.parse::<Target>().unwrap_err().to_string()
}

#[test]
fn a_url_is_a_protocol_a_user_a_host_a_port_and_directories() {
    let whole = target("ftp://alice%40home@nas.example:2121/pub/a%20b/");
    assert_eq!((whole.scheme.as_str(), whole.user.as_deref()), ("ftp", Some("alice@home")));
    assert_eq!((whole.host.as_str(), whole.port), ("nas.example", Some(2121)));
    assert_eq!(whole.directories, ["pub", "a b"]);
    assert_eq!(whole.to_string(), "ftp://alice%40home@nas.example:2121/pub/a%20b");
    let bare = target("ftp://[2001:db8::7]");
    assert_eq!((bare.host.as_str(), bare.port, bare.user), ("2001:db8::7", None, None));
    assert!(bare.directories.is_empty());
}

/// RFC 1738, 3.2.2: a path begins where the server lets its clients begin, unless its first part says otherwise.
#[test]
fn a_directory_of_the_root_is_written_with_its_stroke_encoded() {
    assert_eq!(target("ftp://h/%2Fpub/x").directories, ["/pub", "x"]);
    assert_eq!(target("ftp://h/%2Fpub/x").to_string(), "ftp://h/%2Fpub/x");
}

#[test]
fn a_password_is_refused_and_never_said() {
    let told = refused("ftp://alice:secret@nas.example/");
    assert!(told.contains("list of processes") && !told.contains("secret"), "{told}");
    let told = refused("alice:secret@nas.example/");
    assert!(told.contains("\"nas.example/\" is no URL") && !told.contains("secret"), "{told}");
}

#[test]
fn what_is_no_url_of_a_server_is_refused_with_what_is_wrong() {
    for (text, word) in [
        ("nas.example", "is no URL"),
        ("FTP://nas.example", "is no URL"),
        ("ftp://", "\"\" is no host"),
        ("ftp://a b/", "\"a b\" is no host"),
        ("ftp://-oProxy/", "is no host"),
        ("ftp://[::1", "is no host"),
        ("ftp://h:0", "\"0\" is no port"),
        ("ftp://h:+21", "\"+21\" is no port"),
        ("ftp://h/a?x", "without"),
        ("ftp://h/a/../b", "\"..\": write the path"),
        ("ftp://h/%2F..", "write the path"),
        ("ftp://h/%0D%0ADELE", "without control characters"),
        ("ftp://h/%zz", "two hexadecimal digits"),
        ("ftp://h/%e4", "UTF-8"),
    ] {
        let told = refused(text);
        assert!(told.contains(word), "{text}: {told}");
    }
}

proptest! {
    #[test]
    fn a_url_is_read_as_it_was_written(user in "[a-z@:%/]{1,8}", part in "[a-z ?#%é]{1,8}", port in 1_u16..) {
        let target = Target {
            scheme: "ftp".to_owned(),
            user: Some(user),
            host: "nas.example".to_owned(),
            port: Some(port),
            directories: vec![part],
        };
        prop_assert_eq!(target.to_string().parse::<Target>().ok(), Some(target));
    }
}
