"""What links say of entities beside their texts: features, rules, similar entities, calibration."""
