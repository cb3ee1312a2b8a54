//! Sets of CPUs, and threads held on them.

use super::*;

#[test]
fn a_pinned_thread_runs_on_its_cpu_only() {
    let all = allowed().unwrap();
    for cpu in all.iter() {
        let one = CpuSet::of([cpu]);
        pin(&one).unwrap();
        assert_eq!(allowed().unwrap(), one);
        assert_eq!(current(), Some(cpu));
    }
    pin(&all).unwrap();
    assert_eq!(allowed().unwrap(), all);
}

#[test]
fn a_short_slice_leaves_the_nice_value_alone() {
    let kept = std::thread::spawn(|| {
        let before = nice();
        set_nice(before + 3).unwrap();
        set_slice(SHORTEST_SLICE_NS).unwrap();
        nice() - before
    });
    assert_eq!(kept.join().unwrap(), 3);
}

#[test]
fn a_thread_is_seen_where_it_runs() {
    let all = allowed().unwrap();
    let whereabouts = Whereabouts::of_this_thread().unwrap();
    for cpu in all.iter() {
        pin(&CpuSet::of([cpu])).unwrap();
        assert_eq!(whereabouts.cpu(), Some(cpu));
    }
    pin(&all).unwrap();
    let of_another = std::thread::spawn(Whereabouts::of_this_thread).join().unwrap().unwrap();
    // Who joins a thread may be told before its entry is gone.
    let end = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while of_another.cpu().is_some() {
        assert!(std::time::Instant::now() < end, "a thread that has ended is still seen");
        std::thread::yield_now();
    }
}

/// Ends once it has waited: what does not share its CPU would not.
#[test]
fn a_thread_that_shares_its_cpu_waits_for_it() {
    let one = CpuSet::of(allowed().unwrap().iter().take(1));
    let over = std::sync::atomic::AtomicBool::new(false);
    let spin = || {
        pin(&one).unwrap();
        while !over.load(std::sync::atomic::Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    };
    let waits = || {
        pin(&one).unwrap();
        let delay = RunDelay::of_this_thread().unwrap();
        let end = std::time::Instant::now() + std::time::Duration::from_mins(1);
        let waited = delay.now_ns().unwrap() + 5_000_000;
        while delay.now_ns().unwrap() < waited && std::time::Instant::now() < end {}
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        delay.now_ns().unwrap() >= waited
    };
    std::thread::scope(|scope| {
        scope.spawn(spin);
        assert!(scope.spawn(waits).join().unwrap());
    });
}

#[test]
fn a_thread_that_sleeps_waits_for_no_cpu() {
    let delay = RunDelay::of_this_thread().unwrap();
    let waited = || {
        let before = delay.now_ns().unwrap();
        clock::sleep_until(clock::monotonic_ns() + 1_000_000);
        delay.now_ns().unwrap() - before
    };
    // Beside other programs it may, once it is to go on.
    assert!((0..100).any(|_| waited() < 500_000));
}

#[test]
fn a_cpu_that_does_not_exist_is_named() {
    let text = pin(&CpuSet::of([1023])).unwrap_err().to_string();
    assert_eq!(text, "pin this thread to CPUs 1023");
    assert!(pin(&CpuSet::of([70_000])).is_err());
}

#[test]
fn work_is_charged_to_the_thread_that_does_it() {
    let before = ThreadUse::now();
    while thread_cpu_ns() < before.cpu_ns + 2_000_000 {
        std::hint::spin_loop();
    }
    let used = ThreadUse::now().since(&before);
    assert!(used.cpu_ns >= 2_000_000, "{used:?}");
    assert!(process_cpu_ns() >= used.cpu_ns);
}

#[test]
fn a_sleep_is_a_voluntary_switch() {
    let switches = || {
        let before = ThreadUse::now();
        clock::sleep_until(clock::monotonic_ns() + 1_000_000);
        ThreadUse::now().since(&before).voluntary_switches
    };
    // Where the thread has to wait for a CPU first, the deadline is over before the sleep.
    assert!((0..100).any(|_| switches() >= 1));
}

#[test]
fn a_short_slice_needs_no_right() {
    let granted = std::thread::spawn(prefer_latency).join().unwrap();
    assert!(granted.short_slice, "{granted:?}");
}

/// In a thread of its own, where that may do it at all.
#[test]
fn a_thread_goes_first_and_steps_back() {
    let policy = || {
        // SAFETY: takes a number only.
        unsafe { libc::sched_getscheduler(0) }
    };
    let seen = std::thread::spawn(move || {
        let granted = go_first().is_ok();
        let first = policy();
        prefer_latency();
        (granted, first, policy())
    });
    let (granted, first, after) = seen.join().unwrap();
    let expected = if granted { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
    assert_eq!((first, after), (expected, libc::SCHED_OTHER));
}

#[test]
fn the_timer_slack_can_be_set() {
    set_timer_slack(1).unwrap();
    assert_eq!(nix::sys::prctl::get_timerslack(), Ok(1));
}
