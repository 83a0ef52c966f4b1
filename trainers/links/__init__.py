"""Link prediction: Hyper-CL and other architectures, ComplEx, and cross-encoders for re-ranking."""
