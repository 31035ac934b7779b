"""Lee, Sim & Ye 2023, Magnitude and Angle Dynamics in Training Single ReLU Neurons."""
