"""One operator, written by hand in the five usual ways and by opgen, against one list of checks."""
