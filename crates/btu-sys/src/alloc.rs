//! An allocator that counts, so that a test can prove that a timed loop allocates nothing.

use std::alloc::GlobalAlloc;
use std::alloc::Layout;
use std::alloc::System;
use std::cell::Cell;

/// The system's allocator plus a count per thread. Install it with `#[global_allocator]` in a test binary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

/// How often the calling thread allocated or reallocated so far; 0 unless [`Counting`] is installed.
pub fn thread_allocations() -> u64 {
    ALLOCATIONS.try_with(Cell::get).unwrap_or(0)
}

fn count() {
    // A thread that is ending has no counter any more, and nobody who would read it.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting does not allocate,
// since the thread-local is constant-initialised and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: `start` came from this allocator, that is from `System`, with this layout.
        unsafe { System.realloc(start, layout, size) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: `start` came from this allocator, that is from `System`, with this layout.
        unsafe { System.dealloc(start, layout) }
    }
}

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}
