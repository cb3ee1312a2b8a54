//! btu-engine
