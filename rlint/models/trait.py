"""What a library function does with what it is given, as properties: those that several analyses ask for."""

from __future__ import annotations

from rlint.enums import IntFlag


class Trait(IntFlag):
    """Properties of functions, classes and methods of libraries. Each row of the tables has those that hold.

    `models.having` finds the names that have one, so that no analysis keeps a list of its own.
    """

    # What is created.
    FILLS = 1 << 0
    """Allocates an array or tensor of a given shape, filled with one number or not at all: `zeros`."""
    FILLS_LIKE = 1 << 1
    """Allocates what is as large as the first argument, filled or not: `zeros_like`."""
    FROM_NUMBERS = 1 << 2
    """Creates an array or tensor from a few plain numbers: `arange`, `eye`."""
    FROM_DATA = 1 << 3
    """Converts data, a list for instance, to an array or tensor: `asarray`."""
    LEGACY = 1 << 4
    """Converts data to a tensor of one type of elements, or allocates one by its lengths: `FloatTensor`."""
    COPIES = 1 << 5
    """Returns the same values in memory of their own: `clone`."""
    JOINS = 1 << 6
    """Makes one array of several: `stack`."""

    # What becomes of the elements of an array or tensor.
    KEEPS_ORDER = 1 << 7
    """Returns all elements in their order, in another shape: `reshape`."""
    PERMUTES = 1 << 8
    """Returns all elements with the dimensions in another order: `transpose`."""
    REPEATS = 1 << 9
    """Returns the elements several times: `expand`."""
    MIRRORS = 1 << 10
    """Returns the elements at other places, in the same shape: `flip`."""
    CASTS = 1 << 11
    """Returns the elements as one other type: `float`."""
    CASTS_TO = 1 << 12
    """Returns the elements as the type that is given: `astype`."""
    RELOCATES = 1 << 13
    """Returns a result that may be in other memory: `cpu`."""
    SAME_KIND = 1 << 14
    """Returns other elements, of the same type and with the same number of dimensions: `gather`."""
    ELEMENTWISE = 1 << 15
    """Computes each element from one element: `exp`."""
    REDUCES = 1 << 16
    """Computes a number from all elements, or from those along a dimension: `sum`."""
    SUMS = 1 << 17
    """Adds up elements, or their products: `dot`."""
    COMPARES = 1 << 18
    """Gives true or false, for each element or for all: `isclose`."""
    DIFFERS = 1 << 19
    """Compares two arrays or tensors by their values: `allclose`, `dist`."""
    OVERWRITES = 1 << 20
    """Replaces all elements, whatever they were: `fill_`."""
    TO_HOST = 1 << 21
    """Returns values that Python or numpy reads, and so waits for the device: `item`."""
    MEASURES = 1 << 22
    """Reads the form of an array or tensor and none of its elements: `size`."""

    # What becomes of gradients.
    GIVES_INDEX = 1 << 23
    """Counts or numbers elements: `argmax`."""
    GIVES_NUMBER = 1 << 24
    """Returns a number, or a tensor of integers: `long`."""
    DETACHES = 1 << 25
    """Returns what has left the graph: `detach`, the `sample` of a distribution."""
    INDICES_SECOND = 1 << 26
    """Returns values, which carry a gradient, and their indices, which do not: `topk`."""
    NEEDS_NO_GRADIENT = 1 << 27
    """Raises for a tensor that needs a gradient: where it is called, there is none. `numpy`"""
    CARRIES = 1 << 28
    """A builtin function whose result is made of its arguments: `max`."""
    ONLY_LOOKS = 1 << 29
    """A builtin function that only looks at its arguments: `len`."""
    SHOWS = 1 << 30
    """Writes a tensor down together with its place in the graph: `repr`."""
    TO_NUMBER = 1 << 31
    """Makes a Python number of a tensor, and warns where it needs a gradient: `float`."""

    # What becomes of containers.
    INSERTS = 1 << 32
    """Puts one object into a container: `append`."""
    INSERTS_ALL = 1 << 33
    """Puts the items of its argument into a container: `extend`."""
    REMOVES = 1 << 34
    """Removes items from a container: `pop`."""
    REORDERS = 1 << 35
    """Changes the order of a container: `sort`."""
    TAKES_OUT = 1 << 36
    """Returns an item of a container: `get`."""
    FIRST_CHANGES = 1 << 37
    """A function that changes its first argument, or what it holds: `heappush`."""

    # What becomes of iterators, functions and numbers.
    ITERATES = 1 << 38
    """Uses up an iterator that it is given, at once or as its own result is used: `zip`."""
    CALLS_BACK = 1 << 39
    """Calls a function that it is given, as an argument or a keyword such as `key`: `map`."""
    SAME_ITEMS = 1 << 40
    """Returns the items of its argument, some of them or in another order: `sorted`."""
    PAIRS_ITEMS = 1 << 41
    """Returns tuples with the items of its arguments: `enumerate`."""
    OF_NUMBERS = 1 << 42
    """A builtin function that makes plain numbers of plain numbers: `min`."""

    # What becomes of networks.
    RETURNS_SELF = 1 << 43
    """Returns what it is called on: `eval`."""
    RUNS_NO_LAYER = 1 << 44
    """A method of every module, which runs no layer: `parameters`."""
    ADDS_PART = 1 << 45
    """Gives a module another layer, parameter or buffer: `add_module`."""
    WITHOUT_PARAMETERS = 1 << 46
    """A layer or loss that learns nothing: `ReLU`."""
    HAS_WEIGHT = 1 << 47
    """A layer that has a `weight`, whatever it is made of: `Linear`."""
    AFFINE = 1 << 48
    """A layer that multiplies by a weight and adds a bias: `Conv2d`."""
    RECURRENT = 1 << 49
    """A layer that goes through a sequence: `LSTM`."""
    HOLDS_PARTS = 1 << 50
    """A class of modules or parameters that computes nothing itself: `Sequential`."""
    NO_SINGLE_TENSOR = 1 << 51
    """A module whose call does not always return one tensor: `LSTM`."""
    GRADIENT_BY_RESULT = 1 << 52
    """An activation whose gradient follows from its result, so that it may work in place: `ReLU`."""

    # Text.
    ONLY_TEXT = 1 << 53
    """A method that nothing but text has: `strip`."""
    SCANS_TEXT = 1 << 54
    """Goes through the whole text: `replace`."""
    SEARCHES = 1 << 55
    """Looks for a pattern: `findall`."""

    # Random numbers.
    PICKS = 1 << 56
    """Draws from what is given: `choice`."""
    WHOLE = 1 << 57
    """Draws whole numbers: `randint`."""

    # The program around.
    CHEAP = 1 << 58
    """Costs about as much as remembering its value would: `len`."""
    REFLECTS = 1 << 59
    """Looks up names that the source need not show: `getattr`."""
    MARKS = 1 << 60
    """A decorator that adds no work to a call: `property`."""
    CACHES = 1 << 61
    """A decorator that keeps results: `lru_cache`."""
    REPORTS = 1 << 62
    """Tells a person, or a tracker of experiments, how the run goes: `info`."""
    COMPLAINS = 1 << 63
    """Reports that something is wrong: `warning`."""
    POLLS = 1 << 64
    """Looks whether something has happened, without waiting: `is_set`."""
    PARSES = 1 << 65
    """Returns plain data that was written down: `json.loads`."""

    SAME_VALUES = 1 << 66
    """Returns the same values in the same shape, and of the same type: `contiguous`."""
    REACHES_WEIGHTS = 1 << 67
    """Reads or changes the parameters of a module: `state_dict`."""
    HOOKS_STATE = 1 << 68
    """Changes what a state dict holds, or how it is loaded."""
    PARAMETERS = 1 << 69
    """Makes parameters, alone or as a collection: `Parameter`."""

    WRAPS = 1 << 70
    """Returns the function or module that it is given, compiled or traced: `compile`."""
    CONTAINS = 1 << 71
    """A module that consists of those that it is given: `Sequential`."""
    MAPS = 1 << 72
    """Calls a function for each item, in other threads or processes: `imap`."""
    DRAWS_SHAPE = 1 << 73
    """Draws an array or tensor of a given shape: `randn`."""
    DRAWS_LIKE = 1 << 74
    """Draws what is as large as the first argument: `randn_like`."""
    PAIRWISE = 1 << 75
    """Computes each element from one element of each of two arguments: `maximum`."""
    JOINS_FLAT = 1 << 76
    """Joins arrays of one dimension to one of one dimension: `concatenate`."""
    LIMITS = 1 << 77
    """Keeps each element within a bound: `clip`."""
    HASHES = 1 << 78
    """Computes a short number from data: `crc32`."""
    LOADS = 1 << 79
    """Reads a file into memory: `imread`."""
    SUMMARISES = 1 << 80
    """Computes one number from all elements, of a floating-point tensor another such: `mean`."""
    ONLY_ONE_KIND = 1 << 81
    """A method that only values of one type have, of all that such programs work with: `backward`."""
    ASKS_FILES = 1 << 82
    """Asks the file system about a path: `exists`."""
    READS_STATE = 1 << 83
    """Reads what is no argument, nor the memory of one: `globals`, `get_default_dtype`."""
    TESTS_CLASS = 1 << 84
    """Tests what an object is, or has, by its class: `isinstance`."""

    # Several of them at once.
    LIKE = FILLS_LIKE | DRAWS_LIKE
    """Allocates what is as large as the first argument."""
    ALLOCATES = FILLS | FILLS_LIKE
    """Allocates an array or tensor, filled with one number or not at all."""
    KEEPS_VALUES = COPIES | CASTS | CASTS_TO | RELOCATES | SAME_VALUES
    """Returns the same numbers in the same shape, in other memory or of another type."""
    RESHAPES = KEEPS_ORDER | PERMUTES
    """Returns all elements in another shape."""


NO_TRAITS = Trait(0)
