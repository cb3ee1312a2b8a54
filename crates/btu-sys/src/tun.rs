//! A TUN device: the IP packets that a network device sends, one per read, and receives, one per
//! write; without `virtio_net_hdr`, so never more than one wire packet.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Makes a TUN device in the network namespace of the calling thread; it lives as long as the file.
/// With an empty name the kernel chooses one.
pub fn open(name: &str) -> io::Result<File> {
    if name.len() >= NAME_LEN {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let device = File::options().read(true).write(true).open("/dev/net/tun")?;
    // `struct ifreq`: the name, then the flags.
    let mut request = [0_u8; 40];
    request[..name.len()].copy_from_slice(name.as_bytes());
    request[NAME_LEN..NAME_LEN + 2].copy_from_slice(&IFF_TUN_NO_PI.to_ne_bytes());
    // SAFETY: the kernel reads and writes 40 bytes, which outlive the call.
    let made = unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF, request.as_mut_ptr()) };
    if made < 0 { Err(io::Error::last_os_error()) } else { Ok(device) }
}

/// Room for a name with its final zero (`linux/if.h`).
const NAME_LEN: usize = 16;
/// `linux/if_tun.h`: `IFF_TUN | IFF_NO_PI`
const IFF_TUN_NO_PI: u16 = 0x1001;
const TUNSETIFF: libc::c_ulong = 0x4004_54ca;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_is_refused_before_anything_is_opened() {
        let refused = open("sixteen-letters-").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }
}
