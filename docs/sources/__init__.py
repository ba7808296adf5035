"""What the generated pages are made of: one module per kind of page, and what it says beside the code as YAML."""
