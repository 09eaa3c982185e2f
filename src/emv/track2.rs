//! Track 2 and tag 57: PAN, expiry, service code. Only masked data ever passes here in the agent; the simulators use it
//! with test cards.
