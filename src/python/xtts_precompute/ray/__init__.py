"""`python -m xtts_precompute.ray`: builds the parts of a corpus on the machines of a Ray cluster.

Ray only says where a part is built. Data and results are on disks that all nodes see, and each part
is built by the program, as on one machine. docs/machines.md says how to use it.
"""
