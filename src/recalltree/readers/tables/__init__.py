"""Tables: CSV and TSV, which need no other package, and what pyarrow reads."""
