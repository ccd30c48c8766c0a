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
  read in a function that a step calls several times, in such a loop or one after the other. In an
  environment step, only functions that run no network count: the environment needs the action.
- A read of what is computed for each transition of a sampled batch, in a loop (`for transition in
  random.sample(memory, 32)`), or of each loss that a function returns by name.
- A read that a loop only appends to a list, or adds to a sum, which is not used before the loop ends:
  `values.append(value.cpu().numpy())`, `total += loss.item()`, `fractions += [clipped.mean().item()]`,
  also in a dict of lists: `metrics["loss"].append(loss.item())`.
- A read that a function returns, if its callers' loops only add it to a sum or append it to a list that is
  not used before the loop ends: `total += self.update(batch)`.
- The only read of a gradient step, if the step does not need the number: it stores, logs or returns a loss or
  another statistic, and nothing in the file decides by it. Not where the same iteration steps an environment,
  which needs the action. The impact is low.
- A condition on a device tensor that only decides which tensors are computed (`if mask.any(): values[mask] =
  0.0`, `if 0 not in mask: …`), where a mask needs no condition. The host needs conditions that fill lists,
  concatenate tensors, write messages, start actions or step environments, and those that save more work than
  a read.
- A read in the middle of a forward pass, unless it is returned or `pack_padded_sequence` takes it.
- A read for callers that discard it: `_, log_probs = policy.sample(states)` in an update, though `sample`
  reads the actions for the environment.
- A read of the parameter of a function that is called for several tensors in one step, such as a logger's
  method that calls `value.item()`.
- A read for each tensor of a list, for each sample of a batch (`values[i, : ends[i]]`), or for each parameter
  of a network, in a loop.
- A constructor that reads the tensors in a list one by one, also if a loop has appended them:
  `torch.tensor([x.sum(), y.sum()])`, or once per round in a comprehension over them.
- The values of a dict or an object that are copied in their place (`setattr(self, name, part.cpu())`, `{name:
  part.cpu() for name, part in parts.items()}`, likely), except for weights.
- An array that is copied to the device for arithmetic only, and the result read back, also if a caller
  copies it.
- A tensor that is read as it was copied to the device, so that the host has its numbers already (`states =
  torch.from_numpy(x).to(device)`, then `states.cpu()`), also to find which elements hold
  (`torch.where(done)`).
- A condition on a buffer or parameter of a network (`if self.count >= self.until`), and a buffer of integers
  that is read as a number (`start = int(self.queue_start)`).
- Device tensors that a loop stores in parts of a host tensor: `output[:, i] = action`, where `output =
  torch.zeros(4, 8)`.
- `min`, `max`, `sorted`, `any` or `all` of Python on a tensor, which compare element by element.
- A number on the device that is the index in each iteration of a loop (`for name in fields: rows[name][place]
  = values[name]`).
- A read in a lambda that `map`, `filter`, `sorted`, `min` or `max` calls for each item (`map(lambda each:
  each.cpu().numpy(), actions)`, `max(moves, key=lambda move: scores[move].item())`).
- A condition that reads each element of a tensor, also of a comprehension. (`item-per-element` covers
  elements that are read by `.item()` and similar calls.)
- A condition that ends a loop of inner work, such as the iterations of a solver or the tokens of a
  sequence (`if residual < tolerance: break`), or a `while` over steps of environments on the device, or that
  keeps the best result of its iterations (`if values[0] > best: best = values[0]`), and several conditions of
  an `if` and its `elif`.
- A number that is read only for arithmetic with device tensors, to limit or to fill them (`alpha =
  log_alpha.exp().item()`, then `alpha * log_probs`).
- An assertion about a device tensor (`assert (weights > 0).all()`), a condition on one that only raises an
  error or writes a message, and one that tests whether numbers are finite (`if not torch.isfinite(loss)`),
  also by a function of the project (`assert valid(loss)`).
- A tensor in the text of a debug message (`logger.debug(f"loss: {loss}")`), which is formatted even if the
  level of the logger is higher.
- A loss that is computed on the host from copies of network outputs (`loss = (alpha *
  log_probs.cpu()).mean()`), so that `backward` copies the gradient back to the device. Not where the host
  draws the actions of the environment from them, which needs the copy.

