"""Rows for torch: tensors, functions, layers, optimisers, devices, processes."""

from __future__ import annotations

from rlint.models.effect import PURE, READS, Effect, EffectKind
from rlint.models.fact import (
    ANYTHING,
    BOOL,
    DRAWS,
    DRAWS_INTO,
    FILE_IO,
    FLOAT,
    FUNCTION,
    INT,
    MAY_DRAW,
    NEW,
    NEW_TENSOR,
    NEW_TENSORS,
    NOTHING,
    SEEDS,
    SHAPE,
    STR,
    TENSOR,
    TENSORS,
    TUPLE,
    Table,
    facts,
    makers,
    table,
    words,
)
from rlint.models.trait import Trait
from rlint.models.value_type import Device, Type, TypeTag

_ON_HOST = Type(TypeTag.TENSOR, device=Device.HOST, fresh=True)
_OF_HOST_MEMORY = Type(TypeTag.TENSOR, device=Device.HOST)
_TENSOR_LIST = Type(TypeTag.LIST, item=TENSOR, fresh=True)
_CONTEXT = Type(TypeTag.INSTANCE, fresh=True)
_ON_CUDA = Type(TypeTag.TENSOR, device=Device.CUDA)
_GENERATOR = Type(TypeTag.RANDOM_GENERATOR, of="torch.Generator")
_CHANGES = Effect(EffectKind.MUTATES, "changes the tensor")
_FILLS = Effect(EffectKind.MUTATES, "fills the tensor")
_SETTINGS = Effect(EffectKind.OTHER, "changes a setting of torch")
_GRADIENTS = Effect(EffectKind.MUTATES, "changes gradients")
_ACCUMULATES = Effect(EffectKind.ACCUMULATES_GRADIENTS, "accumulates gradients")
_STATISTICS = Effect(EffectKind.OTHER, "updates running statistics")
_DEVICE_WAIT = Effect(EffectKind.WAITS, "waits for the device")
_DEVICE_STATE = Effect(EffectKind.OTHER, "changes the state of the device")
_TALKS = Effect(EffectKind.COMMUNICATES, "talks to other processes")
_OPTIMIZER_CHANGES = Effect(EffectKind.MUTATES, "changes the optimizer")
_STARTS_PROCESSES = Effect(EffectKind.OTHER, "starts processes")
_CALLS_BACK = Effect(EffectKind.UNKNOWN, "calls the function that it is given")

_FOREACH = (
    ("1.7", "1.7", "add addcdiv addcmul div exp mul sqrt sub"),
    ("1.8", "1.8", "abs log neg reciprocal"),
    ("1.8", "1.13", "maximum minimum"),
    ("2.0", "2.0", "clamp_max clamp_min lerp"),
    ("2.1", "2.1", "pow sign"),
)
"""Operations on lists of tensors, after the releases that introduced them and their in-place forms (from the
stubs in the wheels).
"""


def _foreach(names: str, suffix: str = "") -> str:
    return " ".join(f"_foreach_{name}{suffix}" for name in words(names))


