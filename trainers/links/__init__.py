"""Link prediction: Hyper-CL and the other architectures, ComplEx, and cross-encoders that rank again."""
