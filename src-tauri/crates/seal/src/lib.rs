//! Bytes to meaning: canonical JSON, digests, chain links, Merkle trees, checkpoints, disclosures, DSSE, Ed25519.
