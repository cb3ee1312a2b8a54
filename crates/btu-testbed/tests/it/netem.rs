//! The kernel's own emulator: where it is there, it does what was asked; where not, that is told.

use std::time::Duration;
use std::time::Instant;

use btu_testbed::around::Around;
use btu_testbed::around::Depth;
use btu_testbed::around::FAR_PORT;
use btu_testbed::around::FarEnd;
use btu_testbed::around::NEAR_PORT;
use btu_testbed::backend::Backend;
use btu_testbed::backend::BackendError;
use btu_testbed::backend::LinkPorts;
use btu_testbed::backend::Settings;
use btu_testbed::backend::netem::NetemBackend;

use crate::isolated::isolated;
use crate::traffic::tcp_transfer;
use crate::traffic::udp_count;
use crate::world::LINK;
use crate::world::assert_nothing_unasked;
use crate::world::ends;
use crate::world::far;
use crate::world::order;

#[test]
fn netem_delays_drops_and_counts() {
    isolated("netem::netem_delays_drops_and_counts", || {
        let around = Around::create(Depth::OUTERMOST, FarEnd::Alone, 1500).unwrap();
        let ports = LinkPorts { name: LINK.into(), near: NEAR_PORT.into(), far: FAR_PORT.into() };
        let emulator = match NetemBackend.start(around.wire(), &[ports], &Settings::default()) {
            Ok(emulator) => emulator,
            Err(refused) => {
                assert!(matches!(refused, BackendError::NoNetem(_)), "{refused}");
                let told = refused.to_string();
                assert_eq!(told, "the kernel has no sch_netem, which the mechanism netem needs");
                skip!("kernel lacks: sch_netem: only its refusal was tested");
            }
        };
        let ends = ends(&around, far());
        let delay = Duration::from_millis(20);
        emulator.configure(&[order(&["delay 20ms"], &["delay 20ms"])], 7).unwrap();
        let start = Instant::now();
        let (amount, _) = tcp_transfer(ends, 251 * 256 * 64);
        assert_eq!(amount, 251 * 256 * 64);
        assert!(start.elapsed() >= delay * 2, "{:?}", start.elapsed());
        for seen in emulator.samples().unwrap() {
            assert_nothing_unasked(&seen);
            assert_eq!((seen.delay_asked_us, seen.dropped), (Some(20_000.0), 0));
            assert!(seen.packets > 0 && seen.backend == "netem", "{seen:?}");
        }
        emulator.configure(&[order(&["drop 10%"], &[])], 7).unwrap();
        let came = u64::try_from(udp_count(ends, 2000, 64).len()).unwrap();
        let seen = &emulator.samples().unwrap()[0];
        assert!(seen.dropped > 0 && seen.dropped == seen.packets - came, "{came} {seen:?}");
        let refused = emulator.configure(&[order(&["drop 1@2/4"], &[])], 7).unwrap_err();
        assert!(refused.to_string().contains("drop 1@2/4"), "{refused}");
        assert!(emulator.start_capture(10).is_err());
    });
}
