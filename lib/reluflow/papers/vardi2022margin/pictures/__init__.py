"""Pictures of chapter 5: they take computed flows, limits, certificates and counts."""