_TENSORS: Table = table(
    facts("torch", PURE, _ON_HOST, "arange", Trait.FROM_NUMBERS, takes="start end step"),
    facts("torch", PURE, _ON_HOST, "eye", Trait.FROM_NUMBERS, takes="n m"),
    facts("torch", PURE, _ON_HOST, "linspace", Trait.FROM_NUMBERS, takes="start end steps"),
    facts("torch", PURE, _ON_HOST, "logspace", Trait.FROM_NUMBERS),
    facts("torch", PURE, _ON_HOST, "empty ones", Trait.FILLS, takes="*size"),
    facts("torch", PURE, _ON_HOST, "full", Trait.FILLS, takes="size fill_value"),
    facts("torch", PURE, _ON_HOST, "empty_strided scalar_tensor range"),
    facts("torch", PURE, _ON_HOST, "tril_indices triu_indices", Trait.FROM_NUMBERS),
    facts("torch", PURE, _ON_HOST, "tensor", Trait.FROM_DATA, takes="data"),
    facts("torch", PURE, _ON_HOST, "zeros", Trait.FILLS, takes="*size"),
    facts(
        "torch", PURE, _ON_HOST, "bartlett_window blackman_window hamming_window hann_window kaiser_window"
    ),
    facts("torch", PURE, _OF_HOST_MEMORY, "from_numpy", Trait.CHEAP),
    facts("torch", PURE, _OF_HOST_MEMORY, "frombuffer", since="1.10"),
    facts("torch", DRAWS, _ON_HOST, "rand randn", Trait.DRAWS_SHAPE, takes="*size"),
    facts("torch", DRAWS, _ON_HOST, "randint", Trait.DRAWS_SHAPE, takes="low high size"),
    facts("torch", DRAWS, _ON_HOST, "randperm", Trait.DRAWS_SHAPE, takes="n"),
    facts("torch", DRAWS, NEW_TENSOR, "bernoulli binomial normal poisson"),
    facts("torch", DRAWS, NEW_TENSOR, "multinomial", Trait.GIVES_INDEX),
    facts("torch", DRAWS, NEW_TENSOR, "rand_like randint_like", Trait.DRAWS_LIKE | Trait.DETACHES),
    facts("torch", DRAWS, NEW_TENSOR, "randn_like", Trait.DRAWS_LIKE | Trait.DETACHES),
    facts("torch", DRAWS, NEW_TENSOR, "rrelu"),
    facts("torch", DRAWS, TENSOR, "alpha_dropout dropout feature_dropout"),
    # With a tensor as argument, these keep its device and may share its memory.
    facts("torch", PURE, TENSOR, "as_tensor", Trait.FROM_DATA | Trait.CHEAP, takes="data dtype device"),
    facts("torch", PURE, TENSOR, "asarray", Trait.FROM_DATA, since="1.11"),
    facts("torch", PURE, TENSOR, "from_dlpack utils.dlpack.from_dlpack"),
    facts(
        "torch", PURE, _OF_HOST_MEMORY, "Tensor ByteTensor BoolTensor DoubleTensor HalfTensor", Trait.LEGACY
    ),
    facts("torch", PURE, _OF_HOST_MEMORY, "FloatTensor", Trait.LEGACY, takes="*size"),
    facts("torch", PURE, _OF_HOST_MEMORY, "IntTensor ShortTensor CharTensor BFloat16Tensor", Trait.LEGACY),
    facts("torch", PURE, _OF_HOST_MEMORY, "LongTensor", Trait.LEGACY, takes="*size"),
    facts(
        "torch.cuda", PURE, _ON_CUDA, "BoolTensor ByteTensor DoubleTensor FloatTensor HalfTensor IntTensor"
    ),
    facts("torch.cuda", PURE, _ON_CUDA, "LongTensor"),
    facts("torch", PURE, TENSOR, "autograd.Variable"),
    facts(
        "torch", PURE, TENSOR, "nn.Parameter nn.UninitializedParameter", Trait.PARAMETERS | Trait.HOLDS_PARTS
    ),
    facts("torch", PURE, TENSOR, "nn.Buffer", Trait.HOLDS_PARTS, since="2.5"),
    facts("torch", PURE, NEW_TENSOR, "clone", Trait.COPIES),
    facts("torch", PURE, NEW_TENSOR, "complex"),
    facts(
        "torch",
        PURE,
        NEW_TENSOR,
        "empty_like full_like ones_like zeros_like",
        Trait.FILLS_LIKE | Trait.DETACHES,
    ),
    facts(
        "torch",
        PURE,
        NEW_TENSOR,
        """abs acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh
        bitwise_not ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac i0 lgamma
        log log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal relu round rsqrt selu sgn
        sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc""",
        Trait.ELEMENTWISE,
    ),
    facts(
        "torch",
        PURE,
        NEW_TENSOR,
        "isfinite isinf isnan isneginf isposinf isreal logical_not",
        Trait.ELEMENTWISE | Trait.COMPARES,
    ),
    facts(
        "torch",
        PURE,
        NEW_TENSOR,
        """add arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
        copysign div divide float_power floor_divide fmax fmin fmod gcd heaviside hypot lcm ldexp
        logaddexp logaddexp2 mul multiply nextafter polar pow remainder rsub true_divide xlogy""",
        Trait.PAIRWISE,
    ),
    facts("torch", PURE, NEW_TENSOR, "maximum minimum", Trait.PAIRWISE | Trait.LIMITS),
    facts("torch", PURE, NEW_TENSOR, "eq ne not_equal", Trait.COMPARES | Trait.DIFFERS | Trait.PAIRWISE),
    facts("torch", PURE, NEW_TENSOR, "isclose", Trait.COMPARES | Trait.DIFFERS),
    facts(
        "torch",
        PURE,
        NEW_TENSOR,
        """ge greater greater_equal gt le less less_equal logical_and logical_or logical_xor lt""",
        Trait.COMPARES | Trait.PAIRWISE,
    ),
    facts("torch", PURE, NEW_TENSOR, "baddbmm bmm", Trait.MULTIPLIES_BATCHES),
    facts("torch", PURE, NEW_TENSOR, "sub subtract", Trait.DIFFERS | Trait.PAIRWISE),
    facts(
        "torch",
        PURE,
        NEW_TENSOR,
        """addbmm addcdiv addcmul addmm addmv addr block_diag celu cholesky cholesky_inverse
        cholesky_solve clamp_max clamp_min combinations conv1d conv2d conv3d conv_transpose1d
        conv_transpose2d corrcoef cosine_embedding_loss cov cross cumprod cumsum cumulative_trapezoid det
        diag_embed diagflat diff embedding ger group_norm hardshrink hinge_embedding_loss histc igamma
        index_add index_copy index_fill index_put inner inverse kron layer_norm lerp log_softmax
        logcumsumexp logdet masked_scatter matmul matrix_exp matrix_power mm msort mv
        nanquantile outer pdist pinverse prelu quantile renorm scatter scatter_add scatter_reduce softmax
        take take_along_dim tensordot threshold trace trapezoid trapz vander vdot""",
    ),
    facts("torch", PURE, NEW_TENSOR, "masked_select", Trait.SELECTS_BY_MASK),
    facts("torch", PURE, NEW_TENSOR, "clamp", Trait.LIMITS),
    facts("torch", PURE, NEW_TENSOR, "amax amin", Trait.REDUCES, since="1.7"),
    facts("torch", PURE, NEW_TENSOR, "logsumexp prod", Trait.REDUCES),
    facts("torch", PURE, NEW_TENSOR, "nanmean", Trait.REDUCES, since="1.10"),
    facts("torch", PURE, NEW_TENSOR, "nansum", Trait.REDUCES, since="1.7"),
    facts("torch", PURE, NEW_TENSOR, "mean norm std var", Trait.REDUCES | Trait.SUMMARISES),
    facts("torch", PURE, NEW_TENSOR, "argmax argmin", Trait.REDUCES | Trait.GIVES_INDEX),
    facts("torch", PURE, NEW_TENSOR, "count_nonzero", Trait.REDUCES | Trait.GIVES_INDEX, since="1.7"),
    facts("torch", PURE, NEW_TENSOR, "argsort bincount", Trait.GIVES_INDEX),
    facts("torch", PURE, NEW_TENSOR, "argwhere", Trait.GIVES_INDEX, since="1.11"),
    facts("torch", PURE, NEW_TENSOR, "bucketize searchsorted", Trait.GIVES_INDEX, since="1.6"),
    facts("torch", PURE, NEW_TENSOR, "cat hstack", Trait.JOINS | Trait.JOINS_FLAT),
    facts("torch", PURE, NEW_TENSOR, "column_stack dstack stack vstack", Trait.JOINS),
    facts("torch", PURE, NEW_TENSOR, "cdist cosine_similarity dist pairwise_distance", Trait.DIFFERS),
    facts("torch", PURE, NEW_TENSOR, "dot", Trait.SUMS),
    facts("torch", PURE, NEW_TENSOR, "flip fliplr flipud roll rot90", Trait.MIRRORS),
    facts("torch", PURE, NEW_TENSOR, "gather index_select masked_fill tril triu", Trait.SAME_KIND),
    facts("torch", PURE, NEW_TENSOR, "isin", Trait.COMPARES, since="1.10"),
    facts("torch", PURE, NEW_TENSOR, "repeat_interleave tile", Trait.REPEATS),
    facts("torch", PURE, NEW_TENSOR, "sum", Trait.REDUCES | Trait.SUMS | Trait.SUMMARISES),
    # Views, or the argument itself if nothing changes.
    facts(
        "torch",
        PURE,
        TENSOR,
        """adjoint as_strided cartesian_prod chain_matmul conj conj_physical diag diagonal einsum imag
        positive real resolve_conj select view_as_complex""",
    ),
    facts("torch", PURE, TENSOR, "broadcast_to", Trait.REPEATS),
    facts("torch", PURE, TENSOR, "detach", Trait.SAME_VALUES | Trait.DETACHES | Trait.CHEAP),
    facts("torch", PURE, TENSOR, "flatten reshape squeeze unsqueeze", Trait.KEEPS_ORDER | Trait.CHEAP),
    facts("torch", PURE, TENSOR, "movedim moveaxis swapaxes swapdims", Trait.PERMUTES),
    facts("torch", PURE, TENSOR, "narrow view_as_real", Trait.CHEAP),
    facts("torch", PURE, TENSOR, "permute t transpose", Trait.PERMUTES | Trait.CHEAP),
    facts("torch", PURE, TENSOR, "ravel unflatten", Trait.KEEPS_ORDER),
    facts("torch", PURE, TENSORS, "broadcast_tensors dsplit hsplit meshgrid split_with_sizes"),
    facts("torch", PURE, TENSORS, "chunk split", Trait.CHEAP),
    facts("torch", PURE, TENSORS, "tensor_split vsplit"),
    facts("torch", PURE, TENSORS, "unbind", Trait.CHEAP),
    facts("torch", PURE, NEW_TENSORS, "aminmax frexp histogram std_mean svd"),
    facts("torch", PURE, NEW_TENSORS, "cummax cummin kthvalue mode sort", Trait.INDICES_SECOND),
    facts("torch", PURE, NEW_TENSORS, "slogdet var_mean"),
    facts("torch", PURE, NEW_TENSORS, "topk", Trait.INDICES_SECOND),
    # One tensor or several, depending on the arguments.
    facts("torch", PURE, NEW_TENSOR, "all any", Trait.REDUCES),
    facts("torch", PURE, NEW, "gradient"),
    facts("torch", PURE, NEW, "unique unique_consecutive", by_count={1: NEW_TENSOR}),
    facts("torch", PURE, NEW, "where", by_count={1: NEW_TENSORS, 3: NEW_TENSOR}),
    facts(
        "torch",
        PURE,
        NEW,
        "max median min nanmedian",
        Trait.REDUCES | Trait.INDICES_SECOND,
        by_count={1: NEW_TENSOR},
    ),
    facts("torch", PURE, NEW, "nonzero", Trait.GIVES_INDEX, by_count={1: NEW_TENSOR}, since="as_tuple=1.3"),
    facts("torch", PURE, ANYTHING, "atleast_1d atleast_2d atleast_3d"),
    facts("torch", PURE, BOOL, "allclose equal", Trait.COMPARES | Trait.DIFFERS),
    facts("torch", PURE, BOOL, "can_cast is_nonzero is_same_size"),
    facts("torch", PURE, BOOL, "is_complex", Trait.MEASURES | Trait.CHEAP),
    facts("torch", PURE, BOOL, "is_floating_point", Trait.MEASURES | Trait.GIVES_NUMBER | Trait.CHEAP),
    facts("torch", PURE, BOOL, "is_storage"),
    facts("torch", PURE, BOOL, "is_tensor", Trait.TESTS_CLASS | Trait.CHEAP),
    facts("torch", PURE, INT, "numel", Trait.MEASURES | Trait.GIVES_NUMBER | Trait.CHEAP),
    facts("torch", PURE, INT, "get_device", Trait.MEASURES | Trait.GIVES_NUMBER),
    facts("torch", PURE, SHAPE, "Size broadcast_shapes", Trait.CHEAP),
    facts("torch", PURE, Type(TypeTag.DTYPE), "promote_types result_type", Trait.CHEAP, since="1.3"),
    facts("torch", PURE, ANYTHING, "finfo iinfo", Trait.CHEAP),
    facts("torch", PURE, ANYTHING, "typename"),
    facts("torch", PURE, Type(TypeTag.DEVICE), "device", Trait.CHEAP | Trait.SETS_WITHIN),
    facts("torch", READS, Type(TypeTag.DEVICE), "get_default_device", Trait.READS_STATE),
    facts(
        "torch",
        _CHANGES,
        TENSOR,
        """abs_ acos_ asin_ atan_ ceil_ celu_ clamp_max_ clamp_min_ cos_ cosh_ deg2rad_ erf_ erfc_ exp_ exp2_
        expm1_ fill_ floor_ frac_ i0_ index_put_ log_ log10_ log1p_ log2_ logit_ nan_to_num_ neg_ rad2deg_
        reciprocal_ relu_ round_ rsqrt_ selu_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_
        threshold_ trunc_ zero_""",
    ),
    facts("torch", _CHANGES, TENSOR, "clamp_", Trait.LIMITS),
    facts("torch", _CHANGES, TENSOR, "detach_", Trait.DETACHES),
    facts(
        "torch", DRAWS_INTO, TENSOR, "alpha_dropout_ dropout_ feature_alpha_dropout_ feature_dropout_ rrelu_"
    ),
    *(
        rows
        for since, in_place_since, names in _FOREACH
        for rows in (
            facts("torch", PURE, _TENSOR_LIST, _foreach(names), since=since),
            facts("torch", _CHANGES, NOTHING, _foreach(names, "_"), since=in_place_since),
        )
    ),
    facts("torch", PURE, _TENSOR_LIST, "_foreach_norm", since="1.11"),
    facts("torch.testing", READS, NOTHING, "assert_close", Trait.DIFFERS),
    facts("torch", READS, ANYTHING, "compile", Trait.WRAPS, since="2.0"),
    facts("torch.jit", _CALLS_BACK, ANYTHING, "script", Trait.WRAPS | Trait.CACHES),
    facts("torch.jit", _CALLS_BACK, ANYTHING, "trace", Trait.WRAPS),
    facts("torch.jit", PURE, ANYTHING, "export ignore", Trait.MARKS),
    facts("torch", PURE, FUNCTION, "func.grad func.vmap vmap", since="2.0"),
    facts("torch", PURE, ANYTHING, "stft istft hash_tensor sparse_coo_tensor"),
    facts("torch.linalg", PURE, NEW_TENSOR, "cholesky cond cross det eigvals eigvalsh inv matmul matrix_exp"),
    facts("torch.linalg", PURE, NEW_TENSOR, "matrix_norm matrix_power matrix_rank multi_dot norm pinv solve"),
    facts("torch.linalg", PURE, NEW_TENSOR, "solve_triangular svdvals vecdot vector_norm"),
    facts("torch.linalg", PURE, NEW_TENSORS, "eig eigh lstsq lu lu_factor qr slogdet svd"),
    facts("torch.fft", PURE, NEW_TENSOR, "fft fft2 fftfreq fftn ifft ifft2 ifftn irfft irfft2 irfftn rfft"),
    facts("torch.fft", PURE, NEW_TENSOR, "fftshift ifftshift rfft2 rfftfreq rfftn"),
    facts(
        "torch.special", PURE, NEW_TENSOR, "digamma entr erf erfc erfinv exp2 expit expm1 gammaln i0 log1p"
    ),
    facts("torch.special", PURE, NEW_TENSOR, "log_ndtr log_softmax logit logsumexp ndtr ndtri softmax xlogy"),
)

