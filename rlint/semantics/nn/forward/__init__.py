"""Effects of the functions that networks consist of, as plain data for the summaries of files.

Answers what a function runs, draws, keeps and reads if it is part of a forward pass (`forward_summary`),
whether tensors that it computes can be seen other than by its result (`escaping_tensors`), and which networks
divide their input by 255 (`scaled_inputs`).
"""
