//! btu-testbed
