"""Several definitions of one name in one scope."""

from __future__ import annotations

import pytest

from project_builder import expression, find, model_of
from rlint.findings import Heat
from rlint.models.value_type import TypeTag

RING = """
    import gymnasium as gym
    import numpy as np

    class Ring:
        @property
        def rows(self):
            return np.zeros(3)

        @rows.setter
        def rows(self, given):
            def filled(values):
                return [each(value) for value in values]
            self.store = filled(given)

    ring = Ring()
    print(ring.rows)
"""


def test_a_property_is_what_its_getter_gives() -> None:
    """The setter is defined later, but reads of the attribute run the getter."""
    model = model_of(RING)
    assert model.types.type_of(expression(model, "ring.rows")).tag is TypeTag.NDARRAY
    assert set(model.module.functions) >= {"Ring.rows", "Ring.rows#2", "Ring.rows#2.filled"}


TWICE = """
    import gymnasium as gym

    env = gym.make("CartPole-v1")

    if FAST:
        {first}
            for value in values:
                once(value)
    else:
        {second}
            for value in values:
                for other in value:
                    again(other)

    for step in range(10_000):
        obs, reward, terminated, truncated, _ = env.step(0)
        {called}(obs)
"""


@pytest.mark.parametrize("definition", ["def look(values):", "async def look(values):"])
def test_each_definition_has_its_own_loops(definition: str) -> None:
    """Calls run the last definition; facts about it do not hold for the others."""
    model = model_of(TWICE.format(first=definition, second=definition, called="look"))
    assert len(model.module.functions["look"].loops) == 2
    assert len(model.module.functions["look#1"].loops) == 1
    first = model.function(find(model, "once(value)"))
    assert first is not None
    assert first.lineno == model.module.functions["look#1"].line


def test_people_read_the_name_as_it_is_written() -> None:
    """The numbers are rlint's own."""
    model = model_of(
        """
        import gymnasium as gym

        class Agent:
            @property
            def net(self):
                return self._net

            @net.setter
            def net(self, net):
                env = gym.make("CartPole-v1")
                for step in range(10_000):
                    look(env.step(0))

        def look(step):
            heated(step)
        """
    )
    heat = model.frequency.heat_of(find(model, "heated(step)"))
    assert heat.level is Heat.HOT
    assert "#" not in " ".join(heat.chain)
    assert model.module.functions["Agent.net#2"].name == "net"
