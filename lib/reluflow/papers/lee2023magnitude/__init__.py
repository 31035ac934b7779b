"""Lee, Sim & Ye 2022b, Magnitude and Angle Dynamics in Training Single ReLU Neurons."""
