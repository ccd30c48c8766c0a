"""Implicit calls: properties, operators, dynamically bound names, reassigned attributes."""

from __future__ import annotations

import pytest

from project_builder import expression, model_of
from rlint.models.value_type import TypeTag

_BOX = """
class Box:
    def __init__(self):
        self.looks = 0

    @property
    def text(self):
        self.looks += 1
        return "a b"

    @property
    def size(self):
        return 2

    def __getitem__(self, key):
        self.looks += 1
        return key

    def __len__(self):
        self.looks += 1
        return 2

    def __add__(self, other):
        self.looks += 1
        return self

    def __enter__(self):
        self.looks += 1

    def __exit__(self, *error):
        return False


def look(box, words: list, count: int):
    return (<expression>)
"""
QUIET = {
    "box.text": False,
    "box.size": True,
    "box[0]": False,
    "words[0]": True,
    "len(box)": False,
    "len(words)": True,
    "box + 1": False,
    "1 + count": True,
    "1 if box else 2": False,
    "1 if count else 2": True,
    "[*box]": False,
    "0 in box": False,
}


@pytest.mark.parametrize("looked", QUIET)
def test_properties_and_operators_do_what_their_methods_do(looked: str) -> None:
    """The property `box.text` counts its reads, `words[0]` of a list does not."""
    model = model_of(_BOX.replace("<expression>", looked))
    assert model.effects.effect_of(expression(model, looked, last=True)).quiet is QUIET[looked]


BETWEEN = {
    "box.text": False,
    "box.size": True,
    "with box:\n            pass": False,
    "for each in box:\n            pass": False,
    "rows[0] += 1": False,
    "view[0] = 1": False,
    "other[0] = 1": True,
    "other[0] += 1": True,
}


@pytest.mark.parametrize("body", BETWEEN)
def test_a_value_may_change_where_no_name_of_it_stands(body: str) -> None:
    """A value may change through a property, an item of a list that contains it, or a view of it."""
    around = f"""
def look(box):
        import numpy as np
        array = np.ones(3)
        rows = [array]
        other = np.ones(3)
        view = array[1:]
        first = sum(array)
        {body}
        second = sum(array)
        return first, second
"""
    model = model_of(_BOX.replace("<expression>", "0").replace("def look(", "def unused(") + around)
    first, second = expression(model, "sum(array)"), expression(model, "sum(array)", last=True)
    name = first.args[0]  # type: ignore[attr-defined]
    assert model.dataflow.unchanged_between(name, first, second) is BETWEEN[body]


STATE = {
    "LIMIT += 1": True,
    "TABLE['k'] = 5": True,
    "SEEN.append(1)": True,
    "CONFIG.limit = 5": True,
    "for LIMIT in (1, 2): pass": True,
    "unread = 1": False,
    "OTHER = 1": False,
}


@pytest.mark.parametrize("body", STATE)
def test_what_a_helper_reads_may_change_between_two_calls(body: str) -> None:
    """The helper's result depends on globals that the caller changes."""
    model = model_of(
        f"""
        LIMIT, OTHER, TABLE, SEEN, CONFIG = 1, 1, {{}}, [], object()

        def extract(text):
            return text[:LIMIT + len(SEEN) + TABLE['k'] + CONFIG.limit]

        def reward(text):
            global LIMIT, OTHER
            first = extract(text)
            {body}
            return first, extract(text)
        """
    )
    first, second = expression(model, "extract(text)"), expression(model, "extract(text)", last=True)
    doubts = model.dataflow.doubts_between(first, first, second)
    assert (doubts is None or bool(doubts)) is STATE[body]


REPLACED = [
    "mock.patch('numpy.random.choice', return_value=3)",
    "mock.patch.object(np.random, 'choice', return_value=3)",
    "monkeypatch.setattr(np.random, 'choice', fake)",
    "vars(np.random)['choice'] = fake",
    "np.random.__dict__['choice'] = fake",
    "globals()['np'] = fake",
    "globals().update(np=fake)",
    "exec('import fake as np')",
    "exec('np = fake')",
    "import jax.numpy as np",
]


@pytest.mark.parametrize("statement", REPLACED)
def test_what_a_file_replaces_by_name_is_not_the_librarys(statement: str) -> None:
    """Setting a name dynamically replaces it, as an assignment does."""
    model = model_of(f"import numpy as np\nnp.random.choice(3)\n{statement}\n")
    assert model.names.qualified(expression(model, "np.random.choice")) is None


@pytest.mark.parametrize("statement", ["exec('other = 1')", "mock.patch('numpy.random.rand')", "exec('(')"])
def test_what_a_file_replaces_besides_does_not_matter(statement: str) -> None:
    """Program text that binds other names, or is not valid."""
    model = model_of(f"import numpy as np\nnp.random.choice(3)\n{statement}\n")
    assert model.names.qualified(expression(model, "np.random.choice")) == "numpy.random.choice"


SET = {
    "buffer = Buffer()\nbuffer.rows = []": TypeTag.UNKNOWN,
    "buffer = Buffer()\nbuffer.rows = np.ones(3)": TypeTag.NDARRAY,
    "def load(buffer):\n    buffer.rows = []": TypeTag.UNKNOWN,
    "def load(agent):\n    agent.other = []": TypeTag.NDARRAY,
    "class Lists(Buffer):\n    rows = []": TypeTag.UNKNOWN,
    "class Lists(Buffer):\n    def reset(self):\n        self.rows = []": TypeTag.UNKNOWN,
    "class Lists(Buffer):\n    @property\n    def rows(self):\n        return []": TypeTag.UNKNOWN,
    "class Other:\n    def reset(self):\n        self.rows = []": TypeTag.NDARRAY,
    "buffer = Buffer()\nsetattr(buffer, 'rows', [])": TypeTag.UNKNOWN,
    "buffer = Buffer()\nsetattr(buffer, 'name', [])": TypeTag.NDARRAY,
}


@pytest.mark.parametrize("rest", SET)
def test_an_attribute_that_others_set_may_be_anything(rest: str) -> None:
    """A subclass, or code that holds the object, may assign a value of another type."""
    model = model_of(
        "import numpy as np\n\nclass Buffer:\n    def __init__(self):\n        self.rows = np.zeros(3)\n\n"
        f"    def sample(self):\n        return self.rows\n\n{rest}\n"
    )
    [returned] = [
        use
        for use in model.names.attribute_uses("rows")
        if model.source.text(model.parent(use) or use) == "return self.rows"
    ]
    assert model.types.type_of(returned).tag is SET[rest]
