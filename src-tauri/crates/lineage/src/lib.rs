//! What came from what? ancestry, taint, staleness, and the drawing's layout.