_FUNCTIONAL: Table = table(
    facts(
        "torch.nn.functional",
        PURE,
        NEW_TENSOR,
        """adaptive_avg_pool1d adaptive_avg_pool2d affine_grid avg_pool1d avg_pool2d avg_pool3d bilinear
        binary_cross_entropy binary_cross_entropy_with_logits conv1d conv2d conv3d conv_transpose1d
        conv_transpose2d conv_transpose3d cosine_embedding_loss cross_entropy ctc_loss embedding
        embedding_bag fold gaussian_nll_loss glu grid_sample group_norm hinge_embedding_loss huber_loss
        kl_div layer_norm linear local_response_norm log_softmax margin_ranking_loss multi_margin_loss
        multilabel_margin_loss nll_loss normalize one_hot poisson_nll_loss prelu rms_norm smooth_l1_loss
        soft_margin_loss softmax softmin triplet_margin_loss unfold""",
    ),
    facts("torch.nn.functional", PURE, NEW_TENSOR, "celu elu leaky_relu", Trait.ELEMENTWISE, plain=2),
    facts(
        "torch.nn.functional",
        PURE,
        NEW_TENSOR,
        "gelu hardshrink logsigmoid sigmoid softplus softshrink softsign tanh tanhshrink",
        Trait.ELEMENTWISE,
    ),
    facts(
        "torch.nn.functional",
        PURE,
        NEW_TENSOR,
        "hardsigmoid hardswish mish relu relu6 selu silu",
        Trait.ELEMENTWISE,
        plain=1,
    ),
    facts("torch.nn.functional", PURE, NEW_TENSOR, "hardtanh threshold", Trait.ELEMENTWISE, plain=3),
    facts(
        "torch.nn.functional",
        PURE,
        NEW_TENSOR,
        "cosine_similarity l1_loss mse_loss pairwise_distance",
        Trait.DIFFERS,
    ),
    facts(
        "torch.nn.functional", PURE, TENSOR, "channel_shuffle interpolate pad pixel_shuffle pixel_unshuffle"
    ),
    facts("torch.nn.functional", PURE, TENSOR, "upsample"),
    # With `return_indices` these return two tensors.
    facts("torch.nn.functional", PURE, NEW, "adaptive_max_pool1d adaptive_max_pool2d max_pool1d max_pool2d"),
    facts("torch.nn.functional", PURE, NEW, "max_pool3d max_unpool2d"),
    facts("torch.nn.functional", DRAWS, TENSOR, "alpha_dropout dropout dropout1d dropout2d dropout3d"),
    facts("torch.nn.functional", DRAWS, TENSOR, "feature_alpha_dropout gumbel_softmax rrelu"),
    facts("torch.nn.functional", DRAWS, NEW, "fractional_max_pool2d fractional_max_pool3d"),
    facts("torch.nn.functional", MAY_DRAW, TENSOR, "scaled_dot_product_attention"),
    facts("torch.nn.functional", MAY_DRAW, TUPLE, "multi_head_attention_forward"),
    facts("torch.nn.functional", _STATISTICS, NEW_TENSOR, "batch_norm instance_norm"),
    facts("torch.nn.functional", _CHANGES, TENSOR, "celu_ elu_ hardtanh_ leaky_relu_ relu_ selu_ threshold_"),
    facts("torch.nn.functional", DRAWS_INTO, TENSOR, "rrelu_"),
)

