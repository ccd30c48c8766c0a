"""What RL304 writes in the place of a blend: the same in place, to the last bit where that can be."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Edit, Fix, Safety
from rlint.rules.networks.rl304_looped_target_update.blends import Blend, Lerp, Mix, Mixture, Step, root_of
from rlint.rules.networks.rl304_looped_target_update.taken_from import source_of
from rlint.semantics.model import Site
from rlint.semantics.nn.autograd import Autograd
from rlint.semantics.nn.made_networks import are_alike
from rlint.semantics.types.numbers import is_number, number_of
from rlint.syntax.scopes import How

ROUNDS = "`lerp_` rounds differently in the last digit, and takes tensors of one dtype only"
SHARES = "what shares memory with `{}` changes with it"
INTEGERS = "all tensors must hold floating-point numbers: integers cannot be blended in place"
RECORDED = "autograd must be off: what it records for `{}` changes"
NUMBER = "`{}` must be a number, no tensor: half precision rounds those differently"
SHAPES = "both tensors must have the same shape"
BUFFERS = "buffers of integers (as those of batch normalisation) cannot be blended in place"
ALIKE = "`{}` and `{}` must be alike in shape, type and device: an error comes after the first is scaled"
ORDER = "reading `{}` after `{}` must give the same"
NAMES = ("weighted", "weighted_parameter")


def fix_of(blends: list[Blend], site: Site) -> Fix | None:
    """Blend in place, all blends of a loop at once."""
    edits: list[Edit] = []
    doubts: dict[str, None] = {}
    for blend in blends:
        if site.has_comment(*site.span(blend.node)):
            return None
        if blend.named is not None:
            deleted = None if site.has_comment(*site.span(blend.named)) else site.delete(blend.named)
            if deleted is None:
                return None
            edits.append(deleted)
        written = _rewritten(blend, site)
        if written is None:
            return None
        edits += written[0]
        doubts.update(dict.fromkeys(written[1]))
    reason = "; ".join(doubts)
    safety = Safety.UNSAFE if doubts else Safety.SAFE
    return Fix("Blend in place", safety, tuple(edits), reason[:1].upper() + reason[1:] or None)


def _rewritten(blend: Blend, site: Site) -> tuple[list[Edit], list[str]] | None:
    """The edits that blend in place, and what speaks against them."""
    if blend.how == "made":
        return None
    if blend.how == "item":
        return _in_state(blend, site)
    if blend.how == "data":
        call = in_one_call(blend, site)
        written = site.text(blend.written)
        replaced = _replaced(blend, call, site) if is_complement(blend.mixture, site) else None
        return (replaced, [ROUNDS, SHARES.format(written)]) if replaced is not None else None
    mixture, written = blend.mixture, site.text(blend.written)
    doubts = []
    if isinstance(blend.node, ast.Assign):
        doubts.append(SHAPES)
    if not is_unrecorded(blend, site):
        doubts.append(RECORDED.format(written))
    source = source_of(blend.written, site)
    if not isinstance(mixture, Lerp) and (source is None or source.state):
        doubts.append(INTEGERS)
    if isinstance(mixture, Step):
        replaced = _replaced(blend, f"{written}.{mixture.sign}_({site.text(mixture.move)})", site)
    elif isinstance(mixture, Lerp):
        replaced = _replaced(blend, in_one_call(blend, site), site)
    else:
        exact = _in_two_lines(blend, mixture, site)
        if exact is not None:
            keep = mixture.keep
            if not is_number(keep, site):
                doubts.append(NUMBER.format(site.text(keep)))
            if site.span(keep) < site.span(mixture.share) and not _may_swap(keep, mixture.weight, site):
                doubts.append(ORDER.format(site.text(keep), site.text(mixture.weight)))
            return [exact], [*doubts, *_half_done(blend, site)]
        replaced = _replaced(blend, in_one_call(blend, site), site) if is_complement(mixture, site) else None
        doubts.append(ROUNDS)
    return (replaced, doubts) if replaced is not None else None


def _in_two_lines(blend: Blend, mixture: Mix, site: Site) -> Edit | None:
    """First the share of the new tensor, which may be the old one, then the rest in place."""
    if not isinstance(blend.node, ast.stmt) or not site.stands_alone(blend.node):
        return None
    name = site.free_local(NAMES, blend.node, "RL304")
    share, written = site.text(mixture.share), site.text(blend.written)
    share = f"({share})" if "\n" in share else share
    rest = f"{written}.mul_({site.text(mixture.keep)}).add_({name})"
    return site.replace_statement(blend.node, f"{name} = {share}", rest)


def _may_swap(keep: ast.expr, weight: ast.expr, site: Site) -> bool:
    """Whether the order makes no difference in which two factors are read: no property counts its reads."""
    return bool(site.effect_of(keep).quiet and site.effect_of(weight).quiet)


def _half_done(blend: Blend, site: Site) -> Iterator[str]:
    """Find what must hold for the second of two operations not to raise once the first has been done."""
    old, new = source_of(blend.mixture.old, site), source_of(blend.mixture.new, site)
    if old is None or new is None or not are_alike(old.network, new.network, site):
        yield ALIKE.format(site.text(blend.mixture.old), site.text(blend.mixture.new))
    elif _may_hold_integers(site):
        yield INTEGERS


def _may_hold_integers(site: Site) -> bool:
    """Whether the program makes parameters that need no gradient, which alone may be integers."""
    for call in site.tree.written.calls_of(("Parameter", "register_parameter")):
        if len(call.args) > 1 or call.keywords:
            return True
    return False


def in_one_call(blend: Blend, site: Site) -> str:
    """`old.lerp_(new, weight)`."""
    mixture = blend.mixture
    return f"{site.text(blend.written)}.lerp_({site.text(mixture.new)}, {site.text(mixture.weight)})"


def _replaced(blend: Blend, call: str, site: Site) -> list[Edit] | None:
    """The blend's call or statement, replaced by a call."""
    node = blend.node.value if isinstance(blend.node, ast.Expr) else blend.node
    if isinstance(node, ast.stmt) and not site.stands_alone(node):
        return None
    return [site.replace(node, call)]


