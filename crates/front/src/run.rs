//! `pos-front run`: starts all parts of the front and serves until the service is stopped.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pos_daemon::systemd::{Notify, watchdog_interval};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::agent::Agent;
use crate::browsers::Browsers;
use crate::caisse_ap::CaisseApTill;
use crate::callbacks::Callbacks;
use crate::certificate::{HostCertificate, Purpose, host_names};
use crate::config::FrontConfig;
use crate::customer::CustomersScreen;
use crate::doctor::Doctor;
use crate::found::Announcing;
use crate::front::{Front, POLICY, counters};
use crate::guard::Guard;
use crate::listen::{Listening, Served};
use crate::logo::Logo;
use crate::nexo::Nexo;
use crate::page::Page;
use crate::pairing::Pairings;
use crate::seen::SeenTill;
use crate::session::KnownSessions;
use crate::slots::Slots;
use crate::state::StateFolder;
use crate::task;
use crate::webhooks::Webhook;
use crate::zvt::ZvtTill;
use crate::{control, till_lines, zvt};

/// The interval at which the front checks whether the certificate must be renewed.
const CERTIFICATE_LOOKED_AT: Duration = Duration::from_secs(12 * 3600);

/// The reason why the service cannot start, as a sentence for a person.
pub(crate) type RunError = String;

/// Serves until SIGTERM or SIGINT. Calls `started` when nothing can fail any more.
pub(crate) async fn run(config: FrontConfig, now: fn() -> SystemTime, started: impl FnOnce()) -> Result<(), RunError> {
    let said = |error: &dyn std::error::Error| error.to_string();
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| said(&error))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| said(&error))?;
    let state = StateFolder::open(&config.state).map_err(|error| said(&error))?;
    let mut names = host_names(&config.names, &config.addresses());
    let certificate = match config.https.is_empty() {
        true => None,
        false => Some(renewed(&config, &state, &Purpose::page(), now)?),
    };
    if let Some(certificate) = &certificate {
        names.extend(certificate.made.borrow().network_name());
    }
    let tls = certificate.as_ref().map(|certificate| certificate.tls.clone());
    let mut listening = Vec::new();
    for address in &config.https {
        listening.push(Listening::bind(*address, tls.clone(), "[listen] in front.toml").await?);
    }
    for address in &config.http {
        listening.push(Listening::bind(*address, None, "[listen] in front.toml").await?);
    }
    let mut zvt = Vec::new();
    for till in &config.zvt {
        zvt.push((Arc::new(ZvtTill::new(till.clone(), now)), zvt::bind(till).await?));
    }
    let mut caisse_ap = Vec::new();
    for till in &config.caisse_ap {
        let listener = till_lines::bind(till.listen, "caisse-ap").await?;
        caisse_ap.push((Arc::new(CaisseApTill::new(till.clone(), now)), listener));
    }
    let (nexo, sessions) = Nexo::new(&config.nexo, &state, now)?;
    let nexo_listening = match config.nexo.listen {
        Some(address) => {
            let purpose = Purpose::nexo(config.nexo.common_name.as_deref());
            let certificate = renewed(&config, &state, &purpose, now)?;
            Some(Listening::bind(address, Some(certificate.tls), "listen in [nexo] of front.toml").await?)
        }
        None => None,
    };
    let control = control::bind(&config.control).map_err(|error| unusable(&config.control, &error))?;
    let urls: Vec<String> = listening.iter().map(Listening::url).collect();
    let certificate = certificate.map(|certificate| certificate.made);
    let announcement = config.announcement().zip(certificate.clone());
    let of_caisse_ap = caisse_ap.iter().map(|(till, _)| Arc::clone(&till.seen));
    let tills = zvt.iter().map(|(till, _)| Arc::clone(&till.seen)).chain(of_caisse_ap).chain(nexo.seen()).collect();
    let front = Arc::new(front(config, &state, (names, urls), certificate, tills, now)?);
    started();
    for url in &front.urls {
        tracing::info!(url, "listening");
    }
    let announcing =
        announcement.and_then(|(announcement, certificate)| Announcing::begin(&announcement, &certificate.borrow()));
    let (stop, stopped) = watch::channel(false);
    let (mut served, slots) = (JoinSet::new(), Arc::new(Slots::default()));
    for listening in listening {
        task::spawn_in(
            &mut served,
            listening.serve(Served::Front(Arc::clone(&front)), Arc::clone(&slots), stopped.clone()),
        );
    }
    if let Some(listening) = nexo_listening {
        tracing::info!(address = listening.url(), "listening for tills that speak nexo");
        nexo.resume().await;
        task::spawn_in(&mut served, listening.serve(Served::Nexo(Arc::new(nexo)), Arc::clone(&slots), stopped.clone()));
        for session in sessions {
            task::spawn_in(&mut served, session.run(Arc::clone(&front.agent), stopped.clone()));
        }
    }
    for (till, listener) in zvt {
        task::spawn_in(&mut served, till.run(listener, Arc::clone(&front.agent), state.clone(), stopped.clone()));
    }
    for (till, listener) in caisse_ap {
        let asked = (Arc::clone(&front.agent), Arc::clone(&front.payouts));
        task::spawn_in(&mut served, till.run(listener, asked, stopped.clone()));
    }
    task::spawn(control::serve(control, Arc::clone(&front)));
    let agent = Arc::clone(&front.agent);
    task::spawn(async move { agent.keep_watch(now).await });
    let (agent, own) = (Arc::clone(&front.agent), front.config.own_tills());
    task::spawn(async move { agent.watch_names(own).await });
    for webhook in &front.webhooks {
        let (agent, callbacks) = (Arc::clone(&front.agent), Arc::clone(&front.callbacks));
        task::spawn(Arc::clone(webhook).run(agent, callbacks, state.clone(), now));
    }
    let notify = Notify::from_env();
    notify.ready();
    notify.status(&format!("serves {}", front.urls.join(" ")));
    let mut watchdog = watchdog_interval().map(interval);
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = ticked(&mut watchdog) => notify.watchdog(),
        }
    }
    tracing::info!("stopping");
    notify.stopping();
    if let Some(announcing) = announcing {
        announcing.ends().await;
    }
    // This tells all services to shut down.
    let _ = stop.send(true);
    while served.join_next().await.is_some() {}
    let _ = std::fs::remove_file(&front.config.control);
    Ok(())
}

