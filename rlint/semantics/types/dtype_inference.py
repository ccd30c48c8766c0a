"""Infer the dtype and the number of dimensions (rank) of arrays and tensors."""

from __future__ import annotations

import ast

from rlint import models
from rlint.models import element_types
from rlint.models.element_types import BITS, DEFAULT, FLOATS, OBJECT, WHOLE
from rlint.models.parameters import PARAMETERS
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Choice, Type, TypeTag, with_choice
from rlint.semantics.types.devices import is_device
from rlint.semantics.types.dtypes import (
    library_dtype,
    named_dtype,
    of_arithmetic,
    of_literal,
    tensor_class_dtype,
    with_number,
)
from rlint.semantics.types.infer_base import TypeInferenceBase
from rlint.syntax.queries import is_constant
from rlint.syntax.scopes import BindingKind

_ARRAYS = (TypeTag.TENSOR, TypeTag.NDARRAY)
_NONE: ast.expr = ast.Constant(value=None)
_NUMBERS = (TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL, TypeTag.NUMPY_SCALAR)

_FILLED = models.names_having(Trait.FILLS, "torch", "numpy") - {"full"} | {"rand", "randn"}
_BY_NUMBERS = frozenset({"arange", "eye", "linspace"}) | {"full", "randint", "randperm"}
_LIKE = models.names_having(Trait.LIKE, "torch", "numpy")
_OF_DATA = models.names_having(Trait.FROM_DATA, "torch", "numpy") | {"copy", "from_numpy"}
_JOINS = models.names_having(Trait.JOINS, "torch", "numpy")
_KEEP = models.names_having(
    Trait.COPIES | Trait.PERMUTES | Trait.MIRRORS | Trait.SAME_KIND | Trait.SAME_VALUES,
    "torch",
    "numpy",
    TypeTag.TENSOR,
    TypeTag.NDARRAY,
)
"""Functions that keep the dtype and the number of dimensions."""
_KEEP_FLOATS = models.names_having(Trait.ELEMENTWISE, "torch", "numpy", TypeTag.TENSOR) - models.names_having(
    Trait.COMPARES, "torch", "numpy"
) - {"angle", "signbit"} | {"cumsum", "log_softmax", "softmax"}
"""Functions that keep the dtype of floating-point elements."""
_REDUCE = (
    models.names_having(Trait.REDUCES, "torch", "numpy", TypeTag.TENSOR, TypeTag.NDARRAY)
    - models.names_having(Trait.GIVES_INDEX, "torch", "numpy")
    - {"all", "alltrue", "any", "sometrue"}
)
_GIVES_INDEX = models.names_having(Trait.GIVES_INDEX, "numpy", TypeTag.NDARRAY)
_SHAPED = frozenset({"expand", "repeat", "reshape", "view"})
_LIKE_OTHER = frozenset({"expand_as", "reshape_as", "view_as"})
_NEW = frozenset({"new_empty", "new_full", "new_ones", "new_zeros"})
_SAME_ATTRIBUTES = models.attributes_giving(TypeTag.TENSOR, TypeTag.TENSOR) - {"grad", "imag", "real"}

_ONE_BY_ONE = frozenset({BindingKind.FOR, BindingKind.COMPREHENSION})


