//! The figures that follow from the models' constants, to the digits in which they are published.

use crate::traffic::*;

fn mean(text: &str, quantity: Quantity) -> f64 {
    variate(text, quantity, Dialect::Btu).unwrap().mean()
}

/// True if `value` rounds to `published`.
fn rounds_to(value: f64, published: &str) -> bool {
    let digits = published.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    format!("{value:.digits$}") == published
}

#[test]
fn t2_means_of_expressions() {
    let bytes = |text| mean(text, Quantity::Bytes);
    let times = |text| mean(text, Quantity::Time) / 1e6;
    let count = |text| mean(text, Quantity::Number);
    for (value, published) in [
        (bytes("lev(50 B, 11 B)"), "56.3"),
        (times("lev(13 ms, 3.7 ms)"), "15.1"),
        (bytes("lev(38 B, 3.7 B)"), "40.1"),
        (times("lev(15 ms, 5.7 ms)"), "18.3"),
        (bytes("lev(210 B, 35 B)"), "230"),
        (times("lev(28 ms, 4.2 ms)"), "30.4"),
        (bytes("lev(92 B, 38 B)"), "114"),
        (times("lev(22 ms, 3.4 ms)"), "24.0"),
        (bytes("mix(22.4: normal(41 B, 3.2 B), 76.1: normal(1478.3 B, 11.6 B))"), "1151"),
        (bytes("clamp(pareto(20 B, 2.5), 20 B, 200 B)"), "32.9"),
        (count("clamp(pareto(2, 1.1), 2, 55)") - 2.0, "5.64"),
        (count("truncate(pareto(2, 1.1), 2, 55)") - 2.0, "4.37"),
        (count("weibull(1, 0.8099)"), "1.1232"),
        (bytes("clamp(exp(256258 B), 8 B, 1048586 B)"), "251977"),
        (bytes("truncate(exp(256258 B), 8 B, 1048586 B)"), "238449"),
    ] {
        assert!(rounds_to(value, published), "{value} for {published}");
    }
}

#[test]
fn t2_moments_of_the_web_objects_of_3gpp() {
    for ((mean, sd), (mu, sigma)) in
        [((10_710.0, 25_032.0), ("8.346", "1.366")), ((7_758.0, 126_168.0), ("6.166", "2.363"))]
    {
        let found = law::of_moments([mean, sd, 0.0]);
        assert!(rounds_to(found.0, mu) && rounds_to(found.1, sigma), "{found:?}");
    }
}

#[test]
fn t2_rates_of_models() {
    let files = |_: &str| Err("no files".to_owned());
    let rates = |text: &str| {
        let (call, _) = call(text, Dialect::Btu, &files).unwrap();
        let model = find(call.name()).unwrap();
        model.mean_rates(&call).map(crate::units::BitRate::mbps)
    };
    assert!(rounds_to(rates("voice-onoff()")[0] * 1e3, "22.5"));
    assert!(rounds_to(rates("voice-cbr()")[0] * 1e3, "64"));
    assert!(rounds_to(rates("video-11ax(class=bv6)")[0], "15.6"));
    assert!(rounds_to(rates("rpc(load=50 %, capacity=1 Gbit/s)")[0], "500"));
    assert!(rounds_to(rates("dash()")[0], "0.001") && rounds_to(rates("dash()")[1], "16.0"));
}

/// Linear and step differ by 42 and 53 %: which one is meant belongs to the name.
#[test]
fn t2_the_interpolation_decides_the_mean_of_a_workload() {
    let files = |_: &str| Err("no files".to_owned());
    let mean = |words: &str| {
        let text = format!("rpc({words}, load=50 %, capacity=1 Gbit/s)");
        let (call, _) = call(&text, Dialect::Btu, &files).unwrap();
        let claims = find("rpc").unwrap().claims(&call);
        match &claims[0].says {
            Says::Follows(law) | Says::FollowsRounded(law) => law.mean().unwrap(),
            other => panic!("{other:?}"),
        }
    };
    for (words, published) in [
        ("workload=websearch, between=linear", "1.71"),
        ("workload=websearch, between=step", "2.43"),
        ("workload=hadoop, between=linear", "0.120"),
        ("workload=hadoop, between=step", "0.184"),
    ] {
        assert!(rounds_to(mean(words) / 1e6, published), "{words}: {}", mean(words));
    }
}
