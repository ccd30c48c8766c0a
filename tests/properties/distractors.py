"""All distractors: code that real programs have near a pattern, and that a fix must take into account.

Each changes a draft in place, and returns whether that was possible. They may change the results of the
program: the changed program is run before and after its fixes.
"""

from __future__ import annotations

from collections.abc import Callable

from properties import binding, enclosing, replacing, varying, watching
from properties.draft import Draft

Distractor = Callable[[Draft], bool]

DISTRACTORS: tuple[Distractor, ...] = (
    watching.keep_alias, watching.tell, watching.look_after, watching.look_in_between, watching.pass_on,
    watching.change, watching.look_by_name,
    binding.rebind, binding.delete, binding.swap, binding.declare_global, binding.shadow, binding.take_names,
    binding.comprehend, binding.walrus, binding.match_it, binding.bind_around, binding.put_off,
    enclosing.enclose, enclosing.fail, enclosing.leave_early, enclosing.make_generator,
    enclosing.make_coroutine, enclosing.nest, enclosing.decorate, enclosing.in_class_body,
    replacing.import_otherwise, replacing.patch, replacing.watch_attributes, replacing.subclass,
    varying.repeat, varying.reorder, varying.drop, varying.vary_constant, varying.vary_constant,
    varying.vary_expression, varying.vary_assignment,
)  # fmt: skip
