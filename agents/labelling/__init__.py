"""The labelling part of the write path: by classifiers at once, by a model in batches, and what may be refined later."""
