"""The paper's theory as code: trees grown by its rules, its constructions, its distributions."""
