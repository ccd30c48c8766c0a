"""What is known of the code before a rule looks: names, kinds, effects, calls, heat."""