_LAYERS: Table = table(
    # The weights of these are drawn when the layer is created.
    makers("torch.nn", DRAWS, TypeTag.MODULE, "AdaptiveLogSoftmaxWithLoss", Trait.NO_SINGLE_TENSOR),
    makers(
        "torch.nn",
        DRAWS,
        TypeTag.MODULE,
        "MultiheadAttention",
        Trait.NO_SINGLE_TENSOR,
        takes="embed_dim num_heads dropout bias",
    ),
    makers("torch.nn", DRAWS, TypeTag.MODULE, "Bilinear Embedding EmbeddingBag", Trait.HAS_WEIGHT),
    makers(
        "torch.nn",
        DRAWS,
        TypeTag.MODULE,
        """Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Linear""",
        Trait.HAS_WEIGHT | Trait.AFFINE,
    ),
    makers(
        "torch.nn",
        DRAWS,
        TypeTag.MODULE,
        "GRU LSTM",
        Trait.RECURRENT | Trait.NO_SINGLE_TENSOR,
        takes="input_size hidden_size num_layers bias batch_first dropout bidirectional",
    ),
    makers("torch.nn", DRAWS, TypeTag.MODULE, "LSTMCell", Trait.RECURRENT | Trait.NO_SINGLE_TENSOR),
    makers(
        "torch.nn",
        DRAWS,
        TypeTag.MODULE,
        "RNN",
        Trait.RECURRENT | Trait.NO_SINGLE_TENSOR,
        takes="input_size hidden_size num_layers nonlinearity bias batch_first dropout bidirectional",
    ),
    makers("torch.nn", DRAWS, TypeTag.MODULE, "GRUCell RNNCell", Trait.RECURRENT),
    makers(
        "torch.nn",
        DRAWS,
        TypeTag.MODULE,
        "Transformer",
        takes="d_model nhead num_encoder_layers num_decoder_layers dim_feedforward dropout activation",
    ),
    makers(
        "torch.nn",
        DRAWS,
        TypeTag.MODULE,
        "TransformerDecoderLayer TransformerEncoderLayer",
        takes="d_model nhead dim_feedforward dropout activation",
    ),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        """AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
        AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss CTCLoss
        ChannelShuffle ConstantPad1d ConstantPad2d ConstantPad3d CosineEmbeddingLoss CosineSimilarity
        CrossEntropyLoss Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout Flatten Fold GELU GLU
        GaussianNLLLoss Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss HuberLoss Identity
        KLDivLoss L1Loss LocalResponseNorm LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1d
        MaxPool2d MaxPool3d MaxUnpool2d Mish MultiLabelMarginLoss MultiMarginLoss NLLLoss PairwiseDistance
        PixelShuffle PixelUnshuffle PoissonNLLLoss RReLU ReflectionPad1d ReflectionPad2d ReplicationPad1d
        ReplicationPad2d SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus
        Softshrink Softsign Tanh Tanhshrink Threshold TripletMarginLoss Unflatten Unfold Upsample
        UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d""",
        Trait.WITHOUT_PARAMETERS,
    ),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        """BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d
        LayerNorm LazyBatchNorm1d LazyBatchNorm2d LazyConv1d LazyConv2d LazyConv3d LazyLinear RMSNorm
        SyncBatchNorm""",
    ),
    makers("torch.nn", PURE, TypeTag.MODULE, "TransformerDecoder TransformerEncoder", Trait.CONTAINS),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        "CELU ELU",
        Trait.WITHOUT_PARAMETERS | Trait.GRADIENT_BY_RESULT,
        takes="alpha inplace",
    ),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        "LeakyReLU",
        Trait.WITHOUT_PARAMETERS | Trait.GRADIENT_BY_RESULT,
        takes="negative_slope inplace",
    ),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        "ReLU ReLU6 SELU",
        Trait.WITHOUT_PARAMETERS | Trait.GRADIENT_BY_RESULT,
        takes="inplace",
    ),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        "Module",
        Trait.HOLDS_PARTS | Trait.NO_SINGLE_TENSOR,
    ),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        "ModuleDict",
        Trait.CONTAINS | Trait.HOLDS_PARTS | Trait.NO_SINGLE_TENSOR,
    ),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        "ModuleList",
        Trait.CONTAINS | Trait.ITERATES | Trait.HOLDS_PARTS | Trait.NO_SINGLE_TENSOR,
    ),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        "ParameterDict",
        Trait.PARAMETERS | Trait.HOLDS_PARTS | Trait.NO_SINGLE_TENSOR,
    ),
    makers(
        "torch.nn",
        PURE,
        TypeTag.MODULE,
        "ParameterList",
        Trait.PARAMETERS | Trait.ITERATES | Trait.HOLDS_PARTS | Trait.NO_SINGLE_TENSOR,
    ),
    makers("torch.nn", PURE, TypeTag.MODULE, "PReLU", Trait.HAS_WEIGHT),
    makers("torch.nn", PURE, TypeTag.MODULE, "Sequential", Trait.CONTAINS | Trait.HOLDS_PARTS),
    makers(
        "torch.nn",
        _TALKS,
        TypeTag.MODULE,
        "parallel.DistributedDataParallel",
        Trait.CONTAINS | Trait.NO_SINGLE_TENSOR,
    ),
    makers("torch.nn", READS, TypeTag.MODULE, "DataParallel", Trait.CONTAINS | Trait.NO_SINGLE_TENSOR),
    facts(
        "torch.nn.init", DRAWS_INTO, TENSOR, "kaiming_normal_ kaiming_uniform_ normal_ orthogonal_ sparse_"
    ),
    facts("torch.nn.init", DRAWS_INTO, TENSOR, "trunc_normal_ uniform_ xavier_normal_ xavier_uniform_"),
    facts("torch.nn.init", _FILLS, TENSOR, "constant_ dirac_ eye_ ones_ zeros_"),
    facts("torch.nn.init", PURE, FLOAT, "calculate_gain"),
    facts("torch.nn.utils", _GRADIENTS, TENSOR, "clip_grad_norm_", Trait.ITERATES, since="foreach=2.0"),
    facts("torch.nn.utils", _GRADIENTS, TENSOR, "clip_grad_norm"),
    facts("torch.nn.utils", _GRADIENTS, NOTHING, "clip_grad_value_", Trait.ITERATES, since="foreach=2.0"),
    facts("torch.nn.utils", _GRADIENTS, NOTHING, "clip_grads_with_norm_"),
    facts("torch.nn.utils", READS, TENSOR, "get_total_norm", Trait.ITERATES),
    facts("torch.nn.utils", PURE, NEW_TENSOR, "parameters_to_vector", Trait.ITERATES),
    facts("torch.nn.utils", PURE, NEW_TENSOR, "rnn.pad_sequence"),
    facts("torch.nn.utils", PURE, NEW, "rnn.pack_padded_sequence rnn.pack_sequence rnn.PackedSequence"),
    facts("torch.nn.utils", PURE, TENSORS, "rnn.pad_packed_sequence"),
    facts("torch.nn.utils", PURE, Type(TypeTag.LIST, item=TENSOR, fresh=True), "rnn.unpad_sequence"),
    facts("torch.nn.utils", _FILLS, NOTHING, "vector_to_parameters"),
    facts(
        "torch.nn.utils",
        Effect(EffectKind.MUTATES, "changes the module"),
        ANYTHING,
        "spectral_norm weight_norm",
        Trait.CONTAINS | Trait.ADDS_PART,
    ),
    facts(
        "torch.nn.utils.parametrizations",
        Effect(EffectKind.MUTATES, "changes the module"),
        ANYTHING,
        "orthogonal spectral_norm weight_norm",
        Trait.CONTAINS | Trait.ADDS_PART,
    ),
    facts(
        "torch.nn.utils",
        Effect(EffectKind.MUTATES, "changes the module"),
        ANYTHING,
        "remove_spectral_norm remove_weight_norm",
        Trait.ADDS_PART,
    ),
    facts(
        "torch.nn.utils.parametrize",
        Effect(EffectKind.MUTATES, "changes the module"),
        ANYTHING,
        "register_parametrization remove_parametrizations transfer_parametrizations_and_params",
        Trait.ADDS_PART,
    ),
    facts(
        "torch.nn.utils.prune",
        Effect(EffectKind.MUTATES, "changes the module"),
        ANYTHING,
        "custom_from_mask global_unstructured identity l1_unstructured ln_structured random_structured "
        "random_unstructured remove",
        Trait.ADDS_PART,
    ),
)

