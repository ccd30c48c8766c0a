"""Compare the behaviour of a program before and after its fixes: values, gradients, effects, random streams.

Answers where two runs differ. Measures nothing.
"""
