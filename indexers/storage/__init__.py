"""What an index is on disk: blobs in LMDB, their manifest, and generations."""
