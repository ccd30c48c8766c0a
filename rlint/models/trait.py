"""Traits of library functions: the properties that several analyses query."""

from __future__ import annotations

from rlint.enums import IntFlag


class Trait(IntFlag):
    """Properties of functions, classes and methods of libraries. Each row of the tables lists its traits.

    `models.having` returns the names with a trait, so that no analysis keeps a list of its own.
    """

    # What is created.
    FILLS = 1 << 0
    """Allocates an array or tensor of a given shape, filled with one number or uninitialised: `zeros`."""
    FILLS_LIKE = 1 << 1
    """Allocates an array of the shape of the first argument, filled or uninitialised: `zeros_like`."""
    FROM_NUMBERS = 1 << 2
    """Creates an array or tensor from a few plain numbers: `arange`, `eye`."""
    FROM_DATA = 1 << 3
    """Converts data, such as a list, to an array or tensor: `asarray`."""
    LEGACY = 1 << 4
    """Converts data to a tensor of one dtype, or allocates one by its sizes: `FloatTensor`."""
    COPIES = 1 << 5
    """Returns the same values in memory of their own: `clone`."""
    JOINS = 1 << 6
    """Concatenates several arrays to one: `stack`."""

    # Operations on the elements of an array or tensor.
    KEEPS_ORDER = 1 << 7
    """Returns all elements in their order, in another shape: `reshape`."""
    PERMUTES = 1 << 8
    """Returns all elements with the dimensions in another order: `transpose`."""
    REPEATS = 1 << 9
    """Returns the elements several times: `expand`."""
    MIRRORS = 1 << 10
    """Returns the elements at other positions, in the same shape: `flip`."""
    CASTS = 1 << 11
    """Converts the elements to one other dtype: `float`."""
    CASTS_TO = 1 << 12
    """Converts the elements to the dtype in the argument: `astype`."""
    RELOCATES = 1 << 13
    """Returns a result that may be in other memory: `cpu`."""
    SAME_KIND = 1 << 14
    """Returns other elements, of the same dtype and with the same number of dimensions: `gather`."""
    ELEMENTWISE = 1 << 15
    """Computes each element from one element: `exp`."""
    REDUCES = 1 << 16
    """Reduces all elements, or those along a dimension, to a number: `sum`."""
    SUMS = 1 << 17
    """Adds up elements, or their products: `dot`."""
    COMPARES = 1 << 18
    """Returns booleans, elementwise or as a whole: `isclose`."""
    DIFFERS = 1 << 19
    """Compares two arrays or tensors by their values: `allclose`, `dist`."""
    OVERWRITES = 1 << 20
    """Replaces all elements, whatever their values: `fill_`."""
    TO_HOST = 1 << 21
    """Returns values to Python or numpy, and so synchronises with the device: `item`."""
    MEASURES = 1 << 22
    """Reads the shape or dtype of an array or tensor and none of its elements: `size`."""

    # Operations and gradients.
    GIVES_INDEX = 1 << 23
    """Counts or numbers elements: `argmax`."""
    GIVES_NUMBER = 1 << 24
    """Returns a number, or a tensor of integers: `long`."""
    DETACHES = 1 << 25
    """Returns a value detached from the graph: `detach`, the `sample` of a distribution."""
    INDICES_SECOND = 1 << 26
    """Returns values, which carry a gradient, and their indices, which do not: `topk`."""
    NEEDS_NO_GRADIENT = 1 << 27
    """Raises for a tensor that requires grad: at its calls, there is no gradient. `numpy`"""
    CARRIES = 1 << 28
    """A builtin function whose result is computed from its arguments: `max`."""
    ONLY_LOOKS = 1 << 29
    """A builtin function that only inspects its arguments: `len`."""
    SHOWS = 1 << 30
    """Shows a tensor together with its `grad_fn`: `repr`."""
    TO_NUMBER = 1 << 31
    """Converts a tensor to a Python number, and warns if it requires grad: `float`."""

    # Operations on containers.
    INSERTS = 1 << 32
    """Inserts one object into a container: `append`."""
    INSERTS_ALL = 1 << 33
    """Inserts the items of its argument into a container: `extend`."""
    REMOVES = 1 << 34
    """Removes items from a container: `pop`."""
    REORDERS = 1 << 35
    """Changes the order of a container: `sort`."""
    TAKES_OUT = 1 << 36
    """Returns an item of a container: `get`."""
    FIRST_CHANGES = 1 << 37
    """A function that modifies its first argument, or its items: `heappush`."""

    # Operations on iterators, functions and numbers.
    ITERATES = 1 << 38
    """Consumes an iterator argument, at once or when its own result is consumed: `zip`."""
    CALLS_BACK = 1 << 39
    """Calls an argument, or a keyword such as `key`: `map`."""
    SAME_ITEMS = 1 << 40
    """Returns the items of its argument, some of them or in another order: `sorted`."""
    PAIRS_ITEMS = 1 << 41
    """Returns tuples with the items of its arguments: `enumerate`."""
    OF_NUMBERS = 1 << 42
    """A builtin function from plain numbers to plain numbers: `min`."""

    # Operations on networks.
    RETURNS_SELF = 1 << 43
    """Returns its receiver: `eval`."""
    RUNS_NO_LAYER = 1 << 44
    """A method of every module, which runs no layer: `parameters`."""
    ADDS_PART = 1 << 45
    """Adds a layer, parameter or buffer to a module, or replaces one: `add_module`, `weight_norm`."""
    WITHOUT_PARAMETERS = 1 << 46
    """A layer or loss without parameters: `ReLU`."""
    HAS_WEIGHT = 1 << 47
    """A layer that always has a `weight`: `Linear`."""
    AFFINE = 1 << 48
    """A layer that multiplies by a weight and adds a bias: `Conv2d`."""
    RECURRENT = 1 << 49
    """A layer that iterates over a sequence: `LSTM`."""
    HOLDS_PARTS = 1 << 50
    """A class of modules or parameters that computes nothing itself: `Sequential`."""
    NO_SINGLE_TENSOR = 1 << 51
    """A module whose call does not always return one tensor: `LSTM`."""
    GRADIENT_BY_RESULT = 1 << 52
    """An activation whose gradient follows from its result, so that it may work in place: `ReLU`."""

    # Text.
    ONLY_TEXT = 1 << 53
    """A method that only strings have: `strip`."""
    SCANS_TEXT = 1 << 54
    """Scans the whole string: `replace`."""
    SEARCHES = 1 << 55
    """Searches a pattern: `findall`."""

    # Random numbers.
    PICKS = 1 << 56
    """Draws from its argument: `choice`."""
    WHOLE = 1 << 57
    """Draws integers: `randint`."""

    # The program around.
    CHEAP = 1 << 58
    """Costs about as much as storing its result would: `len`."""
    REFLECTS = 1 << 59
    """Looks up names that need not occur in the source: `getattr`."""
    MARKS = 1 << 60
    """A decorator that adds no work to a call: `property`."""
    CACHES = 1 << 61
    """A decorator that caches results: `lru_cache`."""
    REPORTS = 1 << 62
    """Reports the progress of a run to the user, or to an experiment tracker: `info`."""
    COMPLAINS = 1 << 63
    """Reports a problem: `warning`."""
    POLLS = 1 << 64
    """Tests for an event, without waiting: `is_set`."""
    PARSES = 1 << 65
    """Returns plain data from serialised text: `json.loads`."""

    SAME_VALUES = 1 << 66
    """Returns the same values in the same shape, and of the same dtype: `contiguous`."""
    REACHES_WEIGHTS = 1 << 67
    """Reads or changes the parameters of a module: `state_dict`."""
    HOOKS_STATE = 1 << 68
    """Changes the content of a state dict, or how it is loaded."""
    PARAMETERS = 1 << 69
    """Creates parameters, alone or as a collection: `Parameter`."""

    WRAPS = 1 << 70
    """Returns its argument, compiled or traced: `compile`."""
    CONTAINS = 1 << 71
    """A module that consists of its arguments: `Sequential`."""
    MAPS = 1 << 72
    """Calls a function for each item, in other threads or processes: `imap`."""
    DRAWS_SHAPE = 1 << 73
    """Draws an array or tensor of a given shape: `randn`."""
    DRAWS_LIKE = 1 << 74
    """Draws an array of the shape of the first argument: `randn_like`."""
    PAIRWISE = 1 << 75
    """Computes each element from one element of each of two arguments: `maximum`."""
    JOINS_FLAT = 1 << 76
    """Concatenates arrays of one dimension: `concatenate`."""
    LIMITS = 1 << 77
    """Limits each element: `clip`."""
    HASHES = 1 << 78
    """Computes a short number from data: `crc32`."""
    LOADS = 1 << 79
    """Reads a file into memory: `imread`."""
    SUMMARISES = 1 << 80
    """Reduces all elements to one number, which is floating-point for a floating-point tensor: `mean`."""
    ONLY_ONE_KIND = 1 << 81
    """A method that values of only one type have, among those that such programs use: `backward`."""
    QUERIES_FILES = 1 << 82
    """Queries the file system about a path: `exists`."""
    READS_STATE = 1 << 83
    """Reads state outside of its arguments: `globals`, `get_default_dtype`."""
    TESTS_CLASS = 1 << 84
    """Tests the class or the attributes of an object: `isinstance`."""
    MULTIPLIES_BATCHES = 1 << 85
    """Multiplies the matrices of two batches, each with the other's: `bmm`."""
    SETS_WITHIN = 1 << 86
    """A context manager within which library functions compute or print otherwise: `autocast`, `errstate`."""
    DRAWS_ON_ITERATION = 1 << 87
    """An iterable that draws random numbers for each iteration over it: `DataLoader`, `RandomSampler`."""
    MOSTLY_ONE_KIND = 1 << 88
    """A method that values of other types rarely have: `exp`."""

    REDRAWS = 1 << 89
    """Draws a progress bar again, however little time has passed since: `set_postfix`."""
    SAVES = 1 << 90
    """Writes a whole array or table to a file, given its name: `savetxt`, `to_csv`."""

    HOLDS = 1 << 91
    """Returns an object that holds its arguments or refers to their memory: `memoryview`, `partial`."""

    SELECTS_BY_MASK = 1 << 95
    """Returns the elements that a boolean mask selects: `masked_select`."""

    # Combinations of several traits.
    LIKE = FILLS_LIKE | DRAWS_LIKE
    """Allocates an array of the shape of the first argument."""
    ALLOCATES = FILLS | FILLS_LIKE
    """Allocates an array or tensor, filled with one number or uninitialised."""
    KEEPS_VALUES = COPIES | CASTS | CASTS_TO | RELOCATES | SAME_VALUES
    """Returns the same numbers in the same shape, in other memory or of another dtype."""
    RESHAPES = KEEPS_ORDER | PERMUTES
    """Returns all elements in another shape."""


NO_TRAITS = Trait(0)
