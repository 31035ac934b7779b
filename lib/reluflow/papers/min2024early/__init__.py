"""Min, Mallada & Vidal 2024: early alignment of two-layer ReLU networks, from tiny starts."""
