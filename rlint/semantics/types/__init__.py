"""Infer the types of expressions: element types, devices, constants, containers.

Answers with a `Type`, which may be unknown. Must not know effects, networks, threads, nor any rule.
"""
