"""An index on disk: manifest, generations, blobs, vectors, and their integrity."""
