"""Lee, Sim & Ye 2022, Support Vectors and Gradient Dynamics of Single-Neuron ReLU Networks."""
