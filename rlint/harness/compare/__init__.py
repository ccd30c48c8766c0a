"""Compare what a program does before and after its fixes: values, gradients, effects, random streams.

Answers where two runs differ. Measures nothing.
"""
