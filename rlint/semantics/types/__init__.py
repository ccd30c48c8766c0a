"""Infer what expressions hold: types, element types, devices, constants, containers.

Answers with a `Type`; unknown is one of them.
Must not know effects, networks, threads, nor any rule.
"""
