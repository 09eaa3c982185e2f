//! Miura MPI (readers: 2).
