//! The database of the fleet under test.

use std::path::{Path, PathBuf};

use crate::postgres;

const NAME: &str = "fleet";

pub(crate) struct Cluster(postgres::Cluster);

impl Cluster {
    pub(crate) fn start() -> Self {
        let cluster = postgres::Cluster::start();
        cluster.create_database(NAME);
        // A test that stops it as a power cut does must find what was committed.
        cluster.sql(NAME, &format!("alter database {NAME} set synchronous_commit = on"));
        Self(cluster)
    }

    /// The connection string for `pos-fleet`.
    pub(crate) fn url(&self) -> String {
        self.0.url(NAME)
    }

    /// Stops it as a power cut would, and starts it again. What was committed stays.
    pub(crate) fn restart(&mut self) {
        self.0.stop();
        self.0.resume();
    }

    /// Returns the answer of a statement, a row for each line and `|` between columns.
    pub(crate) fn sql(&self, statement: &str) -> String {
        self.0.sql(NAME, statement)
    }

    /// Runs statements that are too long for a command line.
    pub(crate) fn run(&self, statements: &str) {
        let file = self.0.file("statements");
        std::fs::write(&file, statements).unwrap();
        self.0.run_file(NAME, &file);
    }

    pub(crate) fn number(&self, statement: &str) -> i64 {
        self.sql(statement).parse().unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    /// Returns everything that the database holds, as text.
    pub(crate) fn dump(&self) -> String {
        self.0.dump(NAME)
    }

    pub(crate) fn back_up(&self) -> PathBuf {
        self.0.back_up(NAME)
    }

    pub(crate) fn restore(&self, backup: &Path) {
        self.0.restore(NAME, backup);
    }

    /// Imports the lines that `write` writes as a table with the columns of an entry's key. Returns their number.
    pub(crate) fn import(&self, table: &str, write: impl FnOnce(&Path)) -> i64 {
        let file = self.0.file(table);
        write(&file);
        let columns = "terminal text, journal text, first bigint, number bigint, digest bytea";
        self.sql(&format!("create table {table} ({columns})"));
        self.sql(&format!("\\copy {table} from '{}'", file.display()));
        self.number(&format!("select count(*) from {table}"))
    }
}
