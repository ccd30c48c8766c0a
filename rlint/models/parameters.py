"""Names of the arguments that functions of libraries take by position, where such an argument decides
something: a data type, an order in memory, an array to write to.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlint.models.fact import words


def _table(prefix: str, signatures: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {
        f"{prefix}{name}": words(parameters)
        for names, parameters in signatures.items()
        for name in words(names)
    }


_REDUCED = "axis dtype out"

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    **_table(
        "numpy.",
        {
            "zeros ones empty": "shape dtype order",
            "full": "shape fill_value dtype order",
            "zeros_like ones_like": "a dtype order subok shape",
            "empty_like": "prototype dtype order subok shape",
            "full_like": "a fill_value dtype order subok shape",
            "array": "object dtype",
            "asarray asanyarray": "a dtype order",
            "ascontiguousarray asfortranarray": "a dtype",
            "copy": "a order subok",
            "identity": "n dtype",
            "eye": "N M k dtype order",
            "tri": "N M k dtype",
            "arange": "start stop step dtype",
            "linspace": "start stop num endpoint retstep dtype axis",
            "sum mean prod std var nansum nanmean nanprod nanstd nanvar": f"a {_REDUCED}",
            "cumsum cumprod nancumsum nancumprod": f"a {_REDUCED}",
            "max min amax amin all any argmax argmin median": "a axis out",
            "clip": "a a_min a_max out",
            "reshape": "a shape order",
            "ravel": "a order",
            "random.random random.random_sample": "size",
            "random.standard_normal random.standard_exponential": "size",
            "random.choice": "a size replace p",
            "random.exponential random.rayleigh": "scale size",
            "random.geometric": "p size",
            "random.poisson": "lam size",
            "random.beta": "a b size",
            "random.binomial": "n p size",
            "random.gumbel random.laplace random.logistic random.normal": "loc scale size",
            "random.lognormal": "mean sigma size",
            "random.uniform random.random_integers": "low high size",
            "random.randint": "low high size dtype",
            "random.Generator.integers": "low high size dtype endpoint",
            "random.triangular": "left mode right size",
        },
    ),
    **_table(
        "numpy.ndarray.",
        {
            "astype": "dtype order casting subok copy",
            "copy flatten ravel": "order",
            "sum mean prod std var cumsum cumprod": _REDUCED,
            "max min all any argmax argmin": "axis out",
            "clip": "min max out",
        },
    ),
    **_table(
        "torch.nn.",
        {
            "LSTM GRU": "input_size hidden_size num_layers bias batch_first dropout bidirectional",
            "RNN": "input_size hidden_size num_layers nonlinearity bias batch_first dropout bidirectional",
            "MultiheadAttention": "embed_dim num_heads dropout bias",
            "Transformer": """d_model nhead num_encoder_layers num_decoder_layers dim_feedforward dropout
            activation""",
            "TransformerDecoderLayer TransformerEncoderLayer": """d_model nhead dim_feedforward dropout
            activation""",
            "ReLU ReLU6 SELU": "inplace",
            "LeakyReLU": "negative_slope inplace",
            "ELU CELU": "alpha inplace",
        },
    ),
    **_table(
        "",
        {
            "threading.Thread multiprocessing.Process": "group target name args kwargs",
            "threading.Timer": "interval function args kwargs",
            "torch.multiprocessing.spawn torch.multiprocessing.start_processes": "fn args nprocs join daemon",
        },
    ),
    **_table(
        "torch.distributions.",
        {
            "Chi2": "df validate_args",
            "Dirichlet": "concentration validate_args",
            "Exponential Poisson": "rate validate_args",
            "HalfCauchy HalfNormal": "scale validate_args",
            "Binomial Multinomial NegativeBinomial": "total_count probs logits validate_args",
            "ContinuousBernoulli": "probs logits lims validate_args",
            "GeneralizedPareto": "loc scale concentration validate_args",
            "LowRankMultivariateNormal": "loc cov_factor cov_diag validate_args",
            "RelaxedBernoulli RelaxedOneHotCategorical": "temperature probs logits validate_args",
            "StudentT": "df loc scale validate_args",
            "MultivariateNormal": "loc covariance_matrix precision_matrix scale_tril validate_args",
            "Wishart": "df covariance_matrix precision_matrix scale_tril validate_args",
        },
    ),
    **_table(
        "re.",
        {
            "compile": "pattern flags",
            "search match fullmatch findall finditer": "pattern string flags",
            "split": "pattern string maxsplit flags",
            "sub subn": "pattern repl string count flags",
        },
    ),
    **_table(
        "torch.",
        {
            "zeros ones empty rand randn": "*size",
            "full": "size fill_value",
            "randint": "low high size",
            "randperm": "n",
            "arange": "start end step",
            "linspace": "start end steps",
            "eye": "n m",
            "tensor": "data",
            "as_tensor": "data dtype device",
            "FloatTensor LongTensor": "*size",
        },
    ),
}
"""The names by the function's qualified name, with `numpy.ndarray.` before those of methods. A name with a
star is that of all arguments from there on.
"""

CALLED_BACK_AT: dict[str, tuple[int, ...]] = {
    "builtins.filter": (0,),
    "builtins.map": (0,),
    "builtins.max": (),
    "builtins.min": (),
    "builtins.sorted": (),
    "functools.reduce": (0,),
    "heapq.nlargest": (2,),
    "heapq.nsmallest": (2,),
    "itertools.accumulate": (1,),
    "itertools.groupby": (1,),
    "re.Pattern.sub": (0,),
    "re.sub": (1,),
    "re.subn": (1,),
}
"""Where functions stand that are called, among the arguments; those given by keyword are called, too."""
