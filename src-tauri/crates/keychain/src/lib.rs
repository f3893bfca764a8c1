//! Where signing keys and secret values sleep: OS keychain, passphrase file, and the in-memory twin for tests.