These are reads: `.item()`, `.tolist()`, `.cpu()`, `.cpu().numpy()`, and `float()`, `int()` or `bool()` of a
tensor; a tensor that is printed, formatted (`"%.3f" % loss`) or passed to `add_scalar` or `wandb.log`; a
tensor in a condition, as the bound of a slice (`rows[first:last]`) or, without dimensions, as an index
(`rows[place] = row`); a tensor that `min`, `max`, `sorted`, `any`, `all` or `range` of Python compares or
counts with; and a call of a function or lambda of the project that does one of these (`to_np(action)`). A
value of unknown type with an `.item()` likely is a tensor of a device if the file imports no NumPy, or if the
line belongs to a gradient step or a forward pass.

The rule does not flag a single read in the step of an environment, which needs the action. Nor does it flag a
round trip of what an environment or a caller that is not seen gets as well, a read that needs the result of
another, reads at an interval or once after many iterations of a loop, and reads in evaluation functions or in
methods whose callers run them for statistics only. Nor are reads meant of what is evidently in host memory:
parameters for which all calls pass such tensors, objects of a file that creates tensors from data and names
no device, and what tasks and actors of Ray compute that ask for no device (`@ray.remote`). Other tensors that
a function is only handed are assumed to be on an accelerator (likely).

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
them decides, those once per update where the same function reads the device for each row of a batch, and
those in a loop whose iterations wait for another program, such as the engine of a game. The same holds for up
to four reads in an iteration that waits for a condition in any case (`if not wanted.any(): break`) or runs a
large network, several networks or one on several rows (`for first in range(0, n, size)`), and for those that
run once beside a loop of gradient steps in the same function.

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
from collections.abc import Iterator

from rlint.rule import (
    CodeExtent,
    Device,
    Finding,
    Heat,
    Rule,
    SemanticModel,
    last_name,
)
from rlint.rules.transfers._shared.accelerators import may_use_accelerator
from rlint.rules.transfers._shared.in_steps import is_in_gradient_steps
from rlint.rules.transfers._shared.there_and_back import leaves_device, ways_back
from rlint.rules.transfers.rl202_host_round_trip import round_trips, said_of_reads, stacked
from rlint.rules.transfers.rl202_host_round_trip.assumptions import assumption, fewest, placed
from rlint.rules.transfers.rl202_host_round_trip.costlier_work import why_below_loop
from rlint.rules.transfers.rl202_host_round_trip.few_reads import reads_of_loop, why_cheap
from rlint.rules.transfers.rl202_host_round_trip.graph_copies import differentiated_copies
from rlint.rules.transfers.rl202_host_round_trip.host_reads import (
    COPIES,
    READERS,
    HostRead,
    reads_at,
)
from rlint.rules.transfers.rl202_host_round_trip.listed_tensors import listed_tensors
from rlint.rules.transfers.rl202_host_round_trip.probed import is_probed
from rlint.rules.transfers.rl202_host_round_trip.purposes.host_copies import (
    PLACES,
    copied_from_host,
    places_found,
)
from rlint.rules.transfers.rl202_host_round_trip.purposes.mapped_reads import mapped_reads
from rlint.rules.transfers.rl202_host_round_trip.purposes.single_reads import said_of_few
from rlint.rules.transfers.rl202_host_round_trip.purposes.value_trips import value_trip
from rlint.rules.transfers.rl202_host_round_trip.read_together import (
    element_loop,
    others_of_step,
    step_of,
)
from rlint.rules.transfers.rl202_host_round_trip.reported import (
    first_in,
    is_others,
    reported_together,
    unguarded_first,
)
from rlint.rules.transfers.rl202_host_round_trip.same_iteration import why_little_in_iteration
from rlint.rules.transfers.rl202_host_round_trip.stored_on_host import stored_in, stores_in_host_tensors
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import where
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import is_hot
from rlint.rules.transfers.rl202_host_round_trip.wording import (
    advice_for_step,
    of_step,
    shown,
)


