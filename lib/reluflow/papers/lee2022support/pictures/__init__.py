"""Pictures of the paper, drawn from computed objects."""
