//! btu-core
