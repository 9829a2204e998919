"""The papers Sudare is built on, one module each: the paper's experiment, and its printed numbers beside ours.

A module has a function ``reproduce`` that repeats the experiment, with the real census where it is at hand and a
synthetic stand-in that says so elsewhere, and a result that can be printed, written as CSV and drawn. ``sparse_l2`` is
the paper on negative l2 regularisation, ``top_down`` the one on Privelet and top-down refinement. Only here, and in
rehearsals, may a method be tuned on the true table: the papers do it, a publication must not. The command is
``sudare reproduce``.
"""
