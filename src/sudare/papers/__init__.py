"""The papers Sudare is built on, one module each: the paper's experiment, and its printed numbers beside ours.

`catalogue` lists them. A module has a function ``reproduce`` that repeats the experiment, with real data where they are
at hand and a synthetic stand-in that says so elsewhere, and a result that can be printed, written as CSV, drawn and
laid out as a page. What we read differently from what is printed is numbered in ``docs/explanation/errata.md``. Only
here, and in rehearsals, may a method be tuned on the true table: the papers do it, a publication must not. The command
is ``sudare reproduce``.
"""