/// Waits until the watchdog must be told that the front is alive.
pub(crate) async fn ticked(watchdog: &mut Option<tokio::time::Interval>) {
    match watchdog {
        Some(watchdog) => {
            watchdog.tick().await;
        }
        None => std::future::pending().await,
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> RunError {
    format!("{}: {error}; make this user the owner of the folder, or change control in front.toml", path.display())
}

fn front(
    config: FrontConfig,
    state: &StateFolder,
    (names, urls): (Vec<String>, Vec<String>),
    certificate: Option<watch::Receiver<Arc<HostCertificate>>>,
    tills: Vec<Arc<SeenTill>>,
    now: fn() -> SystemTime,
) -> Result<Front, RunError> {
    let agent = Arc::new(Agent::at(config.agent.clone(), now()));
    let pairings = Pairings::restored(state.clone(), config.tills.clone(), Instant::now());
    let pairings = pairings.map_err(|error| error.to_string())?;
    let customer = Arc::new(CustomersScreen::restored(state.clone()).map_err(|error| error.to_string())?);
    let browsers = Arc::new(Browsers::restored(state.clone()).map_err(|error| error.to_string())?);
    let webhooks = config.webhooks.iter().map(|webhook| Webhook::new(webhook).map(Arc::new));
    let webhooks = webhooks.collect::<Result<Vec<_>, _>>()?;
    let callbacks = Callbacks::restored(state.clone(), &config.webhooks, now).map_err(|error| error.to_string())?;
    let logo =
        config.page.logo.as_deref().map(Logo::read).transpose().map_err(|(wrong, _)| format!("page.logo: {wrong}"))?;
    // The guard itself permits `localhost`, but only for connections from this board.
    let names = names.into_iter().filter(|name| name != "localhost").collect();
    let guard = Guard::new(names, config.origins.iter().map(|origin| origin.to_ascii_lowercase()).collect());
    let (wrong_tokens, sign_ins) = counters();
    let payouts = Arc::new(crate::payouts::Payouts::default());
    let (pairings, page, settings) = (Arc::new(pairings), Page::embedded(POLICY), std::sync::Mutex::new(None));
    Ok(Front {
        doctor: Doctor::at(&config.doctor),
        config,
        agent,
        browsers,
        pairings,
        payouts,
        customer,
        webhooks,
        callbacks: Arc::new(callbacks),
        guard,
        page,
        logo,
        certificate,
        wrong_tokens,
        sign_ins,
        sessions: KnownSessions::default(),
        settings,
        tills,
        urls,
        now,
    })
}

struct Certificates {
    made: watch::Receiver<Arc<HostCertificate>>,
    tls: watch::Receiver<Arc<rustls::ServerConfig>>,
}

/// Opens a certificate and renews it in time while the front runs.
fn renewed(
    config: &FrontConfig,
    state: &StateFolder,
    purpose: &Purpose,
    now: fn() -> SystemTime,
) -> Result<Certificates, RunError> {
    let names = host_names(&config.names, &config.addresses());
    let first = HostCertificate::open(state, purpose, &names, now()).map_err(|error| error.to_string())?;
    let (tls_sender, tls) = watch::channel(first.tls().map_err(|error| error.to_string())?);
    let (made_sender, made) = watch::channel(Arc::new(first));
    let (state, config, purpose) = (state.clone(), config.clone(), purpose.clone());
    task::spawn(async move {
        let mut look = interval(CERTIFICATE_LOOKED_AT);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        look.tick().await;
        loop {
            look.tick().await;
            let names = host_names(&config.names, &config.addresses());
            let opened = HostCertificate::open(&state, &purpose, &names, now());
            match opened.and_then(|certificate| Ok((certificate.tls()?, certificate))) {
                Ok((tls, certificate)) => {
                    // This fails only if all receivers are gone because the front is stopping.
                    let _ = (tls_sender.send(tls), made_sender.send(Arc::new(certificate)));
                }
                Err(error) => {
                    tracing::error!(%error, "the certificate could not be renewed");
                    sleep(CERTIFICATE_LOOKED_AT / 12).await;
                }
            }
        }
    });
    Ok(Certificates { made, tls })
}
