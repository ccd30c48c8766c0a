"""What of torch passes a gradient on, and what lets it end: data about methods, functions and layers."""

from __future__ import annotations

from rlint.models.fact import words

COMPARES = frozenset(
    words(
        """allclose eq equal ge greater greater_equal gt isclose isfinite isin isinf isnan isneginf isposinf
        isreal le less less_equal logical_and logical_not logical_or logical_xor lt ne not_equal"""
    )
)
"""Methods and functions whose result is true or false, element by element or as a whole."""

GIVES_INDEX = frozenset(
    words(
        """argmax argmin argsort argwhere bincount bucketize count_nonzero multinomial nonzero
        searchsorted"""
    )
)
"""Methods and functions whose result counts or numbers elements."""

GIVES_NUMBER = frozenset(
    words(
        """bool byte char data_ptr dim element_size get_device int is_contiguous is_floating_point item
        long ndimension nelement numel short size storage stride tolist"""
    )
)
"""Methods whose result is a number, or a tensor of integers."""

DETACHES = frozenset(
    words(
        """detach detach_ empty_like full_like new_empty new_full new_ones new_tensor new_zeros ones_like
        rand_like randint_like randn_like sample zeros_like"""
    )
)
"""Methods and functions whose result has left the graph (`sample` is that of a distribution)."""

ENDING_ATTRIBUTES = frozenset(
    words("batch_shape data device dtype event_shape grad indices is_cuda layout names ndim shape")
)
"""Attributes of a tensor (or of a named pair) that carry no gradient."""

SHOWING_ATTRIBUTES = frozenset(words("grad_fn is_leaf requires_grad"))
"""Attributes of a tensor that tell whether it carries a gradient."""

INDICES_SECOND = frozenset(words("cummax cummin kthvalue max median min mode nanmedian sort topk"))
"""Methods and functions that give values, which carry a gradient, and their indices, which do not."""

NEEDS_NO_GRADIENT = frozenset(words("numpy __array__"))
"""Methods that raise for a tensor that needs a gradient: where they are called, there is none."""

WITHOUT_PARAMETERS = frozenset(
    f"torch.nn.{name}"
    for name in words(
        """AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
        AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss CELU CTCLoss
        ChannelShuffle ConstantPad1d ConstantPad2d ConstantPad3d CosineEmbeddingLoss CosineSimilarity
        CrossEntropyLoss Dropout Dropout1d Dropout2d Dropout3d ELU FeatureAlphaDropout Flatten Fold GELU GLU
        GaussianNLLLoss Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss HuberLoss Identity
        KLDivLoss L1Loss LeakyReLU LocalResponseNorm LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1d
        MaxPool2d MaxPool3d MaxUnpool2d Mish MultiLabelMarginLoss MultiMarginLoss NLLLoss PairwiseDistance
        PixelShuffle PixelUnshuffle PoissonNLLLoss RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d
        ReplicationPad1d ReplicationPad2d SELU SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d
        Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold TripletMarginLoss Unflatten Unfold
        Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d"""
    )
)
"""Layers and losses that learn nothing."""

CARRIED_BY_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in words(
        "abs dict enumerate filter iter list map max min next pow reversed set sorted sum tuple zip"
    )
)
"""Builtin functions whose result is made of their arguments."""

LOOKED_AT_BY_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in words(
        "bool complex float format hash hasattr id int isinstance len print range repr str type"
    )
)
"""Builtin functions that only look at their arguments."""

SHOWN_BY_BUILTINS = frozenset(f"builtins.{name}" for name in words("format print repr str"))
"""Those among them that write a tensor down together with its place in the graph."""

CONVERTS = frozenset(f"builtins.{name}" for name in words("complex float int"))
"""Those that make a number of a tensor, and warn where it needs a gradient."""

MAKES_ARRAY = frozenset(f"numpy.{name}" for name in words("array asarray concatenate float32 stack"))
"""Functions that raise for a tensor that needs a gradient: where they are called, there is none."""

PUTS_IN = frozenset(words("append appendleft add extend insert"))
"""Methods that put their argument into a container."""
