"""Values copied from the device one by one, or copied to the host and back.

## What it does
Flags the following in hot code of programs that use accelerators:

- Round trips, which copy numbers to the host and back to the device:
  `torch.from_numpy(x.cpu().numpy()).to(device)`. There may be computation in between, by torch or numpy, in
  the same step or until the next one, through variables, lists, attributes and functions:
  `rows[range(n), x.cpu().numpy()] = 1`, then `torch.from_numpy(rows).to(device)`.
- Several reads in one step that could be combined: `policy_loss.item()`, then `value_loss.item()`. They may
  be in a branch for a mode or setting (`if not self.training`, `if self.use_tensorboard`), if no other reads
  of the step are reported.
- One read in each of several methods that make up a step, or an iteration of the loop that calls them:
  `update_critic` and `update_actor` both return or log their loss, so the work of the second is not queued
  before the first has finished.
- A read in a loop over inner work (agents, members of an ensemble) that only stores what it reads, and a
  read in a function that a step calls several times, in such a loop or one after the other.
- A read of what is computed for each transition of a sampled batch, in a loop (`for transition in
  random.sample(memory, 32)`), or of each loss that a function returns by name.
- A read that a loop only appends to a list, or adds to a sum, which is not used before the loop ends:
  `values.append(value.cpu().numpy())`, `total += loss.item()`.
- A read that a function returns, if its callers' loops only add it to a sum or append it to a list that is
  not used before the loop ends: `total += self.update(batch)`.
- A condition on a device tensor that only decides which tensors are computed (`if mask.any(): values[mask] =
  0.0`), where a mask needs no condition. The host needs conditions that fill lists, concatenate tensors,
  write messages or step environments.
- A read in the middle of a forward pass, unless it is returned or `pack_padded_sequence` takes it.
- A read for callers that discard it: `_, log_probs = policy.sample(states)` in an update, though `sample`
  reads the actions for the environment.
- A read of the parameter of a function that is called for several tensors in one step, such as a logger's
  method that calls `value.item()`.
- A read for each tensor of a list, for each sample of a batch (`values[i, : ends[i]]`), or for each parameter
  of a network, in a loop.
- A constructor that reads the tensors in a list one by one, also if a loop has appended them:
  `torch.tensor([x.sum(), y.sum()])`.
- An array that is copied to the device for arithmetic only, and the result read back, also if a caller
  copies it.
- A tensor that is read as it was copied to the device, so that the host has its numbers already (`states =
  torch.from_numpy(x).to(device)`, then `states.cpu()`).
- A condition on a buffer or parameter of a network (`if self.count >= self.until`), and a buffer of integers
  that is read as a number (`start = int(self.queue_start)`).
- Device tensors that a loop stores in parts of a host tensor: `output[:, i] = action`, where `output =
  torch.zeros(4, 8)`.
- `min`, `max`, `sorted`, `any` or `all` of Python on a tensor, which compare element by element.
- A number on the device that is the index in each iteration of a loop (`for name in fields: rows[name][place]
  = values[name]`).
- A condition that reads each element of a tensor, also of a comprehension. (`item-per-element` covers
  elements that are read by `.item()` and similar calls.)
- A condition that ends a loop of inner work, such as the iterations of a solver or the tokens of a
  sequence (`if residual < tolerance: break`), or a `while` over steps of environments on the device, or that
  keeps the best result of its iterations (`if values[0] > best: best = values[0]`), and several conditions of
  an `if` and its `elif`.
- A number that is read only for arithmetic with device tensors, to limit or to fill them (`alpha =
  log_alpha.exp().item()`, then `alpha * log_probs`).
- An assertion about a device tensor (`assert (weights > 0).all()`), a condition on one that only raises an
  error or writes a message, and one that tests whether numbers are finite (`if not torch.isfinite(loss)`).
- A tensor in the text of a debug message (`logger.debug(f"loss: {loss}")`), which is formatted even if the
  level of the logger is higher.
- A loss that is computed on the host from copies of network outputs (`loss = (alpha *
  log_probs.cpu()).mean()`), so that `backward` copies the gradient back to the device.

These are reads: `.item()`, `.tolist()`, `.cpu()`, `.cpu().numpy()`, and `float()`, `int()` or `bool()` of a
tensor; a tensor that is printed, formatted (`"%.3f" % loss`) or passed to `add_scalar` or `wandb.log`; a
tensor in a condition, as the bound of a slice (`rows[first:last]`) or, without dimensions, as an index
(`rows[place] = row`); a tensor that `min`, `max`, `sorted`, `any`, `all` or `range` of Python compares or
counts with; and a call of a function or lambda of the project that does one of these (`to_np(action)`). A
value of unknown type with an `.item()` likely is a tensor of a device if the file imports no NumPy, or if the
line belongs to a gradient step or a forward pass.

The rule does not flag a single read per step, because the action has to reach the environment. Nor does it
flag a round trip of what an environment or a caller that is not seen gets as well, a read that needs the
result of another, reads at an interval or once after many iterations of a loop, and reads in evaluation
functions or in methods whose callers run them for statistics only.

## Why is it slow
The device runs asynchronously. A read synchronises with it: the host blocks until all queued work is done
and the value is copied. Meanwhile the host launches no new kernels, and the device then idles. Each further
read synchronises again. Values that are only logged can stay on the device, as `loss.detach()`, until they
are written. Values that are needed at the same time can be read together.

On the CPU there is no synchronisation, and reading a number costs one call. Concatenating tensors to read
them together takes longer there than reading them one by one. Removing a round trip or reading a whole
tensor at once does not take longer.

Up to four reads in a step, outside of inner loops, have a low impact; in a gradient step of a network for
images or sequences, up to twelve. So have the reads of a line search or a similar loop that ends as one of
them decides.

## Example
```python
import torch
from torch.nn import functional as F


def update(network, optimizer, batches, device):
    for states, returns in batches:
        advantages = returns - network(states)
        weights = torch.from_numpy(advantages.detach().cpu().numpy()).to(device)
        value_loss = F.mse_loss(network(states), returns)
        policy_loss = (weights * network(states)).mean()
        optimizer.zero_grad()
        (value_loss + policy_loss).backward()
        optimizer.step()
        value = value_loss.item()
        policy = policy_loss.item()
        print(f"value {value:.3f}, policy {policy:.3f}")
```

Use instead:

```python
import torch
from torch.nn import functional as F


def update(network, optimizer, batches, device):
    for states, returns in batches:
        advantages = returns - network(states)
        weights = advantages.detach().to(device)
        value_loss = F.mse_loss(network(states), returns)
        policy_loss = (weights * network(states)).mean()
        optimizer.zero_grad()
        (value_loss + policy_loss).backward()
        optimizer.step()
        value, policy = torch.stack((value_loss, policy_loss)).tolist()
        print(f"value {value:.3f}, policy {policy:.3f}")
```

## Fix safety
All fixes are unsafe. Without a round trip the numbers are the same, but the result may share memory with
the tensor that was read, where the round trip made a copy. Reads are combined only where all values are
certainly floating-point numbers, and where they are in one statement or in consecutive assignments; the
tensors must be on one device. Everything else gets advice, because the read has to move to another place in
the program.

## References
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
- https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    COMPREHENSIONS,
    AnyLoop,
    Autograd,
    CodeExtent,
    Device,
    Finding,
    Function,
    FunctionSummary,
    Heat,
    Loop,
    Rule,
    SemanticModel,
    SinkKind,
    TypeTag,
    descendants,
    is_in,
)
from rlint.rules.transfers._shared.in_steps import is_in_layer
from rlint.rules.transfers._shared.reads import read_of
from rlint.rules.transfers._shared.there_and_back import is_copied_to_host, leaves_device, ways_back
from rlint.rules.transfers.rl202_host_round_trip import round_trips, stacked
from rlint.rules.transfers.rl202_host_round_trip.computed_there import copy_there
from rlint.rules.transfers.rl202_host_round_trip.debug_messages import debug_message
from rlint.rules.transfers.rl202_host_round_trip.discarded import discarding_caller
from rlint.rules.transfers.rl202_host_round_trip.few_reads import (
    NEEDED,
    why_cheap,
    why_few_parts,
)
from rlint.rules.transfers.rl202_host_round_trip.forward_reads import is_in_forward_pass, layer_of
from rlint.rules.transfers.rl202_host_round_trip.host_copies import copied_from_host
from rlint.rules.transfers.rl202_host_round_trip.host_reads import (
    COPIES,
    READERS,
    HostRead,
    is_hot,
    is_supposed,
    may_use_accelerator,
    reads_at,
    reads_below,
    where,
)
from rlint.rules.transfers.rl202_host_round_trip.inner_work import is_repeated, sample_loop, storing_loop
from rlint.rules.transfers.rl202_host_round_trip.kept_reads import collecting_caller, collecting_loop
from rlint.rules.transfers.rl202_host_round_trip.listed_tensors import listed_tensors
from rlint.rules.transfers.rl202_host_round_trip.loop_tests import (
    choice_in_loop,
    loop_ended_by,
    tests_of_chain,
)
from rlint.rules.transfers.rl202_host_round_trip.masked_branches import decides_tensors
from rlint.rules.transfers.rl202_host_round_trip.mode_branches import log_switch
from rlint.rules.transfers.rl202_host_round_trip.probed import is_probed
from rlint.rules.transfers.rl202_host_round_trip.read_together import (
    drives,
    element_loop,
    others_of_step,
    step_of,
)
from rlint.rules.transfers.rl202_host_round_trip.sanity_checks import only_checks
from rlint.rules.transfers.rl202_host_round_trip.scales_tensors import use_with_tensor
from rlint.rules.transfers.rl202_host_round_trip.stored_on_host import stored_in, stores_in_host_tensors
from rlint.rules.transfers.rl202_host_round_trip.tested_state import tested_state
from rlint.rules.transfers.rl202_host_round_trip.value_trips import ValueTrip, value_trip

LONGEST_SHOWN = 40
NUMBERS = frozenset({"item", "float", "int", "bool"}) | {"if", "slice", "index"}
"""Reads of tensors that hold a single number."""


class HostRoundTrip(Rule):
    code = "RL202"
    name = "host-round-trip"
    seeds = ("S0.2",)
    claims = ("time:cuda", "sync:cuda")
    heat = Heat.HOT
    one_change_mends = CodeExtent.FUNCTION
    visits = (
        ast.Call,
        ast.BinOp,
        ast.FormattedValue,
        ast.If,
        ast.While,
        ast.IfExp,
        ast.Assert,
        ast.Slice,
        ast.Subscript,
        ast.comprehension,
        ast.Assign,
    )
    callees = READERS | round_trips.MAKERS | COPIES | {"format", "type"}
    triggers = ("torch", ".item()", ".cpu()", ".numpy()", ".tolist()")

    def concerns(self, model: SemanticModel) -> bool:
        """Whether a file may use a device."""
        uses: bool = may_use_accelerator(model)
        return uses

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        if isinstance(node, ast.Assign):
            yield from self.check_store(node, model)
            return
        if isinstance(node, ast.Call):
            trip = round_trips.round_trip(node, model)
            if trip is not None:
                yield self.finding(
                    model,
                    trip.moved,
                    f"`{shown(trip.read.tensor, model)}` is copied to the host only to be copied back, "
                    f"which synchronises with the device",
                    fix=round_trips.build_fix(trip, model),
                    advice="Use the device tensor itself (`.detach()`, and `.to(...)` for another dtype)",
                )
                return
            if leaves_device(node, model):
                yield from self.check_way_back(node, model)
            else:
                yield from self.check_list(node, model)
        for read in reads_at(node, model):
            if not is_hot(read, model):
                model.silent("{} reads the device, but is not known to run in each step", read.node)
            elif not model.once(is_others, read) and not is_probed(read.tensor, model):
                yield from self.check_read(read, model)

    def check_list(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `torch.tensor([x.sum(), y.sum()])`."""
        listed = listed_tensors(call, model)
        if listed is None or model.frequency.heat_of(call).level < self.heat:
            return
        first = shown(listed.tensors[0], model)
        more = len(listed.tensors) - 1
        read = f"`{first}` for each element" if listed.each else f"`{first}`"
        read += f" and {more} more" if more else ""
        back = ", only for the result to be copied back" if listed.returns else ", one by one"
        yield self.finding(
            model,
            call,
            f"`{shown(call.func, model)}` reads {read} from the device{back}: each synchronises",
            advice="Combine the tensors on the device: `torch.stack((...))`",
        )

    def check_store(self, assignment: ast.Assign, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first of the device tensors that loops store in one host tensor."""
        target = stored_in(assignment)
        if target is None or model.frequency.heat_of(assignment).level < self.heat:
            return
        function = model.function(assignment)
        every = model.once(stores_in_host_tensors, function) if function is not None else {}
        name, stores = target.id, every.get(target.id, [])
        if not stores or stores[0] is not assignment:
            return
        yield self.finding(
            model,
            assignment,
            f"`{shown(assignment.value, model)}` is copied to the host in every iteration of the loop, since "
            f"`{name}` is in host memory",
            advice=f"Create `{name}` on the device, with `device=`, and copy it once after the loop",
            related=[(other, "copied to the host here, too") for other in stores[1:]],
        )

    def check_way_back(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `probs = net(x).cpu()`, arithmetic, `probs = probs.cuda()`."""
        function = model.function(call)
        if function is None or model.frequency.heat_of(call).level < self.heat:
            return
        assert isinstance(call.func, ast.Attribute)
        if model.types.is_on_cpu(call) or where(call.func.value, model) in (None, Device.HOST):
            return
        text = shown(call.func.value, model)
        back = model.once(ways_back, function).get(call)
        if back is None:
            copies = model.once(differentiated_copies, function)
            if copies and copies[0] is call:
                yield self.finding(
                    model,
                    call,
                    f"`{text}` is copied to the host with its graph: the loss is computed there, and "
                    f"`backward` copies the gradient back to the device",
                    advice="Compute the loss on the device, and move the other operands there",
                    related=[(copy, "also copied with its graph") for copy in copies[1:]],
                )
            return
        yield self.finding(
            model,
            call,
            f"`{text}` is copied to the host and, in line {model.span_of(back)[0].line}, back to the "
            f"device, which synchronises, though everything computed in between could run on the device",
            advice="Keep it on the device, and move the other operands there",
            related=[(back, "back to the device")],
        )

    def check_read(self, read: HostRead, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the reads in the same loop or step."""
        if read.method == "each":
            yield self._of_compared(read, model)
            return
        loop = model.once(element_loop, read)
        if loop is not None:
            first = first_in(loop, model)
            if first is not None and first is read.node:
                yield self._found(
                    read,
                    model,
                    of_elements(read, model),
                    advice=advice_for_elements(read, loop, model),
                    minor=why_few_parts(loop, model),
                )
            return
        group = model.once(reported_together, step_of(read, model))
        if len(group) == 1:
            yield from self._of_parts(read, model)
        if len(group) < fewest(group):
            yield from self._of_few(read, model)
            return
        if group[0].node is not read.node:
            computed = value_trip(read, model)
            if computed is not None:
                yield self._of_trip(read, computed, model)
                return
            held = copied_from_host(read, model)
            if held is not None:
                yield self._of_held(read, held, model)
                return
            model.silent("{} is reported with the first read of its step", read.node)
            return
        yield self.finding(
            model,
            read.node,
            of_step(group, model),
            fix=stacked.build_fix(group, model),
            advice=advice_for_step(group),
            assumes=assumption(group, model),
            minor=why_cheap(group, model),
        )

    def _of_few(self, read: HostRead, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a read with few others in its step, by what the read is for."""
        held = copied_from_host(read, model)
        if held is not None:
            yield self._of_held(read, held, model)
            return
        there = copy_there(read, model)
        if there is not None:
            yield self._of_arithmetic(read, there, model)
            return
        state = tested_state(read, model)
        if state is not None:
            yield self._of_state(read, state, model)
            return
        if only_checks(read, model):
            yield self._of_check(read, model)
            return
        if read.method == "index":
            if is_bound_before(read, model):
                yield self._of_index(read, model)
            return
        scaled = use_with_tensor(read, model)
        if scaled is not None:
            yield self._of_operand(read, scaled, model)
            return
        yield from self._of_decision(read, model)

    def _of_decision(self, read: HostRead, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a read that decides something, that a step repeats or that nothing needs."""
        if loop_ended_by(read, model) is not None:
            yield self._of_ended_loop(read, model)
            return
        if choice_in_loop(read, model) is not None:
            yield self._of_choice(read, model)
            return
        chain = tests_of_chain(read, model)
        if len(chain) > 1:
            yield from self._of_chain(read, chain, model)
            return
        if decides_tensors(read, model):
            yield self._of_branch(read, model)
            return
        message = debug_message(read, model)
        if message is not None:
            yield self._of_message(read, message, model)
            return
        calls = calls_with_tensors(read, model)
        if calls > 1:
            yield self._of_called(read, calls, model)
            return
        found = self._of_one(read, model)
        if found is not None:
            yield found
            return
        if is_in_forward_pass(read, model):
            yield self._of_forward(read, model)
            return
        model.silent("{} is the only read of its step, which costs one synchronisation", read.node)

    def _of_one(self, read: HostRead, model: SemanticModel) -> Finding | None:
        """Return a finding for a single read that returns to the device, that a step repeats, or that a
        caller discards.
        """
        trip = value_trip(read, model)
        if trip is not None:
            return self._of_trip(read, trip, model)
        inner = storing_loop(read, model)
        if inner is not None:
            return self._of_inner_loop(read, inner, model)
        if sample_loop(read, model) is not None:
            return self._of_sample(read, model)
        caller = discarding_caller(read, model)
        if caller is not None:
            return self._of_discarded(read, caller, model)
        collected = collecting_loop(read, model)
        if collected is None and is_repeated(read, model):
            return self._of_repeated(read, model)
        collected = collected or collecting_caller(read, model)
        return self._of_collected(read, collected[1], model) if collected is not None else None

    def _found(
        self,
        read: HostRead,
        model: SemanticModel,
        message: str,
        *,
        advice: str,
        related: Sequence[tuple[ast.AST, str]] = (),
        minor: str | None = None,
    ) -> Finding:
        """Return a finding for one read, with what it assumes about the tensor."""
        return self.finding(
            model,
            read.node,
            message,
            advice=advice,
            assumes=placed([read], model),
            related=related,
            minor=minor,
        )

    def _of_compared(self, read: HostRead, model: SemanticModel) -> Finding:
        """Return a finding for a tensor whose elements Python compares one by one."""
        assert isinstance(read.node, ast.Call)
        function, tensor = shown(read.node.func, model), shown(read.tensor, model)
        better = f"`{tensor}.sort()`" if function == "sorted" else f"`{tensor}.{function}()`"
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` compares the elements of a tensor one by one, and synchronises "
            f"with the device for each",
            advice=f"Compute it on the device, and read the result: {better}",
        )

    def _of_index(self, read: HostRead, model: SemanticModel) -> Finding:
        """Return a finding for a number on the device that selects an element in each iteration of a loop."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` is a tensor: as an index it is read from the device in every "
            f"iteration of the loop",
            advice=f"Read it once, before the loop: `int({shown(read.tensor, model)})`; a counter can be a "
            f"number of Python",
        )

    def _of_held(self, read: HostRead, there: ast.Call, model: SemanticModel) -> Finding:
        """Return a finding for a tensor whose numbers the host holds, as it copied them to the device."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device to copy back what line "
            f"{model.span_of(there)[0].line} copied there from the host",
            advice="Keep the tensor that is on the host before the copy (a clone, if its memory is reused), "
            "and use it here",
            related=[(there, "copied to the device here")],
        )

    def _of_arithmetic(self, read: HostRead, there: ast.Call, model: SemanticModel) -> Finding:
        """Return a finding for an array that is copied to the device for a little arithmetic."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device to read what was computed, by "
            f"arithmetic only, from the array that line {model.span_of(there)[0].line} copies there",
            advice="Compute it on the host, in numpy: both copies take longer than the arithmetic",
            related=[(there, "copied to the device here")],
            minor=why_cheap([read], model) if read.method not in ("numpy", "tolist") else None,
        )

    def _of_trip(self, read: HostRead, trip: ValueTrip, model: SemanticModel) -> Finding:
        """Return a finding for what is computed on the host from a tensor, and copied back to the device."""
        back = trip.back
        assert isinstance(back, ast.expr)
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device, and line "
            f"{model.span_of(back)[0].line} copies what is computed from it back to the device",
            advice="Keep it on the device, and compute it there with torch",
            related=[(back, "copied back to the device here")],
            minor=trip.minor,
        )

    def _of_inner_loop(self, read: HostRead, loop: Loop, model: SemanticModel) -> Finding:
        """Return a finding for a read in a loop that only stores what it reads."""
        return self._found(
            read,
            model,
            of_elements(read, model),
            advice=f"Keep the tensors in a list and read them together after the loop: {together([read])}",
            minor=why_few_parts(loop, model),
        )

    def _of_sample(self, read: HostRead, model: SemanticModel) -> Finding:
        """Return a finding for a read of what is computed for each transition of a sampled batch."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device for each transition of the batch",
            advice="Stack the transitions, compute the batch at once, and keep the result on the device",
        )

    def _of_discarded(self, read: HostRead, caller: FunctionSummary, model: SemanticModel) -> Finding:
        """Return a finding for a read whose result a caller discards."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every call, also for "
            f"`{caller.shown}`, which discards the result",
            advice="Return the tensor, and read it in the callers that need it",
            minor=why_cheap([read], model),
        )

    def _of_collected(self, read: HostRead, collected: ast.expr, model: SemanticModel) -> Finding:
        """Return a finding for a read that a loop only collects in a list or a sum."""
        name = shown(collected, model)
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every step, though "
            f"`{name}` is not used before the loop ends",
            advice=f"Append the tensor (`.detach()`), and read all of them together after the loop: "
            f"`torch.stack({name}).cpu()`"
            if isinstance(getattr(collected, "ctx", None), ast.Load)
            else f"Add the tensor (`.detach()`), and read `{name}` after the loop",
            minor=why_cheap([read], model),
        )

    def _of_repeated(self, read: HostRead, model: SemanticModel) -> Finding:
        """Return a finding for a read in a function that a step calls several times."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every call, and a step makes "
            f"several calls",
            advice="Return the tensor (`.detach()`), and read the results of all calls together: "
            "`torch.stack((...)).tolist()`",
        )

    def _of_state(self, read: HostRead, state: ast.Attribute, model: SemanticModel) -> Finding:
        """Return a finding for a condition on a buffer or parameter of a network."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every step: "
            f"`{shown(state, model)}` is a tensor that moves to the device with its network",
            advice="Keep a Python number or bool beside it, and use that",
            minor=None if is_in_layer(read.node, model) else why_cheap([read], model),
        )

    def _of_operand(self, read: HostRead, use: ast.expr, model: SemanticModel) -> Finding:
        """Return a finding for a number that only arithmetic with device tensors uses."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every step, though the number is "
            f"only used in arithmetic with tensors of the device",
            advice="Keep it on the device, as a tensor: `.detach()`",
            related=[(use, "used with a tensor here")],
            minor=why_cheap([read], model),
        )

    def _of_called(self, read: HostRead, calls: int, model: SemanticModel) -> Finding:
        """Return a finding for a read in a function that is called several times in a step."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every call, and a step makes "
            f"{calls} calls or more",
            advice="Keep the tensors (`.detach()`) and read them later, or all together: "
            "`torch.stack((...)).tolist()`",
            minor=why_cheap([read] * calls, model),
        )

    def _of_message(self, read: HostRead, message: ast.Call, model: SemanticModel) -> Finding:
        """Return a finding for a tensor in the text of a debug message."""
        function = shown(message.func, model)
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every step to be formatted, even "
            f"if `{function}` writes nothing",
            advice=f'Pass it as an argument, which is formatted only if it is written: `{function}("%s", x)`',
            minor=why_cheap([read], model),
        )

    def _of_check(self, read: HostRead, model: SemanticModel) -> Finding:
        """Return a finding for a check of a device tensor, which nothing else depends on."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every step, only to be checked",
            advice="Remove the check, check in every few steps only, or on the device with "
            "`torch._assert_async`",
            minor=why_cheap([read], model),
        )

    def _of_ended_loop(self, read: HostRead, model: SemanticModel) -> Finding:
        """Return a finding for a condition that ends a loop over inner work."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every iteration of the loop, to "
            f"decide whether it goes on",
            advice="Test it in every few iterations only, or run a fixed number of iterations",
            minor=NEEDED,
        )

    def _of_choice(self, read: HostRead, model: SemanticModel) -> Finding:
        """Return a finding for a condition that selects the best result of the iterations of a loop."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every iteration of the loop, only "
            f"to select values",
            advice="Select them on the device: `torch.where`, `torch.maximum`",
        )

    def _of_forward(self, read: HostRead, model: SemanticModel) -> Finding:
        """Return a finding for a read in the middle of a forward pass."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in the middle of "
            f"`{layer_of(read, model)}`: the rest of the forward pass is queued only after all of it is done",
            advice="Compute it on the device, with masks, or pass it from where it is known on the host",
            minor=why_cheap([read], model),
        )

    def _of_branch(self, read: HostRead, model: SemanticModel) -> Finding:
        """Return a finding for a condition that selects which tensors are computed."""
        return self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in every step, only to decide which "
            f"tensors are computed",
            advice="Compute with the mask itself, without a condition: `torch.where`, or multiply by it",
            minor=why_cheap([read], model),
        )

    def _of_chain(self, read: HostRead, chain: Sequence[HostRead], model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the conditions of an `if` and its `elif`, at the first of them."""
        if chain[0].node is not read.node:
            model.silent("{} is reported with the first condition of its chain", read.node)
            return
        yield self._found(
            read,
            model,
            of_step(chain, model),
            advice="Read what they test once, before the `if`; `torch.where` selects without reading",
            minor=why_cheap(chain, model),
        )

    def _of_parts(self, read: HostRead, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the reads in other methods of the same step."""
        others = others_of_step(read, model)
        if not others:
            return
        more = f"`{shown(others[0].node, model)}`"
        if len(others) > 1:
            more += f" and {len(others) - 1} more in other methods"
        yield self._found(
            read,
            model,
            f"`{shown(read.node, model)}` synchronises with the device in the middle of every step, as does "
            f"{more}: later kernels cannot be queued meanwhile",
            advice="Return or store it as a tensor (`.detach()`), and read all values of a step together at "
            "its end: `torch.stack((...)).tolist()`",
            minor=why_cheap([read, *others], model),
        )


def calls_with_tensors(read: HostRead, model: SemanticModel) -> int:
    """Return how many times in one step a function is called to read its parameter: the method of a logger,
    once for each loss. A function that returns what it reads leaves it to its callers whether they need it.
    """
    is_whole = isinstance(read.tensor, ast.Name) and not model.frequency.loops(read.node)
    is_whole = is_whole and not isinstance(model.syntax.statement(read.node), ast.Return)
    return model.effects.tensors_passed(read.tensor) if is_whole else 0


def reported_together(step: Sequence[HostRead], model: SemanticModel) -> list[HostRead]:
    """Return the reads of a step that one finding names."""
    own = (read for read in step if not model.once(is_others, read))
    return [read for read in own if read.method != "each" and model.once(element_loop, read) is None]


def differentiated_copies(function: Function, model: SemanticModel) -> list[ast.Call]:
    """Return the copies to the host in a function through which a gradient flows back."""
    found = [
        node
        for node in descendants(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and is_copied_to_host(node, model)
        and where(node.func.value, model) not in (None, Device.HOST)
        and model.gradients.autograd_at(node) is not Autograd.OFF
    ]
    copies = [
        copy
        for copy in found
        if any(sink.label is SinkKind.LEARNED for sink in model.gradients.traced(copy).sinks)
    ]
    return sorted(copies, key=model.source.span)


def advice_for_step(group: Sequence[HostRead]) -> str:
    """Return the advice for several reads in one step."""
    if all(read.method == "slice" for read in group):
        return "Read each bound once, as a number: `last = int(last)`"
    return (
        "Keep values that are only logged on the device (`.detach()`) and read them later, or read all "
        f"together: {together(group)}"
    )


def assumption(group: Sequence[HostRead], model: SemanticModel) -> str | None:
    """Return the assumption under which enough of the reads synchronise with a device in each step."""
    switch = log_switch(group[0], model)
    on = f"`{shown(switch, model)}` is on" if switch is not None else None
    assumed = [text for text in (placed(group, model, fewest(group)), on) if text is not None]
    return " and ".join(assumed) or None


def placed(group: Sequence[HostRead], model: SemanticModel, least: int = 1) -> str | None:
    """Return the assumption about the devices of the tensors that are read, if fewer than `least` of them are
    known to be tensors.
    """
    supposed = [read for read in group if is_supposed(read, model)]
    if len(group) - len(supposed) >= least:
        return None
    names = list(dict.fromkeys(f"`{shown(read.tensor, model)}`" for read in supposed))
    if len(names) == 1:
        return f"{names[0]} is a tensor on an accelerator"
    return f"{', '.join(names[:-1])} and {names[-1]} are tensors on an accelerator" if names else None


def fewest(group: Sequence[HostRead]) -> int:
    """Return how many reads are too many: two lists (tokens and their lengths) often have two dtypes."""
    return 3 if all(read.method == "tolist" for read in group) else 2


def is_others(read: HostRead, model: SemanticModel) -> bool:
    """Whether a read is the first half of a round trip, a copy with its graph, or covered by
    item-per-element.
    """
    if isinstance(read.node, ast.Call):
        if read_of(read.node, model) is not None:
            return True
        function = model.function(read.node)
        if read.method == "cpu" and function is not None:
            return read.node in model.once(ways_back, function) or read.node in model.once(
                differentiated_copies, function
            )
    parent = model.parent(read.node)
    return isinstance(parent, ast.Call) and round_trips.round_trip(parent, model) is not None


def first_in(loop: AnyLoop, model: SemanticModel) -> ast.expr | None:
    """Return the first read of elements in a loop, at which all of them are reported."""
    found = [
        read.node
        for read in reads_below(loop, model)
        if is_hot(read, model) and element_loop(read, model) is loop and not is_others(read, model)
    ]
    return min(found, key=model.source.span, default=None)


def of_elements(read: HostRead, model: SemanticModel) -> str:
    """Return the message for a read in a loop over elements."""
    return f"`{shown(read.node, model)}` synchronises with the device in every iteration of the loop"


def advice_for_elements(read: HostRead, loop: AnyLoop, model: SemanticModel) -> str:
    """Return the advice for a read of each element."""
    where = "comprehension" if isinstance(loop, COMPREHENSIONS) else "loop"
    if isinstance(read.tensor, ast.Subscript):
        return f"Read all of it before the {where}: `{shown(read.tensor.value, model)}.tolist()`"
    whole = iterated(loop, model)
    if whole is not None:
        return f"Read all of it before the {where}: `{shown(whole, model)}.tolist()`"
    return f"Concatenate the tensors before the {where} and read them together: {together([read])}"


def is_bound_before(read: HostRead, model: SemanticModel) -> bool:
    """Whether a loop around a read does not bind the variable that is read."""
    loops = model.frequency.loops(read.node)
    if not loops or not isinstance(read.tensor, ast.Name) or drives(loops[0], model):
        return False
    bound = model.dataflow.definitions(read.tensor)
    return not any(is_in(binding.node, loops[0]) for binding in bound)


def iterated(loop: AnyLoop, model: SemanticModel) -> ast.expr | None:
    """Return the tensor whose elements a loop iterates over, also with `enumerate`."""
    if isinstance(loop, ast.While):
        return None
    iterable = loop.generators[0].iter if isinstance(loop, COMPREHENSIONS) else loop.iter
    match iterable:
        case ast.Call(func=func, args=[inner, *_]) if model.names.qualified(func) == "builtins.enumerate":
            iterable = inner
    return iterable if model.types.type_of(iterable).tag is TypeTag.TENSOR else None


def together(group: Sequence[HostRead]) -> str:
    """Return code that reads several tensors at once: numbers can be stacked, tensors of different shapes
    cannot.
    """
    if all(read.method in NUMBERS for read in group):
        return "`torch.stack((...)).tolist()`"
    if any(read.method == "cpu" for read in group):
        return "`torch.cat([x.flatten(), ...]).cpu()`, as their shapes may differ"
    return "`torch.cat([x.flatten(), ...]).tolist()`, as their shapes may differ"


def of_step(group: Sequence[HostRead], model: SemanticModel) -> str:
    """Return the consecutive reads of a step."""
    different = {one_line(read.node, model): shown(read.node, model) for read in group}
    first, *others = different.values()
    if not others:
        times = "twice" if len(group) == 2 else f"{len(group)} times"
        return f"`{first}` synchronises with the device {times} in every step"
    second = others[0]
    more = len(group) - 2
    if more:
        return f"`{first}`, `{second}` and {more} more each synchronise with the device in every step"
    return f"`{first}` and `{second}` each synchronise with the device in every step"


def shown(node: ast.expr, model: SemanticModel) -> str:
    """Return an expression in one line, shortened if it is long."""
    text = one_line(node, model)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def one_line(node: ast.expr, model: SemanticModel) -> str:
    """Return the source of an expression without line breaks."""
    text = " ".join(model.source.text(node).split())
    for bracket in "([{":
        text = text.replace(f"{bracket} ", bracket)
    return text
