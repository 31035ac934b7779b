"""A page of the book on a reader's own data, as one HTML file and as a notebook."""
