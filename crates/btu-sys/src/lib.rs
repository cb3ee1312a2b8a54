//! btu-sys