class DtypeInference(TypeInferenceBase):
    """The dtype and rank of the results of expressions; unknown if any part of them is."""

    def dtype_of(self, expression: ast.expr) -> str:
        """Return the dtype that an expression names in a position where one is expected; "" if it is not
        known.
        """
        match expression:
            case ast.Constant(value=str(text)):
                return named_dtype(text)
            case ast.Attribute(value=owner, attr="dtype"):
                found = self.type_of(owner)
                if found.tag in _ARRAYS:
                    return found.dtype
            case ast.Call(func=func, args=[named]) if self.names.qualified(func) == "numpy.dtype":
                return self.dtype_of(named)
        return library_dtype(self.names.qualified(expression) or self.type_of(expression).of)

    # -- calls ---------------------------------------------------------------------------------

    def with_elements(self, node: ast.Call, qualified: str, result: Type) -> Type:
        """Return the result of a library function, with its dtype and rank as far as they are known."""
        name = qualified.rpartition(".")[2]
        if result.tag not in _ARRAYS or result.optional:
            return _as_index(result, name)
        dtype, rank = "", None
        first = _argument(node, 0)
        if name in _FILLED:
            dtype = "float64" if result.tag is TypeTag.NDARRAY else DEFAULT
            rank = self._shape_rank(node.args, node)
        elif name in _BY_NUMBERS:
            dtype, rank = self._by_numbers(node, name, result)
        elif name.endswith("Tensor") and first is not None:
            kind = self.type_of(first)
            dtype = tensor_class_dtype(name)
            is_size = kind.tag is TypeTag.INT or len(node.args) > 1
            rank = self._shape_rank(node.args, node) if is_size else _data_rank(kind)
        elif name in _OF_DATA and first is not None:
            kind = self.type_of(first)
            in_numpy = result.tag is TypeTag.NDARRAY
            if isinstance(first, (ast.List, ast.Tuple)) and not first.elts:
                return self._chosen(node, result, "float64" if in_numpy else DEFAULT, 1)
            dtype = _data_dtype(kind, scalars=in_numpy) or of_literal(
                first, "float64" if in_numpy else DEFAULT
            )
            rank = _data_rank(kind)
        elif name in _JOINS and first is not None:
            dtype, rank = self._joined(node, name, self.type_of(first))
        elif name in ("Parameter", "Buffer", "Variable") and first is not None:
            kind = self.type_of(first)
            dtype, rank = (kind.dtype, kind.rank) if kind.tag is TypeTag.TENSOR else ("", None)
        elif name == "where" and len(node.args) == 3:
            types = [self.type_of(argument) for argument in node.args[1:]]
            dtype = types[0].joined(types[1]).dtype if types[0].tag is result.tag else ""
        elif first is not None:
            owner = self.type_of(first)
            if owner.tag in _ARRAYS and not owner.optional:
                dtype, rank = self._changed(owner, name, node.args[1:], node)
        return self._chosen(node, result, dtype, rank)

    def with_elements_of(self, node: ast.Call, method: str, owner: Type, result: Type) -> Type:
        """Return the result of a method of an array or tensor, with its dtype and rank as far as they are
        known.
        """
        if owner.tag not in _ARRAYS or result.tag not in _ARRAYS or owner.optional:
            return _as_index(result, method)
        dtype, rank = self._changed(owner, method, node.args, node)
        if owner.tag is TypeTag.TENSOR and method in element_types.CASTS:
            dtype, rank = element_types.CASTS[method], owner.rank
        elif method == "astype":
            target = _argument(node, 0, "dtype")
            dtype = self.dtype_of(target) if target is not None else ""
            copied = len(node.args) + len(node.keywords) == 1  # else an argument may prevent the copy
            return result._replace(dtype=dtype, rank=owner.rank, fresh=copied)
        elif method in ("to", "type_as"):
            dtype, rank = self._converted(node, owner), owner.rank
        elif method == "type" and node.args:
            dtype, rank = self.dtype_of(node.args[0]), owner.rank
        elif method == "numpy":
            dtype, rank = owner.dtype, owner.rank
        elif method in _NEW:
            shape = node.args[:1] if method == "new_full" else node.args
            dtype, rank = owner.dtype, self._shape_rank(shape, node)
        elif method == "view" and node.args and self._may_be_dtype(node.args[0], owner):
            dtype, rank = "", None
        return self._chosen(node, result, dtype, rank)

    def _chosen(self, node: ast.Call, result: Type, dtype: str, rank: int | None) -> Type:
        """Return the result with the dtype that the call requests, if it does."""
        wanted = _NONE
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg == "out":
                return result._replace(dtype="", rank=rank)
            if keyword.arg == "dtype":
                wanted = keyword.value
        owner = "numpy.ndarray" if result.tag is TypeTag.NDARRAY else "torch.Tensor"
        path = self.names.qualified(node.func) or f"{owner}.{getattr(node.func, 'attr', '')}"
        named = PARAMETERS.get(path, ())
        for name, value in zip(named, node.args, strict=False):
            if isinstance(value, ast.Starred):
                break
            if name == "out" and not is_constant(value, None):
                return result._replace(dtype="", rank=rank)
            if name == "dtype":
                wanted = value
        if not is_constant(wanted, None):
            dtype = self.dtype_of(wanted)
        if result.dtype == dtype and result.rank == rank:
            return result
        return result._replace(dtype=dtype, rank=rank)

    def _by_numbers(self, node: ast.Call, name: str, result: Type) -> tuple[str, int | None]:
        """Return the dtype of a function whose result depends on its numeric arguments."""
        floats = "float64" if result.tag is TypeTag.NDARRAY else DEFAULT
        if name == "full":
            fill = _argument(node, 1, "fill_value")
            dtype = of_literal(fill, floats) if fill is not None and len(node.args) < 3 else ""
            return dtype, self._shape_rank(node.args[:1], node)
        if name == "randint":
            size = _argument(node, len(node.args) - 1, "size") if result.tag is TypeTag.TENSOR else None
            return "int64", self._shape_rank([size], node) if size is not None else None
        if name == "arange":
            whole = all(self.type_of(argument).tag is TypeTag.INT for argument in node.args[:3])
            return "int64" if node.args and whole and len(node.args) < 4 else "", 1
        if name == "randperm":
            return "int64", 1
        return floats, 2 if name == "eye" else 1

    def _joined(self, node: ast.Call, name: str, parts: Type) -> tuple[str, int | None]:
        dtype, rank = _data_dtype(parts), _data_rank(parts)
        if rank is not None and rank < 1:
            return "", None
        axis = _argument(node, 1, "axis")
        if name == "stack" or rank is None:
            return dtype, rank
        rank -= 1
        if name in ("vstack", "column_stack"):
            return dtype, max(rank, 2)
        if name == "dstack":
            return dtype, max(rank, 3)
        return dtype, 1 if axis is not None and is_constant(axis, None) else max(rank, 1)

    def _changed(
        self, owner: Type, name: str, arguments: list[ast.expr], node: ast.Call
    ) -> tuple[str, int | None]:
        """Return the dtype after a function that changes shape or values of `owner`."""
        dtype, rank = owner.dtype, owner.rank
        if name in _LIKE:
            return dtype, rank if all(keyword.arg != "shape" for keyword in node.keywords) else None
        if name in _KEEP:
            return dtype, rank
        if name == "cumsum" and owner.tag is TypeTag.NDARRAY:
            axes = [*arguments[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "axis")]
            of_all = not axes or is_constant(axes[0], None)
            whole = bool(axes) and self.type_of(axes[0]).tag is TypeTag.INT
            return dtype if dtype in FLOATS else "", 1 if of_all else rank if whole else None
        if name in _KEEP_FLOATS:
            return (dtype, rank) if dtype in FLOATS else ("", rank)
        if name in ("clip", "clamp"):
            bounds = [*arguments, *(keyword.value for keyword in node.keywords)]
            numbers = all(of_literal(bound, DEFAULT) for bound in bounds if not is_constant(bound, None))
            return (dtype, rank) if numbers and dtype in FLOATS else ("", None)
        if name in ("unsqueeze", "expand_dims"):
            axis = self.type_of(arguments[0]) if arguments else Type(TypeTag.INT)
            return dtype, rank + 1 if rank is not None and axis.tag is TypeTag.INT else None
        if name in ("flatten", "ravel"):
            return dtype, self._flat_rank(owner, arguments, node)
        if name in _SHAPED:
            return dtype, self._shape_rank(arguments, node)
        if name in _LIKE_OTHER and arguments:
            return dtype, self.type_of(arguments[0]).rank
        if name == "squeeze":
            return dtype, None
        if name == "masked_select":
            return dtype, 1
        if name == "bincount":
            return "", 1
        if name in ("argmax", "argmin"):
            return "int64", self._reduced_rank(rank, arguments, node)
        if name in _REDUCE:
            return dtype if dtype in FLOATS else "", self._reduced_rank(rank, arguments, node)
        return "", None

    def _flat_rank(self, owner: Type, arguments: list[ast.expr], node: ast.Call) -> int | None:
        if owner.tag is TypeTag.NDARRAY or not (arguments or node.keywords):
            return 1  # an array's `flatten` and `ravel` take an order, not a dimension
        match arguments, node.keywords:
            case ([ast.Constant(value=int(start))], []) | (
                [],
                [ast.keyword("start_dim", ast.Constant(start))],
            ):
                return start + 1 if isinstance(start, int) and start >= 0 else None
        return None

    def _reduced_rank(self, rank: int | None, arguments: list[ast.expr], node: ast.Call) -> int | None:
        axes = [keyword.value for keyword in node.keywords if keyword.arg in ("dim", "axis")]
        if len(node.keywords) != len(axes):
            return None
        axes += arguments
        if not axes:
            return 0
        single = len(axes) == 1 and self.type_of(axes[0]).tag is TypeTag.INT
        return rank - 1 if rank and single else None

    def _converted(self, node: ast.Call, owner: Type) -> str:
        """Return the dtype after `.to(…)` and `.type_as(…)`; a keyword `dtype` is handled later."""
        for argument in node.args:
            kind = self.type_of(argument)
            if kind.tag is TypeTag.TENSOR:
                return kind.dtype
            if kind.tag is TypeTag.DTYPE or library_dtype(self.names.qualified(argument) or ""):
                return self.dtype_of(argument)
            if isinstance(argument, ast.Constant) or is_device(argument, kind):
                continue
            return ""
        return owner.dtype

    def _may_be_dtype(self, argument: ast.expr, owner: Type) -> bool:
        if isinstance(argument, (ast.Tuple, ast.List)):
            return False
        return (
            self.type_of(argument).tag not in (TypeTag.INT, TypeTag.TUPLE, TypeTag.LIST)
            or owner.tag is TypeTag.NDARRAY
        )

    def _shape_rank(self, arguments: list[ast.expr], node: ast.Call) -> int | None:
        """Return the number of dimensions of a shape given as one argument or as several."""
        if not arguments:
            given = [keyword.value for keyword in node.keywords if keyword.arg in ("shape", "size")]
            arguments = given[:1]
        if any(isinstance(argument, ast.Starred) for argument in arguments):
            return None
        match arguments:
            case []:
                return None
            case [ast.Tuple(elts=sizes) | ast.List(elts=sizes)]:
                return None if any(isinstance(size, ast.Starred) for size in sizes) else len(sizes)
            case [size]:
                return 1 if self.type_of(size).tag is TypeTag.INT else None
        if self.names.qualified(node.func) in ("numpy.zeros", "numpy.ones", "numpy.empty"):
            return self._shape_rank(arguments[:1], node)  # the dtype follows the shape
        return len(arguments)

    # -- other expressions -----------------------------------------------------------------------

    def same_elements(self, owner: Type, attribute: str, result: Type) -> Type:
        """Return the type of an attribute of an array or tensor that is a view of its elements (`x.T`,
        `x.data`).
        """
        if result.tag not in _ARRAYS or attribute not in _SAME_ATTRIBUTES or owner.optional:
            return result
        return result._replace(dtype=owner.dtype, rank=owner.rank)

    def part_of_array(self, owner: Type, index: ast.expr) -> Type:
        """Return the type of an indexed array or tensor: a part of it, or a number."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        rank: int | None = owner.rank
        copied = False
        widest = 0
        for part in parts:
            if isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is Ellipsis):
                continue
            if is_constant(part, None) or self.names.qualified(part) == "numpy.newaxis":
                rank = rank + 1 if rank is not None else None
                continue
            kind = self.type_of(part)
            if kind.tag is TypeTag.SLICE:
                continue
            selected = _data_rank(kind)
            if kind.tag in (TypeTag.LIST, *_ARRAYS):
                copied = True
                is_mask = _data_dtype(kind) in ("", "bool") and (selected or 0) > 1
                rank = None if is_mask or selected is None or rank is None else rank - 1
                widest = max(widest, selected or 0)
            else:
                rank = rank - 1 if rank is not None and _is_whole(kind) else None
        rank = rank + widest if rank is not None else None
        if owner.tag is TypeTag.TENSOR:
            return Type(
                TypeTag.TENSOR, device=owner.device, fresh=copied, dtype=owner.dtype,
                rank=rank if rank is None or rank >= 0 else None,
            )  # fmt: skip
        if rank is not None and rank <= 0:
            return Type(TypeTag.NUMPY_SCALAR, dtype=owner.dtype, rank=0) if rank == 0 else UNKNOWN
        is_part = rank is not None or copied or any(self._keeps_axis(part) for part in parts)
        if is_part:
            return Type(TypeTag.NDARRAY, fresh=copied, dtype=owner.dtype, rank=rank)
        if owner.rank == 1 or owner.dtype == OBJECT or not all(map(self._may_be_several, parts)):
            return UNKNOWN
        return with_choice(UNKNOWN, Choice(Type(TypeTag.NDARRAY, dtype=owner.dtype)))

    def _keeps_axis(self, part: ast.expr) -> bool:
        """Whether an index keeps or adds an axis, so that the result is an array: `x[None]`, `x[:, 0]`."""
        return (
            isinstance(part, ast.Slice)
            or is_constant(part, None)
            or self.names.qualified(part) == "numpy.newaxis"
            or self.type_of(part).tag is TypeTag.SLICE
        )

    def _may_be_several(self, index: ast.expr) -> bool:
        """Whether an index may select several rows: its type is unknown, and it is not a loop variable."""
        if self.type_of(index):
            return False
        bindings = self.definitions.reaching(index) if isinstance(index, ast.Name) else []
        return not any(binding.kind in _ONE_BY_ONE for binding in bindings)

    def computed(self, node: ast.BinOp, result: Type) -> Type:
        """Return the result of an operator, with its dtype and rank as far as they are known."""
        if result.tag not in _ARRAYS or isinstance(node.op, ast.MatMult):
            return result
        left, right = self.type_of(node.left), self.type_of(node.right)
        if left.tag in _ARRAYS and right.tag in _ARRAYS:
            dtype = of_arithmetic(left, right, node.op)
            return result._replace(dtype=dtype, rank=rank_of_two(left, right))
        array, number, value = (left, right, node.right) if left.tag in _ARRAYS else (right, left, node.left)
        if number.tag not in (TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL) or array.optional:
            return result
        literal = bool(of_literal(value, DEFAULT))
        return result._replace(dtype=with_number(array, number, node.op, literal=literal), rank=array.rank)


def rank_of_two(left: Type, right: Type) -> int | None:
    """Return the rank of an operator's result for two arrays, or for an array and a number."""
    ranks = [None if side.optional else 0 if side.tag in _NUMBERS else side.rank for side in (left, right)]
    return max(rank for rank in ranks if rank is not None) if None not in ranks else None


