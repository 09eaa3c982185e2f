//! The times at which the agent probes the gateway: at its start, once a day, and again within hours of a failure. Days
//! pass in milliseconds.

use std::time::Duration;

use crate::world::World;
use crate::world::cut_points::{Phase, PointKind};
use tokio::time::sleep;

const HOUR: Duration = Duration::from_secs(3600);

/// Returns the number of requests that the gateway has read and the number of connections.
fn asked(world: &World) -> (usize, usize) {
    let state = world.lock();
    let count = |phase| state.points.seen().iter().filter(|place| **place == PointKind::Gateway(phase)).count();
    (count(Phase::RequestRead), count(Phase::BeforeConnect))
}

#[test]
fn the_gateway_is_probed_at_start_and_daily() {
    let world = World::new("");
    world.lock().points.plan(None);
    world.boot(async |till| {
        till.until_ready().await;
        sleep(HOUR).await;
        assert_eq!(asked(&world), (2, 1), "at start, and whether the token is taken");
        // Each further probe comes at the latest an hour after a day has passed.
        sleep(75 * HOUR).await;
        assert_eq!(asked(&world), (5, 4), "once a day");
    });
}

#[test]
fn a_gateway_that_was_away_at_start_is_probed_again_the_same_day() {
    let world = World::new("");
    world.lock().points.plan(None);
    world.lock().bank.away = true;
    world.boot(async |till| {
        till.until_ready().await;
        sleep(6 * HOUR).await;
        let (answered, tried) = asked(&world);
        assert!(answered == 0 && (60..=95).contains(&tried), "{tried} tries in six hours");
        world.lock().bank.away = false;
        sleep(3 * HOUR).await;
        assert_eq!(asked(&world).0, 2, "it is back");
    });
}
