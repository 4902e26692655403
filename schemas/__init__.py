"""What every row and file looks like. Imports nothing else of the project."""
