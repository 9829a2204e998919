"""``python -m sudare``: the command line."""

from sudare.cli import main

if __name__ == "__main__":
    main(prog_name="sudare")
