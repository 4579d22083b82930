"""Words and phrases without a tagger: ``tokens`` and its table of phrases, noun phrases in English and Chinese."""
