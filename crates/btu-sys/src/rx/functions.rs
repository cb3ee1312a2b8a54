//! The functions and data of the library, each with the type that its header gives it.

use std::ffi::c_char;
use std::ffi::c_int;
use std::ffi::c_uint;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::AtomicI32;

use crate::error::Result;
use crate::loaded::Library;

/// What only the library looks into.
pub(super) type Opaque = c_void;

/// The procedure of a service.
pub(super) type Handler = extern "C" fn(*mut Opaque) -> i32;

macro_rules! table {
    ($($(#[$about:meta])* $field:ident = $name:literal: $type:ty;)+) => {
        /// The functions, and addresses of data.
        pub(super) struct Functions {
            $($(#[$about])* pub(super) $field: $type,)+
        }

        impl Functions {
            /// Opens the library, which stays open until the program ends.
            pub(super) fn open() -> Result<Self> {
                let library = Library::open(super::FILE)?;
                Ok(Self {
                    $($field: {
                        let symbol = library.symbol($name)?;
                        // SAFETY: the type is that of this name in the headers of OpenAFS 1.8, where a datum is an
                        // `int`, at the address of its name; the library stays open.
                        unsafe { std::mem::transmute::<NonNull<c_void>, $type>(symbol) }
                    },)+
                })
            }
        }
    };
}

table! {
    /// Host and port in network order; `errno` or a number of Rx where it fails.
    init_host = c"rx_InitHost": unsafe extern "C" fn(u32, c_uint) -> c_int;
    /// Host, port, service, security, index of security.
    new_connection = c"rx_NewConnection":
        unsafe extern "C" fn(u32, u16, u16, *mut Opaque, c_int) -> *mut Opaque;
    destroy_connection = c"rx_DestroyConnection": unsafe extern "C" fn(*mut Opaque);
    new_call = c"rx_NewCall": unsafe extern "C" fn(*mut Opaque) -> *mut Opaque;
    write = c"rx_WriteProc": unsafe extern "C" fn(*mut Opaque, *mut c_char, c_int) -> c_int;
    read = c"rx_ReadProc": unsafe extern "C" fn(*mut Opaque, *mut c_char, c_int) -> c_int;
    error = c"rx_Error": unsafe extern "C" fn(*mut Opaque) -> c_int;
    end_call = c"rx_EndCall": unsafe extern "C" fn(*mut Opaque, i32) -> i32;
    /// Port or 0 for that of the socket, number, name, securities, how many, procedure.
    new_service = c"rx_NewService": unsafe extern "C" fn(
        u16, u16, *mut c_char, *mut *mut Opaque, c_int, Handler,
    ) -> *mut Opaque;
    /// Not 0: the calling thread serves, too, and does not come back.
    start_server = c"rx_StartServer": unsafe extern "C" fn(c_int);
    null_client_security = c"rxnull_NewClientSecurityObject": unsafe extern "C" fn() -> *mut Opaque;
    null_server_security = c"rxnull_NewServerSecurityObject": unsafe extern "C" fn() -> *mut Opaque;
    statistics = c"rx_GetStatistics": unsafe extern "C" fn() -> *mut Opaque;
    free_statistics = c"rx_FreeStatistics": unsafe extern "C" fn(*mut *mut Opaque);
    /// Whether packets are counted.
    counts_packets = c"rx_enable_stats": &'static AtomicI32;
    /// The socket of the process.
    socket = c"rx_socket": &'static AtomicI32;
}
