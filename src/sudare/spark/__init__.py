"""What a kind needs to compute inside a Spark cluster: where cells are kept, and how parts become files.

The kinds themselves stand in their own rooms: `sudare.tables.spark` counts and releases tables there,
`sudare.reconstruct.spark` perturbs records, `sudare.local.spark` tallies the reports of devices. Each part of a
release has noise from a key of its own, so that a task that is run again repeats its noise and the result does not
depend on how many workers there are. See docs/explanation/cluster.md.
"""
