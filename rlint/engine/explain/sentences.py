"""Answers of the semantic model as sentences, and whether they are unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from rlint.engine.explain.question_record import Question
from rlint.enums import Enum
from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.models.value_type import Device, Type, TypeTag, alternatives
from rlint.semantics.model import SemanticModel

_LONGEST = 48
_NO_REASON = "its code does not have the form that the rule looks for"
_MOST_LISTED = 3


@frozen
class Sentence:
    """One answer as a sentence. `is_unknown` says that the model does not know the answer."""

    text: str
    is_unknown: bool = False


def shown(node: ast.AST, model: SemanticModel) -> str:
    """Return the code of a node in backticks, on one line and shortened."""
    start, end = model.source.header_span(node)
    code = " ".join(model.syntax.text[start:end].split())
    return f"`{code if len(code) <= _LONGEST else code[: _LONGEST - 1] + '…'}`"


def described(kind: Type) -> str:
    """Return a description of a type: "a tensor on the host (float32)"; "" for the unknown type."""
    if not kind:
        is_name = kind.of.replace("_", "").replace(".", "").isalnum()
        return f"`{kind.of}`, which rlint does not know" if is_name else ""
    named = "a network" if kind.tag is TypeTag.MODULE else _with_article(kind.tag.value)
    if kind.tag in (TypeTag.INSTANCE, TypeTag.MODULE, TypeTag.ENVIRONMENT, TypeTag.CLASS) and kind.of:
        classes = " or ".join(f"`{each}`" for each in alternatives(kind.of))
        named += f" of {classes}" if kind.tag is TypeTag.INSTANCE else f" ({classes})"
    if kind.tag is TypeTag.TENSOR:
        named += {
            Device.UNKNOWN: " on an unknown device",
            Device.HOST: " in host memory",
            Device.CUDA: " on a CUDA device",
            Device.OTHER: " on another accelerator",
        }[kind.device]
    if kind.tag is TypeTag.DEVICE and kind.device is not Device.UNKNOWN:
        named += f" ({kind.device.value})"
    more = [kind.dtype] if kind.dtype else []
    more += [f"{kind.rank} dimensions"] if kind.rank is not None else []
    more += ["or None"] if kind.optional else []
    if kind.item is not None and kind.item:
        more.append(f"each item {described(kind.item)}")
    return named + (f" ({', '.join(more)})" if more else "")


def _with_article(noun: str) -> str:
    return noun if noun == "none" else f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


_Describer = Callable[[str, Any], Sentence | None]


def _yes_no(yes: str, no: str, *, unknown_if_no: bool = False) -> _Describer:
    """Return a function that describes a truth value; `{}` is replaced by the code."""
    return lambda code, answer: (
        Sentence(yes.format(code)) if answer else Sentence(no.format(code), is_unknown=unknown_if_no)
    )


def _some(some: str, none: str) -> _Describer:
    """Return a function that describes a collection, whose being empty means that the answer is unknown."""
    return lambda code, answer: (
        Sentence(some.format(code, _described(answer)))
        if answer
        else Sentence(none.format(code), is_unknown=True)
    )


def _type(code: str, answer: Type) -> Sentence:
    text = described(answer)
    if not answer:
        return Sentence(f"the type of {code} is not known" + (f" ({text})" if text else ""), is_unknown=True)
    is_open = answer.tag is TypeTag.TENSOR and answer.device is Device.UNKNOWN
    return Sentence(f"{code} is {text}", is_unknown=is_open)


def _device(code: str, answer: Device) -> Sentence:
    if answer is Device.UNKNOWN:
        return Sentence(f"the device that {code} names is not known", is_unknown=True)
    return Sentence(f"{code} names the {answer.value} device")


def _heat(code: str, answer: Any) -> Sentence:
    return Sentence(f"{code} is {answer.level} ({' → '.join(answer.chain)})")


def _autograd(code: str, answer: Any) -> Sentence:
    if answer.value == "unknown":
        return Sentence(f"it is not known whether autograd is enabled at {code}", is_unknown=True)
    return Sentence(f"autograd is {answer.value} at {code}")


def _effect(code: str, answer: Any) -> Sentence:
    if answer.pure:
        return Sentence(f"{code} has no effect")
    if not answer.acts and not answer.quiet:
        return Sentence(f"the side effects of {code} are not known", is_unknown=True)
    return Sentence(f"{code} {answer.detail or 'reads state'}")


def _use(code: str, answer: Any) -> Sentence:
    said = {
        "READ": "is only read",
        "HANDED": "is passed to a call that may keep or modify it",
        "KEPT": "is stored or returned",
        "CHANGED": "is modified in place",
    }
    return Sentence(f"{code} {said.get(answer.escape_level.name, answer.escape_level.name.lower())}")


def _sinks(code: str, answer: Any) -> Sentence:
    labels = list(dict.fromkeys(sink.label.value for sink in answer))
    if not labels:
        return Sentence(f"the sinks of the gradient of {code} are not known", is_unknown=True)
    return Sentence(f"the result of {code} ends as: {', '.join(labels)}")


def _contained(code: str, answer: Any) -> Sentence:
    return (
        _sinks(code, answer)
        if answer
        else Sentence(f"a gradient may leave the function through the result of {code}")
    )


def _traced(code: str, answer: Any) -> Sentence:
    if answer.lost:
        return Sentence(
            f"the result of {code} cannot be traced: {'; '.join(cause.value for cause in answer.lost)}",
            is_unknown=True,
        )
    ends = ", ".join(sorted(label.value for label in answer.labels))
    return Sentence(f"the result of {code} is used, in all callers, as: {ends or 'nothing'}")


def _cadence(code: str, answer: Any) -> Sentence:
    if answer is None:
        return Sentence(f"no training loop is known to run {code}", is_unknown=True)
    keeps = (
        ", ".join(sorted(driver.value for driver in answer.drivers)) or "no environment steps and no batches"
    )
    if not answer.header:
        return Sentence(f"what runs the function around {code} performs each time: {keeps}")
    return Sentence(f"each iteration of the loop `{answer.header}` around {code} performs: {keeps}")


# Queries by which rules recognise forms of code (`names.qualified`) say nothing about a program.
_DESCRIBERS: dict[str, _Describer] = {
    "types.type_of": _type,
    "types.device_of": _device,
    "types.is_device": _yes_no("{} names a device", "{} need not name a device", unknown_if_no=True),
    "types.is_surely_device": _yes_no(
        "{} is always a device", "{} may be something other than a device", unknown_if_no=True
    ),
    "types.is_on_cpu": _yes_no(
        "{} runs only where there is no accelerator", "{} may run with an accelerator"
    ),
    "types.constant": lambda code, answer: Sentence(
        f"{code} is not a constant" if answer is None else f"{code} is a constant"
    ),
    "types.call_targets": _some("{0} calls {1}", "the function that {0} calls is not known"),
    "types.class_of_value": _some("{0} is of {1}", "the class of {0} is not known"),
    "types.is_setting": _yes_no(
        "{} is only assigned in the constructor", "{} may be reassigned", unknown_if_no=True
    ),
    "types.is_immutable": _yes_no("{} is immutable", "{} may be mutated", unknown_if_no=True),
    "types.tests_device": _yes_no("{} only tests the device", "{} tests more than the device"),
    "types.may_override": _yes_no("the program may override methods of {}", "no method of {} is overridden"),
    "types.maker_of": _some("{0} comes from {1}", "the origin of {0} is not known"),
    "names.is_captured": _yes_no("other code may change {}", "no other code changes {}"),
    "program.mentions": _yes_no(
        "the program sets a default device or dtype", "the program sets no default device or dtype"
    ),
    "frequency.heat_of": _heat,
    "frequency.runs_each_pass": _yes_no(
        "{} runs in each iteration", "{} is not known to run in each iteration", unknown_if_no=True
    ),
    "frequency.runs_by_role": _yes_no(
        "{} runs in every call of a function whose name says how often it is called",
        "the function around {} has known callers, or a name that does not say how often it is called",
    ),
    "frequency.may_be_warm": _yes_no(
        "the function around {} may be warm", "the function around {} is cold", unknown_if_no=True
    ),
    "frequency.cadence": _cadence,
    "frequency.driving_loop": lambda code, answer: (
        Sentence(f"no loop around {code} is known to be the training loop", is_unknown=True)
        if answer is None
        else Sentence(f"{code} is in a training loop of its own function")
    ),
    "frequency.drivers": _some(
        "the function around {0} performs {1}", "the function around {0} performs no steps"
    ),
    "frequency.guards": _some("{0} runs under {1}", "{0} runs unconditionally"),
    "frequency.conditions": _some("{0} runs under {1}", "{0} runs unconditionally"),
    "frequency.loops": lambda code, answer: Sentence(
        f"{code} is in a loop" if answer else f"{code} is not in a loop of its function"
    ),
    "usage.is_evaluation": _yes_no("{} is part of an evaluation", "{} is not part of an evaluation"),
    "frequency.is_called": _yes_no(
        "code of the project calls the function around {}",
        "no code of the project is known to call the function around {}",
        unknown_if_no=True,
    ),
    "frequency.takes_loop_items": _yes_no(
        "{} is an item of a caller's loop", "{} is not an item of a caller's loop"
    ),
    "gradients.autograd_at": _autograd,
    "gradients.gives_gradient": _yes_no(
        "{} may return a tensor that requires grad",
        "{} is not known to return a tensor that requires grad",
        unknown_if_no=True,
    ),
    "gradients.sinks": _sinks,
    "gradients.contained_sinks": _contained,
    "gradients.variable_sinks": _sinks,
    "gradients.traced": _traced,
    "nn.network_run": _some("{0} runs a network", "{0} is not known to run a network"),
    "nn.is_optimized": lambda code, answer: (
        Sentence(f"it is not known whether an optimizer updates {code}", is_unknown=True)
        if answer is None
        else Sentence(f"{'an' if answer else 'no'} optimizer updates {code}")
    ),
    "nn.runs_frozen": _yes_no(
        "{} runs a network whose weights do not require grad", "{} does not run a frozen network"
    ),
    "nn.is_frozen": _yes_no("the weights of {} do not require grad", "the weights of {} may require grad"),
    "nn.takes_gradient_steps": _yes_no("{} takes gradient steps", "{} takes no gradient step"),
    "effects.effect_of": _effect,
    "effects.call_effect": _effect,
    "effects.is_cheap": _yes_no("{} is cheap", "{} may be expensive"),
    "effects.is_repeatable": _yes_no(
        "{} returns the same value every time",
        "{} may return a different value every time",
        unknown_if_no=True,
    ),
    "effects.may_exhaust": lambda code, answer: Sentence(
        f"{code} may consume an iterator" if answer is not None else f"{code} consumes no iterator"
    ),
    "dataflow.use_of": _use,
    "dataflow.repetition": lambda code, answer: Sentence(
        f"{code} is not recomputed with the same values" if answer is None else f"{code} is recomputed"
    ),
    "dataflow.repeated": lambda code, answer: Sentence(
        f"{code} is not recomputed with the same values" if answer is None else f"{code} is recomputed"
    ),
    "dataflow.definitions": lambda code, answer: (
        Sentence(f"{code} is bound in {len(answer)} places", is_unknown=not answer)
        if len(answer) != 1
        else None
    ),
    "dataflow.unchanged_between": _yes_no(
        "{} does not change in between", "{} may change in between", unknown_if_no=True
    ),
    "dataflow.keeps": _yes_no(
        "{} does not change in between", "{} may change in between", unknown_if_no=True
    ),
    "dataflow.is_given_up": _yes_no("{} is not used afterwards", "{} is used afterwards"),
}


def sentence(question: Question, model: SemanticModel, cold: str) -> Sentence | None:
    """Return an answer in words; None for one that says nothing to a user. `cold` is why the line is cold."""
    codes = [shown(node, model) for node in question.nodes]
    if question.method == "heat_of" and question.answer.level is Heat.COLD:
        return Sentence(cold, is_unknown=True)
    if not question.part:
        return Sentence(question.method.format(*codes))
    code = codes[0] if codes else "it"
    describe = _DESCRIBERS.get(f"{question.part}.{question.method}")
    return describe(code, question.answer) if describe is not None else None


def _described(answer: Any) -> str:
    """Return an answer in a few words."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, str):
        return f"`{answer}`"
    if isinstance(answer, Enum):
        return str(answer.value)
    if isinstance(answer, ast.AST):
        return f"line {getattr(answer, 'lineno', '?')}"
    if isinstance(answer, (frozenset, set, tuple, list)):
        phrases = [
            _described(each)
            for each in (sorted(answer, key=str) if isinstance(answer, (frozenset, set)) else answer)
        ]
        more = [f"{len(phrases) - _MOST_LISTED} more"] if len(phrases) > _MOST_LISTED else []
        return ", ".join([*phrases[:_MOST_LISTED], *more])
    for name in ("text", "path"):
        value = getattr(answer, name, None)
        if isinstance(value, str):
            return f"`{value}`"
    return "something"


def reasons(
    queries: Sequence[Question], model: SemanticModel, cold: str, statement: ast.stmt
) -> tuple[str, ...]:
    """Return why a rule reported nothing: the reason that it gave itself, or else the last answers that it
    got, those about the code of the statement first, and of these the unknown ones. `cold` is why the line
    is cold.
    """
    own = [question for question in queries if not question.part][-1:]
    queried = [question for question in reversed(queries) if question.part]
    here = [question for question in queried if _is_about(question, statement, model)]
    last: dict[str, Sentence] = {}
    for question in (*own, *here, *queried):
        said = sentence(question, model, cold)
        if said is not None and said.text not in last:
            last[said.text] = said
            if len(last) == _MOST_LISTED:
                break
    found = [*last.values()]
    rest = sorted(found[len(own) :], key=lambda each: not each.is_unknown)
    return tuple(each.text for each in (*found[: len(own)], *rest)) or (_NO_REASON,)


def _is_about(question: Question, statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a query is about code of a statement: rules often search the rest of a file in addition."""
    return any(statement in (node, *model.ancestors(node)) for node in question.nodes)


def distinct(queries: Sequence[Question]) -> int:
    """Return the number of different queries."""
    return len({(question.part, question.method, question.nodes[:1]) for question in queries})
