use std::collections::VecDeque;

use super::*;
