//! The system calls that agents and workers make, and those of the libraries below them.

use libc::c_long;

/// Memory, files, sockets, waiting, threads, time. Calls whose arguments matter have rules instead.
pub(super) const EVERYBODY: &[c_long] = &[
    // Messages and waiting first: a filter that is not remembered is read from its beginning.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_futex,
    libc::SYS_ppoll,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendfile,
    // Sockets.
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_listen,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    // Waiting.
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_eventfd2,
    libc::SYS_nanosleep,
    libc::SYS_pselect6,
    // Memory.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mlock,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munlock,
    libc::SYS_munmap,
    // Files: which of them, Landlock judges.
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fchmod,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_getcwd,
    // Whether a process is a thread of the kernel.
    libc::SYS_getpgid,
    libc::SYS_getdents64,
    libc::SYS_lseek,
    libc::SYS_mkdirat,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_pipe2,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_umask,
    libc::SYS_unlinkat,
    // Threads and their CPUs.
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_get_robust_list,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpriority,
    libc::SYS_gettid,
    libc::SYS_prctl,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getattr,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sigaltstack,
    // What the kernel says.
    libc::SYS_clock_getres,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettimeofday,
    libc::SYS_getuid,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_uname,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_arch_prctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getrlimit,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pipe,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_select,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
];

/// Calls that change limits and turns of a process, with the arguments that name which: where they are 0
/// it is the caller, or its thread.
pub(super) const OF_A_PROCESS: &[(c_long, &[u32])] = &[
    (libc::SYS_prlimit64, &[0]),
    (libc::SYS_sched_setaffinity, &[0]),
    (libc::SYS_sched_setattr, &[0]),
    // The first says whether the second is a process, a group of them, or all of a user.
    (libc::SYS_setpriority, &[0, 1]),
];

/// To start, confine and end another process of this program.
pub(super) const SUPERVISOR: &[c_long] = &[
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_execve,
    libc::SYS_kill,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_restrict_self,
    libc::SYS_seccomp,
    libc::SYS_socketpair,
    libc::SYS_wait4,
    libc::SYS_waitid,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];
