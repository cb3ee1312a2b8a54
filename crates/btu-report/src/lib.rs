//! btu-report
