//! Recordings of readers, written by `pos-agent reader trace`. Each file of the folder plays to a session without the
//! reader. A reader that behaves in a new way becomes a test when its recording is put there.

use std::path::Path;

use pos_test_kit::recording;

#[test]
fn each_recording_plays_to_a_session_without_the_reader() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reader/recordings");
    let mut played = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        println!("{}", path.display());
        recording::play_file(&path);
        played += 1;
    }
    println!("{played} recordings played");
    assert!(played > 0);
}
