"""Lee, Sim & Ye 2022a, Support Vectors and Gradient Dynamics of Single-Neuron ReLU Networks."""