_LEARNING: Table = table(
    makers(
        "torch.optim",
        READS,
        TypeTag.OPTIMIZER,
        "LBFGS Optimizer SparseAdam",
        Trait.ITERATES,
    ),
    makers(
        "torch.optim",
        READS,
        TypeTag.OPTIMIZER,
        "ASGD Adadelta Adamax RMSprop Rprop",
        Trait.ITERATES,
        since="foreach=1.12",
    ),
    makers("torch.optim", READS, TypeTag.OPTIMIZER, "NAdam RAdam", Trait.ITERATES, since="1.10 foreach=1.12"),
    makers(
        "torch.optim",
        READS,
        TypeTag.OPTIMIZER,
        "Adam AdamW",
        Trait.ITERATES,
        since="foreach=1.12 fused=2.0 capturable=1.12",
    ),
    makers("torch.optim", READS, TypeTag.OPTIMIZER, "SGD", Trait.ITERATES, since="foreach=1.12 fused=2.3"),
    makers(
        "torch.optim", READS, TypeTag.OPTIMIZER, "Adagrad", Trait.ITERATES, since="foreach=1.12 fused=2.4"
    ),
    makers(
        "torch.optim.lr_scheduler",
        _OPTIMIZER_CHANGES,
        TypeTag.SCHEDULER,
        """ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR ExponentialLR
        LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR
        StepLR""",
    ),
    makers(
        "torch.distributions",
        PURE,
        TypeTag.DISTRIBUTION,
        """Bernoulli Beta Categorical Cauchy FisherSnedecor Gamma Geometric Gumbel Independent Kumaraswamy
        Laplace LogNormal LogisticNormal MixtureSameFamily Normal OneHotCategorical
        OneHotCategoricalStraightThrough Pareto TransformedDistribution Uniform VonMises Weibull""",
    ),
    makers(
        "torch.distributions",
        PURE,
        TypeTag.DISTRIBUTION,
        "Binomial Multinomial NegativeBinomial",
        takes="total_count probs logits validate_args",
    ),
    makers("torch.distributions", PURE, TypeTag.DISTRIBUTION, "Chi2", takes="df validate_args"),
    makers(
        "torch.distributions",
        PURE,
        TypeTag.DISTRIBUTION,
        "ContinuousBernoulli",
        takes="probs logits lims validate_args",
    ),
    makers(
        "torch.distributions", PURE, TypeTag.DISTRIBUTION, "Dirichlet", takes="concentration validate_args"
    ),
    makers(
        "torch.distributions", PURE, TypeTag.DISTRIBUTION, "Exponential Poisson", takes="rate validate_args"
    ),
    makers(
        "torch.distributions",
        PURE,
        TypeTag.DISTRIBUTION,
        "HalfCauchy HalfNormal",
        takes="scale validate_args",
    ),
    makers(
        "torch.distributions",
        PURE,
        TypeTag.DISTRIBUTION,
        "GeneralizedPareto",
        takes="loc scale concentration validate_args",
    ),
    makers(
        "torch.distributions",
        PURE,
        TypeTag.DISTRIBUTION,
        "LowRankMultivariateNormal",
        takes="loc cov_factor cov_diag validate_args",
    ),
    makers(
        "torch.distributions",
        PURE,
        TypeTag.DISTRIBUTION,
        "MultivariateNormal",
        takes="loc covariance_matrix precision_matrix scale_tril validate_args",
    ),
    makers(
        "torch.distributions",
        PURE,
        TypeTag.DISTRIBUTION,
        "RelaxedBernoulli RelaxedOneHotCategorical",
        takes="temperature probs logits validate_args",
    ),
    makers("torch.distributions", PURE, TypeTag.DISTRIBUTION, "StudentT", takes="df loc scale validate_args"),
    makers(
        "torch.distributions",
        PURE,
        TypeTag.DISTRIBUTION,
        "Wishart",
        takes="df covariance_matrix precision_matrix scale_tril validate_args",
    ),
    facts("torch.distributions", PURE, NEW_TENSOR, "kl_divergence"),
    facts("torch.distributions", PURE, NEW, "AffineTransform ComposeTransform ExpTransform SigmoidTransform"),
    facts("torch.distributions", PURE, NEW, "StickBreakingTransform TanhTransform"),
    facts("torch.autograd", PURE, TENSORS, "grad"),
    facts("torch.autograd", _ACCUMULATES, NOTHING, "backward"),
    facts("torch.autograd", _CALLS_BACK, ANYTHING, "functional.hessian functional.jacobian functional.vjp"),
    makers(
        "torch.utils.data",
        READS,
        TypeTag.LOADER,
        "DataLoader",
        Trait.DRAWS_ON_ITERATION,
        item=Type(TypeTag.BATCH, device=Device.HOST),
        since="persistent_workers=1.7 prefetch_factor=1.7 pin_memory_device=1.12",
    ),
    makers(
        "torch.utils.data",
        PURE,
        TypeTag.DATASET,
        "ChainDataset ConcatDataset Dataset IterableDataset Subset",
        Trait.HOLDS,
    ),
    makers("torch.utils.data", PURE, TypeTag.DATASET, "TensorDataset", Trait.HOLDS),
    makers("torch.utils.data", PURE, TypeTag.INSTANCE, "DistributedSampler SequentialSampler"),
    makers(
        "torch.utils.data",
        PURE,
        TypeTag.INSTANCE,
        "BatchSampler",
        Trait.DRAWS_ON_ITERATION,
        item=Type(TypeTag.LIST, item=Type(TypeTag.INT)),
    ),
    makers(
        "torch.utils.data",
        PURE,
        TypeTag.INSTANCE,
        "RandomSampler SubsetRandomSampler WeightedRandomSampler",
        Trait.DRAWS_ON_ITERATION,
    ),
    facts("torch.utils.data", DRAWS, Type(TypeTag.LIST, item=Type(TypeTag.DATASET)), "random_split"),
    facts("torch.utils.data", READS, ANYTHING, "default_collate get_worker_info"),
    makers("torch.utils.tensorboard", FILE_IO, TypeTag.WRITER, "SummaryWriter"),
    facts("torch.utils.checkpoint", _CALLS_BACK, ANYTHING, "checkpoint checkpoint_sequential"),
    facts("torch.func", _CALLS_BACK, ANYTHING, "functional_call", since="2.0"),
    facts("torch.func", READS, TUPLE, "stack_module_state", since="2.0"),
    facts("torch.utils._pytree", _CALLS_BACK, ANYTHING, "tree_map"),
    facts("torch.utils._pytree", READS, ANYTHING, "tree_flatten tree_leaves tree_unflatten"),
    makers("torch.amp", READS, TypeTag.INSTANCE, "GradScaler", since="2.3"),
    makers("torch.cuda.amp", READS, TypeTag.INSTANCE, "GradScaler", since="1.6"),
    facts("torch.cuda.amp", PURE, _CONTEXT, "autocast", Trait.SETS_WITHIN, since="1.6 dtype=1.10"),
    facts("torch.amp", PURE, _CONTEXT, "autocast", Trait.SETS_WITHIN, since="1.12"),
    facts("torch", PURE, _CONTEXT, "autocast", Trait.CHEAP | Trait.SETS_WITHIN, since="1.10"),
    facts("torch", PURE, _CONTEXT, "enable_grad no_grad", Trait.CHEAP | Trait.MARKS),
    facts("torch", PURE, _CONTEXT, "inference_mode", Trait.CHEAP | Trait.MARKS, since="1.9"),
    facts("torch", PURE, _CONTEXT, "autograd.profiler.record_function"),
    facts("torch.autograd", PURE, _CONTEXT, "detect_anomaly"),
    facts("torch.profiler", PURE, _CONTEXT, "profile record_function"),
    # A call takes effect at once; a context manager also at its end.
    facts("torch", _SETTINGS, _CONTEXT, "set_grad_enabled autograd.set_detect_anomaly"),
)

