"""The labelling part of the write path: by classifiers at once, by the model of mode "single_call" anew."""
