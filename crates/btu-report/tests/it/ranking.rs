//! The ranking of the paper in every format, and rankings of the fixture.

use btu_core::ranking::Setting;
use btu_core::run::analysis::analyse;
use btu_report::Candidate;
use btu_report::FORMATS;
use btu_report::MarkResult;
use btu_report::PriceResult;
use btu_report::RankedHost;
use btu_report::Ranking;
use btu_report::compose_ranking;
use btu_report::ranking;
use btu_report::render_ranking;

use crate::fixture;
use crate::hostile;
use crate::page::assert_structure;

/// Table 1 of maly1996.
//= maly1996#5 table 1
fn table_1() -> Ranking {
    let machine = |name: &str, btu: f64, penalty: f64, mark: f64, price: f64| Candidate {
        host: RankedHost {
            name: name.to_owned(),
            btu_mbps: Some(btu),
            btu_reason: Some("1 pass, no interval".to_owned()),
            penalty_percent: Some(penalty),
            passes: 1,
            marks: vec![MarkResult { name: "SPEC'92".to_owned(), value: mark, source: None }],
            price: Some(PriceResult { amount: price, currency: "USD".to_owned(), date: None }),
            trust: "unsigned".to_owned(),
            ..RankedHost::default()
        },
        passes: vec![btu],
    };
    let machines = vec![
        machine("Sparc5 (SunOS 4.1.4)", 2.19, 28.0, 65.3, 7745.0),
        machine("Sparc20", 2.87, 20.0, 76.9, 15195.0),
        machine("Sparc5 (Solaris)", 2.45, 33.0, 65.3, 7745.0),
        machine("PC (Linux)", 2.72, 21.0, 32.2, 2900.0),
    ];
    ranking(machines, None, false)
}

fn rendered(format: &str, ranking: &Ranking) -> String {
    let document = compose_ranking(ranking);
    String::from_utf8(render_ranking(format, &document, ranking).unwrap()).unwrap()
}

#[test]
fn table_1_of_the_paper_reads_the_same_as_ever_in_every_format() {
    for format in FORMATS.iter().filter(|format| format.name() != "html") {
        let name = format!("ranking.{}", format.extension());
        insta::assert_snapshot!(name, rendered(format.name(), &table_1()));
    }
    let page = rendered("html", &table_1());
    for text in ["Sparc20", "2.87", "15,195 USD", "65.3", "Spearman rho 0.32 over 4 hosts"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_page_of_several_hosts_has_both_figures_of_the_paper() {
    let journal = fixture::journal();
    let analysis = analyse(&journal);
    let of = |name: &str| Candidate::of(name, &journal, &analysis, "self-signed", &[]);
    let setting = Setting::of(&journal);
    let shown = ranking(vec![of("a"), of("b")], Some(&setting), true);
    let page = rendered("html", &shown);
    assert_structure(&page, 2);
    assert!(page.contains("NOT A RANKING") && page.contains("class=\"host c1\""));
    assert_eq!(
        shown.hosts.iter().filter_map(|host| host.rank.as_deref()).collect::<Vec<_>>(),
        ["1-2", "1-2"]
    );
    let apart = ranking(vec![of("a"), of("b")], Some(&setting), false);
    assert!(apart.hosts.is_empty() && apart.not_ranked.len() == 2);
    assert!(rendered("text", &apart).contains("* a, BTU"));
}

#[test]
fn no_name_of_a_host_becomes_markup() {
    let journal = fixture::tiny_journal();
    let analysis = analyse(&journal);
    let plain = ranking(vec![Candidate::of("a", &journal, &analysis, "", &[])], None, true);
    let elements = rendered("html", &plain).matches('<').count();
    for name in hostile::strings() {
        let candidate = Candidate::of(&name, &journal, &analysis, "", &[]);
        let shown = ranking(vec![candidate], None, true);
        assert_eq!(rendered("html", &shown).matches('<').count(), elements, "{name:.40}");
        let rows = rendered("csv", &shown);
        assert!(
            !rows.contains("\n=") && !rows.contains(",=") && !rows.contains(",@"),
            "{name:.40}"
        );
    }
}

#[test]
fn prices_of_two_currencies_predict_nothing() {
    let mut two = table_1();
    let hosts = two.hosts.drain(..).enumerate().map(|(place, mut host)| {
        host.price = host.price.map(|mut price| {
            price.currency = if place == 0 { "EUR" } else { "USD" }.to_owned();
            price
        });
        let passes = vec![host.btu_mbps.unwrap()];
        Candidate { host, passes }
    });
    let found = ranking(hosts.collect(), None, false);
    assert_eq!(found.correlations[0].rho_reason.as_deref(), Some("prices in EUR and USD"));
    assert!(found.correlations[1].rho.is_some());
}
