"""The demonstration: next-token prediction over the source of Python's standard library."""
