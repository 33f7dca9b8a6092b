"""How fast a trainer's own way makes features: librosa decodes, resamples and computes mels.

The doctor's program runs this package in the user's Python. It needs the standard library alone to
be imported; librosa is imported when it measures.
"""
