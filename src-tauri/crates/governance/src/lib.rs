//! May it? classification, policy profiles, risk, approvals, witnesses, grants; mints Authorization.
