"""Choose the functions of a program to call, from its text.

A program without a main part is called like a library: each function or method that contains a place of
interest.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from properties.names import FUNCTIONS as _FUNCTIONS


@dataclass(frozen=True)
class Parameter:
    """The static facts about a parameter."""

    name: str
    annotation: str = ""


@dataclass(frozen=True)
class Call:
    """A function to be called; `owner` is the class of a method, with the arguments of its constructor."""

    name: str
    parameters: tuple[Parameter, ...]
    owner: str = ""
    made_with: tuple[Parameter, ...] = ()
    lacks: tuple[str, ...] = ()
    """Attributes that the class's methods read and no code sets."""
    first: tuple[Call, ...] = ()
    """Other methods, which are called before."""


@dataclass(frozen=True)
class Plan:
    """All calls of a program, and how many values it unpacks."""

    calls: tuple[Call, ...]
    unpacked: Mapping[str, int]
    classes: Mapping[str, tuple[Parameter, ...]]


def plan_of(tree: ast.Module, lines: Collection[int]) -> Plan:
    """Plan calls of the functions that contain one of the lines; of all functions, if none does."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for wanted in (set(lines), None):
        calls = [
            Call(node.name, _parameters(node))
            for node in tree.body
            if isinstance(node, _FUNCTIONS) and _holds(node, wanted)
        ]
        for owner in classes.values():
            methods = [
                method
                for method in owner.body
                if isinstance(method, _FUNCTIONS) and method.name != "__init__"
            ]
            named = [Call(method.name, _parameters(method)[_bound(method) :]) for method in methods]
            calls += [
                replace(
                    call,
                    owner=owner.name,
                    made_with=_made_with(owner),
                    lacks=_lacks(owner),
                    first=tuple(other for other in named if other is not call)[:4],
                )
                for call, method in zip(named, methods, strict=True)
                if _holds(method, wanted)
            ]
        if calls:
            break
    made_with = {name: _made_with(node) for name, node in classes.items()}
    return Plan(tuple(calls[:4]), _unpacked(tree), made_with)


def _holds(node: ast.stmt, lines: Collection[int] | None) -> bool:
    return lines is None or any(node.lineno <= line <= (node.end_lineno or 0) for line in lines)


def _bound(method: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in method.decorator_list)
    return 0 if static else 1


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[Parameter, ...]:
    given = [*node.args.posonlyargs, *node.args.args]
    required = given[: len(given) - len(node.args.defaults)]
    return tuple(Parameter(a.arg, ast.unparse(a.annotation) if a.annotation else "") for a in required)


def _made_with(owner: ast.ClassDef) -> tuple[Parameter, ...]:
    for method in owner.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            return _parameters(method)[1:]
    fields = [node for node in owner.body if isinstance(node, ast.AnnAssign) and node.value is None]
    if owner.decorator_list:
        return tuple(Parameter(ast.unparse(f.target), ast.unparse(f.annotation)) for f in fields)
    return ()


def _lacks(owner: ast.ClassDef) -> tuple[str, ...]:
    found: dict[str, None] = {}
    known = {node.name for node in ast.walk(owner) if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
    for node in ast.walk(owner):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            if isinstance(node.ctx, ast.Load):
                found.setdefault(node.attr)
            else:
                known.add(node.attr)
    for node in owner.body:
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            if isinstance(target, ast.Name):
                known.add(target.id)
    return tuple(name for name in found if name not in known)


def _unpacked(tree: ast.Module) -> dict[str, int]:
    """The numbers of names to which the results of `env.step(…)` and `env.reset()`, and items of loops, are
    unpacked.
    """
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=parts)],
                value=ast.Call(func=ast.Attribute(attr=("step" | "reset") as name)),
            ):
                found[name] = len(parts)
            case ast.For(target=ast.Tuple(elts=parts), iter=(ast.Name(id=name) | ast.Attribute(attr=name))):
                found[name] = len(parts)
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Name(id=name)):
                found[name] = len(parts)
    return found
