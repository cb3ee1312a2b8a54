//! Editions: immutable, hashed sets of parameters. Only results of one edition are ever compared.

/// An edition, as its file.
#[derive(Clone, Copy, Debug)]
pub struct Edition {
    /// `btu-26`.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The preset that `btu run` takes when none is named.
    pub default_preset: &'static str,
    /// The preset of `--official`, if the edition has one.
    pub official_preset: Option<&'static str>,
    /// The file.
    pub text: &'static str,
}

/// Every edition, the default first.
pub const EDITIONS: &[Edition] = &[
    Edition {
        name: "btu-26",
        summary: "windows instead of fixed amounts, the system's own buffers (default)",
        default_preset: "quick",
        official_preset: Some("official"),
        text: include_str!("../../../../../editions/btu-26.toml"),
    },
    Edition {
        name: "btu-96",
        summary: "as the paper of 1996 ran it: 32 Mb a cell, 4 KiB windows, shared 10 Mb/s",
        default_preset: "faithful",
        official_preset: None,
        text: include_str!("../../../../../editions/btu-96.toml"),
    },
];

impl Edition {
    /// The edition of this name.
    pub fn named(name: &str) -> Option<Self> {
        EDITIONS.iter().find(|edition| edition.name == name).copied()
    }

    /// BLAKE3 of the file, hexadecimal: the edition's identity.
    pub fn hash(&self) -> String {
        blake3::hash(self.text.as_bytes()).to_hex().to_string()
    }
}
