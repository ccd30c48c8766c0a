"""What was measured of the rules: the files in `fixtures/<rule>/evidence/`, and what they say together."""
