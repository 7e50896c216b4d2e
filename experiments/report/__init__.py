"""The page of results: written from the stored results alone."""