def _in_state(blend: Blend, site: Site) -> tuple[list[Edit], list[str]] | None:
    """The tensors of a state dict are those of the network: nothing is left to load."""
    old, new = source_of(blend.mixture.old, site), source_of(blend.mixture.new, site)
    if old is None or new is None or not (old.state and new.state) or not is_complement(blend.mixture, site):
        return None
    replaced = _replaced(blend, in_one_call(blend, site), site)
    if replaced is None:
        return None
    return [*replaced, *_loaded_after(blend, old.network, site)], [ROUNDS, BUFFERS]


def _loaded_after(blend: Blend, network: ast.expr, site: Site) -> list[Edit]:
    """The removal of `network.load_state_dict(state)` right behind the loop."""
    loop = site.loops(blend.node)[0]
    if not isinstance(loop, ast.For) or not isinstance(blend.written, ast.Subscript):
        return []
    block, index = site.tree.block(loop)
    match block[index + 1 : index + 2]:
        case [
            ast.Expr(value=ast.Call(func=ast.Attribute(value=loaded, attr="load_state_dict"), args=[state]))
        ] as following if ast.dump(loaded) == ast.dump(network) and root_of(state) == root_of(
            blend.written.value
        ):
            deleted = site.delete(following[0])
            return [deleted] if deleted is not None else []
    return []


def is_complement(mixture: Mixture, site: Site) -> bool:
    """Do the weights of both tensors surely add up to one?"""
    if not isinstance(mixture, Mix):
        return True
    if _is_rest(mixture.keep, mixture.weight, site) or _is_rest(mixture.weight, mixture.keep, site):
        return True
    keep, weight = number_of(mixture.keep, site), number_of(mixture.weight, site)
    fixed = keep is not None and weight is not None and keep.fixed and weight.fixed
    return fixed and keep is not None and weight is not None and abs(keep.value + weight.value - 1) < 1e-9


def _is_rest(rest: ast.expr, weight: ast.expr, site: Site) -> bool:
    """`1 - weight`, written here or in the one place that a name gets its value from."""
    match rest:
        case ast.BinOp(left=ast.Constant(value=one), op=ast.Sub(), right=right):
            return one == 1 and ast.dump(right) == ast.dump(weight)
        case ast.Name():
            bindings = site.definitions(rest)
            if len(bindings) == 1 and bindings[0].how is How.ASSIGN and not bindings[0].path:
                value = bindings[0].value
                return isinstance(value, ast.BinOp) and _is_rest(value, weight, site)
    return False


def is_unrecorded(blend: Blend, site: Site) -> bool:
    """Does autograd surely not follow what is written?"""
    match blend.written:
        case ast.Attribute(attr="data") | ast.Call(func=ast.Attribute(attr="detach"), args=[]):
            return True
    return site.autograd_at(blend.node) is Autograd.OFF
