//! How well TCP uses a path: the three figures of RFC 6349, section 4.

use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

use crate::traffic::trace::float;

/// What one or more connections did for some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transfer {
    /// Payload that the receiving users read.
    pub delivered: Bytes,
    /// Payload that was sent, retransmissions included.
    pub sent: Bytes,
    /// Of it, retransmissions.
    pub retransmitted: Bytes,
    /// How long it took.
    pub time: Nanos,
    /// Round trip of the idle path.
    pub base_rtt: Nanos,
    /// Mean round trip during the transfer; `None` where nobody sampled it.
    pub mean_rtt: Option<Nanos>,
    /// What the path carries of TCP payload: the bottleneck less headers.
    pub ideal: BitRate,
}

/// The figures of RFC 6349.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferFigures {
    /// Time taken over the time at the ideal rate (4.1): 1 is perfect.
    pub time_ratio: f64,
    /// Payload sent less retransmitted, over sent, percent (4.2).
    pub efficiency_percent: f64,
    /// Mean round trip less the idle one, over the idle one, percent (4.3); `None` without the former.
    pub buffer_delay_percent: Option<f64>,
    /// Bandwidth-delay product of the idle path (3.3.1), of payload: a window counts no headers.
    pub bdp: Bytes,
}

impl Transfer {
    /// The figures; `None` where something was not measured.
    pub fn figures(&self) -> Option<TransferFigures> {
        let zero = [self.delivered, self.sent].iter().any(|bytes| bytes.is_empty())
            || [self.base_rtt, self.time].contains(&Nanos::ZERO)
            || self.ideal.bit_per_second() == 0;
        (!zero).then(|| {
            let sent = float(self.sent.count());
            let base = self.base_rtt.seconds();
            TransferFigures {
                time_ratio: self.time.seconds() / self.ideal.time_for(self.delivered).seconds(),
                efficiency_percent: 100.0 * (sent - float(self.retransmitted.count())) / sent,
                buffer_delay_percent: self
                    .mean_rtt
                    .map(|mean| 100.0 * (mean.seconds() - base) / base),
                bdp: self.ideal.amount_in(self.base_rtt),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked examples of RFC 6349: 100 MB in 12 s where 8 s would do (4.1: ratio 1.5), 100,000
    /// bytes of which 2,000 again (4.2: 98.03 % of 102,000), 25 ms idle and 32 ms loaded (4.3: 28 %).
    #[test]
    fn t13_the_examples_of_rfc_6349() {
        let transfer = Transfer {
            delivered: Bytes::new(100_000_000),
            sent: Bytes::new(102_000),
            retransmitted: Bytes::new(2_000),
            time: Nanos::from_secs(12),
            base_rtt: Nanos::from_millis(25),
            mean_rtt: Some(Nanos::from_millis(32)),
            ideal: BitRate::new(100_000_000),
        };
        let figures = transfer.figures().unwrap();
        assert!((figures.time_ratio - 1.5).abs() < 1e-9);
        assert!((figures.efficiency_percent - 98.04).abs() < 0.01);
        assert!((figures.buffer_delay_percent.unwrap() - 28.0).abs() < 1e-9);
        assert_eq!(figures.bdp, Bytes::new(312_500));
        assert_eq!(Transfer::default().figures(), None);
    }
}
