//! A network without a link, as after someone has pulled the cable. No card is asked for, and the status says so.

use std::time::Duration;

use crate::world::World;
use crate::world::cut_points::{Phase, PointKind};
use crate::world::tills::{TillResult, Wish};
use pos_terms::transaction::Kind;
use tokio::time::sleep;

const HOUR: Duration = Duration::from_secs(3600);

/// Returns the number of requests that the gateway has read.
fn asked(world: &World) -> usize {
    let state = world.lock();
    state.points.seen().iter().filter(|place| **place == PointKind::Gateway(Phase::RequestRead)).count()
}

#[test]
fn without_a_link_no_sale_begins_and_with_it_the_next_one_does() {
    let world = World::new("on waiting: tap tap");
    world.lock().points.plan(None);
    world.lock().wishes = (1..=3).map(|number| Wish::new(number, Kind::Sale, 500)).collect();
    world.boot(async |mut till| {
        till.until_ready().await;
        sleep(HOUR).await;
        assert_eq!(till.attention().await, [""; 0]);
        let before = asked(&world);
        world.lock().no_link = true;
        assert!(!till.is_ready().await);
        let attention = till.attention().await;
        let [why] = &attention[..] else { panic!("{attention:?}") };
        assert!(why.contains("the network has no link (eth0)"), "{why}");
        till.wants(0).await;
        let told = world.lock().wishes[0].told.clone();
        let Some(TillResult::Unknown(why)) = told.last() else { panic!("{told:?}") };
        assert!(why.contains("the network has no link (eth0)"), "{why}");
        assert_eq!(asked(&world), before);
        world.lock().no_link = false;
        assert!(till.is_ready().await);
        till.wants(1).await;
        let told = world.lock().wishes[1].told.clone();
        assert!(matches!(told.last(), Some(TillResult::Approved { minor: 500 })), "{told:?}");
    });
}

#[test]
fn a_gateway_is_probed_when_the_link_is_back() {
    let world = World::new("");
    world.lock().points.plan(None);
    world.boot(async |till| {
        till.until_ready().await;
        // Without a watchdog, the loop looks at the link once an hour.
        sleep(2 * HOUR).await;
        let before = asked(&world);
        world.lock().no_link = true;
        sleep(2 * HOUR).await;
        assert_eq!(asked(&world), before);
        world.lock().no_link = false;
        sleep(2 * HOUR).await;
        assert_eq!(asked(&world), before + 1, "long before the daily probe");
    });
}