def _argument(node: ast.Call, position: int, keyword: str = "") -> ast.expr | None:
    for given in node.keywords:
        if keyword and given.arg == keyword:
            return given.value
    for argument in node.args[: position + 1]:
        if isinstance(argument, ast.Starred):
            return None
    return node.args[position] if 0 <= position < len(node.args) else None


def _as_index(result: Type, name: str) -> Type:
    """Return the result of a function of that name: of `np.argmax` and `np.count_nonzero`, an integer."""
    if result.tag is TypeTag.NUMPY_SCALAR and name in _GIVES_INDEX:
        return result._replace(dtype="int64", rank=0)
    return result


def _is_whole(index: Type) -> bool:
    """Whether an index is a whole number, which selects one item of an axis."""
    is_number = index.tag is TypeTag.INT or (index.tag is TypeTag.NUMPY_SCALAR and index.dtype in WHOLE)
    return is_number and not index.optional


def _data_rank(data: Type) -> int | None:
    """Return the rank of an array created from such data."""
    if data.optional:
        return None
    if data.tag in (TypeTag.LIST, TypeTag.TUPLE):
        rank = _data_rank(data.item) if data.item is not None else None
        return rank + 1 if rank is not None else None
    return 0 if data.tag in _NUMBERS or data.tag in (TypeTag.DICT, TypeTag.SET) else data.rank


def _data_dtype(data: Type, *, scalars: bool = False) -> str:
    """Return the dtype of an array created from such data; `scalars`: numpy scalars keep their dtype."""
    if data.optional:
        return ""
    if data.tag in (TypeTag.LIST, TypeTag.TUPLE):
        return _data_dtype(data.item, scalars=scalars) if data.item is not None else ""
    if data.tag is TypeTag.NUMPY_SCALAR and not scalars:
        return ""
    if data.tag in (TypeTag.DICT, TypeTag.SET):
        return OBJECT if scalars else ""
    return data.dtype if data.dtype in BITS or data.dtype == OBJECT else ""
