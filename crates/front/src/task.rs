//! Tasks of the front. Each type of future gets its own copy of the runtime's code for a task, which is large on a
//! small board. All tasks from here have one type.

use std::pin::Pin;

use tokio::task::{AbortHandle, JoinHandle, JoinSet};

/// A task with any content.
type BoxedTask<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Starts a task.
pub(crate) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let boxed: BoxedTask<()> = Box::pin(future);
    tokio::spawn(boxed)
}

/// Starts a task of this set.
pub(crate) fn spawn_in<T: Send + 'static>(
    tasks: &mut JoinSet<T>,
    future: impl Future<Output = T> + Send + 'static,
) -> AbortHandle {
    let boxed: BoxedTask<T> = Box::pin(future);
    tasks.spawn(boxed)
}
