"""Why a GPU waits: judges what was measured of a machine, a corpus, a cache and a training, and says it."""
