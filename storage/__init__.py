"""An index on disk: manifest, generations, blobs, vectors, graph, and their integrity."""