_SYSTEM: Table = table(
    facts("torch", FILE_IO, ANYTHING, "load", Trait.PARSES | Trait.LOADS, since="weights_only=1.13 mmap=2.1"),
    facts("torch", FILE_IO, ANYTHING, "jit.load hub.load", Trait.LOADS),
    facts("torch", FILE_IO, NOTHING, "save jit.save"),
    facts("torch", SEEDS, _GENERATOR, "manual_seed"),
    facts("torch", SEEDS, NOTHING, "set_rng_state random.set_rng_state seed"),
    facts("torch", READS, NEW_TENSOR, "get_rng_state random.get_rng_state", Trait.READS_STATE),
    facts("torch", READS, INT, "get_num_interop_threads get_num_threads initial_seed", Trait.READS_STATE),
    facts("torch", PURE, _CONTEXT, "random.fork_rng"),
    makers("torch", PURE, TypeTag.RANDOM_GENERATOR, "Generator"),
    facts("torch", READS, BOOL, "is_autocast_enabled is_inference_mode_enabled", Trait.READS_STATE),
    facts("torch", READS, BOOL, "is_grad_enabled", Trait.CHEAP | Trait.READS_STATE),
    facts("torch", READS, BOOL, "backends.cuda.is_built backends.mps.is_available backends.mps.is_built"),
    facts("torch", READS, BOOL, "compiler.is_compiling"),
    facts("torch", READS, Type(TypeTag.DTYPE), "get_autocast_dtype", Trait.READS_STATE),
    facts("torch", READS, Type(TypeTag.DTYPE), "get_default_dtype", Trait.CHEAP | Trait.READS_STATE),
    facts("torch", READS, STR, "get_float32_matmul_precision", Trait.READS_STATE),
    facts("torch", _SETTINGS, NOTHING, "set_anomaly_enabled set_default_device set_default_dtype"),
    facts("torch", _SETTINGS, NOTHING, "set_default_tensor_type set_float32_matmul_precision"),
    facts("torch", _SETTINGS, NOTHING, "set_flush_denormal set_num_interop_threads set_num_threads"),
    facts("torch", _SETTINGS, NOTHING, "set_printoptions use_deterministic_algorithms"),
    facts("torch.cuda", READS, BOOL, "is_available", Trait.CHEAP),
    facts("torch.cuda", READS, BOOL, "is_bf16_supported is_initialized"),
    facts("torch.cuda", READS, INT, "current_device device_count", Trait.CHEAP),
    facts("torch.cuda", READS, INT, "max_memory_allocated max_memory_reserved"),
    facts("torch.cuda", READS, INT, "memory_allocated memory_reserved"),
    facts("torch.cuda", READS, STR, "get_device_name memory_summary"),
    facts("torch.cuda", READS, ANYTHING, "current_stream default_stream get_device_capability mem_get_info"),
    facts(
        "torch.cuda", READS, ANYTHING, "get_device_properties get_rng_state get_rng_state_all memory_stats"
    ),
    facts("torch.cuda", _DEVICE_WAIT, NOTHING, "synchronize"),
    facts("torch.cuda", _DEVICE_STATE, NOTHING, "empty_cache init ipc_collect reset_peak_memory_stats"),
    facts("torch.cuda", _DEVICE_STATE, NOTHING, "set_device set_per_process_memory_fraction set_stream"),
    facts("torch.cuda", SEEDS, NOTHING, "manual_seed manual_seed_all seed set_rng_state set_rng_state_all"),
    # A CUDA event is not a `threading.Event`.
    makers("torch.cuda", PURE, TypeTag.INSTANCE, "CUDAGraph Event Stream"),
    facts("torch.cuda", PURE, _CONTEXT, "device stream graph"),
    facts("torch.cuda", _DEVICE_STATE, NOTHING, "nvtx.range_pop nvtx.range_push"),
    facts("torch.mps", _DEVICE_WAIT, NOTHING, "synchronize"),
    facts("torch.mps", _DEVICE_STATE, NOTHING, "empty_cache"),
    facts("torch.distributed", READS, BOOL, "is_available is_initialized"),
    facts("torch.distributed", READS, INT, "get_global_rank get_group_rank get_rank get_world_size"),
    facts("torch.distributed", READS, STR, "get_backend"),
    facts(
        "torch.distributed",
        _TALKS,
        ANYTHING,
        """all_gather all_gather_into_tensor all_gather_object all_reduce all_to_all all_to_all_single barrier
        broadcast broadcast_object_list destroy_process_group gather gather_object init_device_mesh
        init_process_group irecv isend new_group recv reduce reduce_scatter reduce_scatter_tensor scatter
        scatter_object_list send""",
    ),
    facts(
        "torch.multiprocessing",
        _STARTS_PROCESSES,
        ANYTHING,
        "spawn start_processes",
        takes="fn() args nprocs join daemon",
    ),
    facts("torch.multiprocessing", READS, STR, "get_sharing_strategy"),
    facts("torch.multiprocessing", _SETTINGS, NOTHING, "set_sharing_strategy"),
)

FACTS: Table = table(_TENSORS, _FUNCTIONAL, _LAYERS, _LEARNING, _SYSTEM)
