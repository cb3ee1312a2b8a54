//! btu-control
