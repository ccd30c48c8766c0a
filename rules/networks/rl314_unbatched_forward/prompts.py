"""Texts that a loop generates for one prompt at a time, or that a language model reads one by one."""

from __future__ import annotations

import ast
import re

from rlint.rule import (
    AnyLoop,
    Binding,
    SemanticModel,
    TypeTag,
    descendants,
    is_in,
    last_name,
    models,
    one_row_batches,
    regex,
)

_TOKENISES = regex(r"(^|_)(tokeni[sz]er?|processor|encode|encode_plus|apply_chat_template)$")
_ONE = regex(
    r"(^|_)(prompt|question|query|text|example|sample|problem|messages?|conversation|chat|dialog|instruction"
    r"|item|row|entry|doc|sentence)$"
)
_PARTS = regex(r"batch|chunk|split|shard|loader|group", re.IGNORECASE)
_LEAVES = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Await)
_ADDS = models.mutators(TypeTag.LIST, TypeTag.DICT)
_TENSORS = "return_tensors"
_DEPTH = 5


def is_generated_per_prompt(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether each iteration of a loop tokenises one prompt and generates from it alone: not from texts of
    earlier iterations, and not to train on the result before the next one.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "generate":
        return False
    return _is_run_per_text(call, loop, model)


def is_run_per_text(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether each iteration of a loop tokenises one text and runs a language model on it, such as one that
    scores texts: `reward_model(**tokenizer(text, return_tensors="pt")).logits`.
    """
    names = {keyword.arg for keyword in call.keywords}
    if names.isdisjoint({None, "input_ids"}) or _is_tokenizer(call, model):
        return False
    run = model.nn.network_run(call)
    if run is None:
        path = model.names.qualified(call.func)
        if path is not None or model.types.type_of(call.func) or model.types.call_targets(call):
            return False
    elif run[1] != "forward" or not model.types.type_of(run[0]).of.startswith("transformers."):
        return False
    return _is_run_per_text(call, loop, model)


def _is_run_per_text(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    clauses = _clauses(loop)
    if len(clauses) != 1:
        return False
    [clause] = clauses
    if any(isinstance(node, _LEAVES) for node in descendants(loop)) or model.nn.takes_gradient_steps(loop):
        return False
    if model.types.type_of(clause.iter).tag is TypeTag.LOADER or _is_part(clause.iter):
        return False
    look = _Prompt(call, loop, model)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return all(look.follow(value, _DEPTH) for value in given) and look.is_one and not look.is_carried()


def _clauses(loop: AnyLoop) -> list[ast.For | ast.AsyncFor | ast.comprehension]:
    if isinstance(loop, ast.While):
        return []
    return [loop] if isinstance(loop, (ast.For, ast.AsyncFor)) else [*loop.generators]


def _is_part(value: ast.expr) -> bool:
    return any(
        _PARTS.search(node.id if isinstance(node, ast.Name) else node.attr)
        for node in descendants(value)
        if isinstance(node, (ast.Name, ast.Attribute))
    )


def _row_cut_out(node: ast.AST) -> ast.expr | None:
    """Return the index of a slice that cuts out one row: `i` in `ids[i : i + 1]`."""
    match node:
        case ast.Subscript(
            slice=ast.Slice(
                lower=ast.Name(id=first) as index,
                upper=ast.BinOp(left=ast.Name(id=second), op=ast.Add(), right=ast.Constant(value=1)),
            )
        ) if first == second:
            return index
    return None


def _is_tokenizer(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call tokenises texts: by the type of what it calls, its name, or the tensors that it is asked
    for.
    """
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return (
        TypeTag.TOKENIZER in (model.types.type_of(call.func).tag, model.types.type_of(owner).tag)
        or _TOKENISES.search(last_name(call.func) or "") is not None
        or any(keyword.arg == _TENSORS for keyword in call.keywords)
    )


def _takes_one_text(call: ast.Call) -> bool:
    """Whether a tokenizer returns tensors without padding, which it only does for one text, or several of the
    same length.
    """
    given = {keyword.arg for keyword in call.keywords}
    return _TENSORS in given and given.isdisjoint({None, "padding", "pad_to_max_length"})


def _is_in_slice(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a name is part of a slice, which takes several items: `prompts[i : i + size]`."""
    return any(isinstance(around, ast.Slice) for around in model.ancestors(name))


class _Prompt:
    """The inputs of one generation, within an iteration of its loop."""

    def __init__(self, call: ast.Call, loop: AnyLoop, model: SemanticModel) -> None:
        self.call = call
        self.loop = loop
        self.model = model
        self.is_one = False
        self._outer: set[str] = set()
        self._seen: set[ast.expr] = set()

    def follow(self, value: ast.expr, depth: int) -> bool:
        """Look at an expression and the values of its names. Return False if it may depend on an earlier
        iteration.
        """
        if value in self._seen:
            return True
        if depth <= 0:
            return False
        self._seen.add(value)
        for node in descendants(value):
            if isinstance(node, ast.Call) and _is_tokenizer(node, self.model):
                only_one = _takes_one_text(node)
                self.is_one |= any(
                    self._holds_one(text, by_any_name=only_one)
                    for text in (*node.args, *(each.value for each in node.keywords))
                )
            row = one_row_batches.only_row(node, self.model) or _row_cut_out(node)
            self.is_one |= row is not None and self._holds_item(row)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not self._name(node, depth):
                return False
        return True

    def _name(self, name: ast.Name, depth: int) -> bool:
        bindings = self.model.dataflow.definitions(name)
        inside = [binding for binding in bindings if is_in(binding.node, self.loop)]
        if not inside:
            self._outer.add(name.id)
            return True
        position = self.model.dataflow.order.position
        return all(
            self._is_item(binding)
            or (
                binding.value is not None
                and not is_in(self.call, binding.statement)  # `history += model.generate(...)`
                and position(binding.value) < position(self.call)
                and self.follow(binding.value, depth - 1)
            )
            for binding in inside
        )

    def _is_item(self, binding: Binding) -> bool:
        """Whether the loop itself binds a name."""
        return any(is_in(binding.node, clause.target) for clause in _clauses(self.loop))

    def _holds_item(self, value: ast.expr) -> bool:
        """Whether an expression reads a variable of the loop."""
        return any(
            isinstance(node, ast.Name) and any(map(self._is_item, self.model.dataflow.definitions(node)))
            for node in descendants(value)
        )

    def _holds_one(self, text: ast.expr, depth: int = _DEPTH, *, by_any_name: bool) -> bool:
        """Whether a tokenised text is one prompt: `prompts[i]`, `prompt`, or a text that contains it; an item
        `by_any_name` if only one text can be tokenised.
        """
        for node in descendants(text):
            if not isinstance(node, ast.Name):
                continue
            bindings = self.model.dataflow.definitions(node)
            inside = [binding for binding in bindings if is_in(binding.node, self.loop)]
            if any(map(self._is_item, inside)):
                around = self.model.parent(node)
                if isinstance(around, ast.Subscript) and around.slice is node:
                    return True
                is_named = by_any_name and not _is_in_slice(node, self.model)
                if (is_named or _ONE.search(node.id)) and not _PARTS.search(node.id):
                    return True
            elif depth > 0 and any(
                binding.value is not None
                and self._holds_one(binding.value, depth - 1, by_any_name=by_any_name)
                for binding in inside
            ):
                return True
        return False

    def is_carried(self) -> bool:
        """Whether the loop adds to a value that its inputs come from, as a conversation does."""
        for node in descendants(self.loop):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                    if name in self._outer and method in _ADDS:
                        return True
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                    if name in self._outer:
                        return True
                case ast.Name(id=name, ctx=ast.Store()) if name in self._outer:
                    return True
        return False
