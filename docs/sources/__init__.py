"""What the generated pages are made of: a module for each kind of page, and beside the code what it says as YAML."""
