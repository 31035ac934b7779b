"""Vardi, Shamir, Srebro (2022), On Margin Maximization in Linear and ReLU Networks."""