class HostRoundTrip(Rule):
    code = "RL202"
    name = "host-round-trip"
    seeds = ("S0.2",)
    claims = ("time:cuda", "sync:cuda")
    transfers = 1
    heat = Heat.WARM
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
    callees = READERS | round_trips.MAKERS | COPIES | PLACES | {"format", "type"}
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
                if model.frequency.heat_of(node).level < Heat.HOT:
                    return
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
            elif last_name(node.func) in PLACES:
                yield from self.check_places(node, model)
            else:
                yield from self.check_list(node, model)
        for read in reads_at(node, model):
            if not is_hot(read, model):
                model.silent("{} reads the device, but is not known to run in each step", read.node)
            elif not model.once(is_others, read) and not is_probed(read.tensor, model):
                yield from self.check_read(read, model)

    def check_places(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `torch.where(done)` of what the host has just copied to the device."""
        read = places_found(call, model)
        held = copied_from_host(read, model) if read is not None else None
        if read is None or held is None or model.frequency.heat_of(call).level < Heat.HOT:
            return
        if not model.usage.is_evaluation(call):
            yield self._found(read, said_of_reads.of_held(read, held, model), model)

    def check_list(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `torch.tensor([x.sum(), y.sum()])`."""
        listed = listed_tensors(call, model)
        if listed is None:
            return
        if model.frequency.heat_of(call).level < (Heat.WARM if listed.each else Heat.HOT):
            return
        first = shown(listed.tensors[0], model)
        more = len(listed.tensors) - 1
        read = f"`{first}` for each element" if listed.each else f"`{first}`"
        read += f" and {more} more" if more else ""
        cut = (
            "; `torch.tensor` cuts their gradients, as `.detach()` does"
            if is_in_gradient_steps(call, model)
            else ""
        )
        back = ", only for the result to be copied back" if listed.returns else ", one by one"
        yield self.finding(
            model,
            call,
            f"`{shown(call.func, model)}` reads {read} from the device{back}: each synchronises",
            advice=f"Combine the tensors on the device: `torch.stack((...))`{cut}",
        )

    def check_store(self, assignment: ast.Assign, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first of the device tensors that loops store in one host tensor."""
        target = stored_in(assignment)
        if target is None or model.frequency.heat_of(assignment).level < Heat.HOT:
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
            transfers=reads_of_loop(model.frequency.loops(assignment)[0], model),
        )

    def check_way_back(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `probs = net(x).cpu()`, arithmetic, `probs = probs.cuda()`."""
        function = model.function(call)
        if function is None or model.frequency.heat_of(call).level < Heat.HOT:
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
                    minor=why_below_loop(call, model),
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
            yield self._found(read, said_of_reads.of_compared(read, model), model)
            return
        loop = model.once(element_loop, read)
        if loop is not None:
            first = first_in(loop, model)
            if first is not None and first is read.node:
                yield self._found(read, said_of_reads.of_loop(read, loop, model), model)
            return
        mapped = mapped_reads(read, model)
        if mapped is not None and read.node in [each.node for each in mapped.reads]:
            if mapped.reads[0].node is read.node:
                yield self._found(read, said_of_reads.of_mapped(mapped, model), model)
            return
        group = model.once(reported_together, step_of(read, model))
        if len(group) == 1:
            others = others_of_step(read, model)
            if others:
                yield self._found(read, said_of_reads.of_parts(read, others, model), model)
        if len(group) < fewest(group):
            said = said_of_few(read, model)
            if said is not None:
                yield self._found(read, said, model)
            return
        if group[0].node is not read.node:
            computed = value_trip(read, model)
            if computed is not None:
                yield self._found(read, said_of_reads.of_trip(read, computed, model), model)
                return
            held = copied_from_host(read, model)
            if held is not None:
                yield self._found(read, said_of_reads.of_held(read, held, model), model)
                return
            model.silent("{} is reported with the first read of its step", read.node)
            return
        group = unguarded_first(group, model)
        yield self.finding(
            model,
            group[0].node,
            of_step(group, model),
            fix=stacked.build_fix(group, model),
            advice=advice_for_step(group, model),
            assumes=assumption(group, model),
            minor=why_cheap(group, model) or why_little_in_iteration(group, model),
            transfers=len(group),
        )

    def _found(self, read: HostRead, said: said_of_reads.Said, model: SemanticModel) -> Finding:
        """Return a finding for one read, with what it assumes about the tensor."""
        return self.finding(
            model,
            read.node,
            said.message,
            advice=said.advice,
            assumes=placed([read], model),
            related=said.related,
            minor=said.minor or why_little_in_iteration([read], model),
            transfers=said.reads,
        )
