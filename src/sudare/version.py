"""The version of Sudare, for certificates and pages; every layer may ask for it."""

__version__ = "0.2.0"
