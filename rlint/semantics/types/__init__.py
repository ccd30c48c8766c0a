"""Infer what expressions hold: types, element types, devices, constants, containers.

Unknown is an answer. Knows neither how often code runs nor which rule asks.
"""
