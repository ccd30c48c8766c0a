"""Rows for methods of objects with effects: files, threads, queues, environments, buffers."""

from __future__ import annotations

from rlint.models.effect import PURE, READS, Effect, EffectKind
from rlint.models.fact import (
    ANYTHING,
    BOOL,
    BYTES,
    DICT,
    DRAWS,
    DRAWS_INTO,
    FILE_IO,
    INT,
    LIST,
    NEW,
    NOTHING,
    SEEDS,
    SHAPE,
    STR,
    STRINGS,
    TUPLE,
    Table,
    methods,
    table,
)
from rlint.models.trait import Trait
from rlint.models.value_type import Type, TypeTag

_WAITS = Effect(EffectKind.WAITS, "waits")
_MATCH = Type(TypeTag.MATCH, optional=True)
_PATH = Type(TypeTag.PATH)
_FRAME = Type(TypeTag.DATAFRAME, fresh=True)

_RANDOM_GENERATOR: Table = table(
    methods(
        DRAWS,
        NEW,
        """beta betavariate bytes chisquare dirichlet expovariate exponential gamma gammavariate gauss
        getrandbits gumbel hypergeometric laplace logistic lognormal lognormvariate multinomial
        multivariate_normal normal normalvariate pareto permuted power rand randbytes randn random
        random_sample rayleigh spawn standard_cauchy standard_exponential standard_gamma standard_normal
        standard_t triangular uniform vonmises wald weibull zipf""",
    ),
    methods(DRAWS, NEW, "binomial geometric poisson randint randrange", Trait.WHOLE),
    methods(DRAWS, NEW, "integers", Trait.WHOLE, takes="low high size dtype endpoint", since="1.17"),
    methods(DRAWS, NEW, "choice choices permutation sample", Trait.PICKS),
    methods(DRAWS_INTO, NEW, "shuffle"),
    methods(SEEDS, ANYTHING, "manual_seed seed set_state setstate"),
    methods(READS, ANYTHING, "get_state getstate initial_seed"),
)

_PATTERN: Table = table(
    methods(PURE, _MATCH, "fullmatch match search", Trait.SEARCHES),
    methods(PURE, LIST, "findall split", Trait.SEARCHES),
    methods(PURE, Type(TypeTag.ITERATOR, item=Type(TypeTag.MATCH), fresh=True), "finditer", Trait.SEARCHES),
    methods(PURE, STR, "sub", takes="repl() string count"),
    methods(PURE, TUPLE, "subn"),
)
_MATCH_METHODS: Table = table(
    methods(PURE, ANYTHING, "group", Trait.CHEAP, by_count={0: STR, 1: Type(TypeTag.STR, optional=True)}),
    methods(PURE, TUPLE, "groups", Trait.CHEAP),
    methods(PURE, SHAPE, "span", Trait.CHEAP),
    methods(PURE, DICT, "groupdict"),
    methods(PURE, INT, "end start", Trait.CHEAP),
    methods(PURE, STR, "expand"),
)

_FILE: Table = table(
    methods(FILE_IO, ANYTHING, "close detach flush read read1 readinto readline seek truncate write"),
    methods(FILE_IO, ANYTHING, "writelines", Trait.ITERATES),
    methods(FILE_IO, LIST, "readlines"),
    methods(READS, INT, "fileno tell"),
    methods(READS, BOOL, "isatty readable seekable writable"),
    methods(READS, ANYTHING, "getbuffer getvalue"),
)
_PATH_METHODS: Table = table(
    methods(PURE, _PATH, "joinpath with_name with_suffix", Trait.CHEAP),
    methods(PURE, _PATH, "relative_to with_stem"),
    methods(READS, _PATH, "absolute expanduser readlink resolve"),
    methods(PURE, STR, "as_posix", Trait.CHEAP),
    methods(PURE, STR, "as_uri"),
    methods(PURE, BOOL, "is_absolute is_relative_to match"),
    methods(READS, BOOL, "exists is_dir is_file is_mount is_symlink samefile"),
    methods(READS, Type(TypeTag.ITERATOR, item=_PATH, fresh=True), "glob iterdir rglob walk"),
    methods(READS, ANYTHING, "lstat owner stat"),
    methods(FILE_IO, Type(TypeTag.FILE, of="pathlib.Path.open"), "open"),
    methods(FILE_IO, STR, "read_text"),
    methods(FILE_IO, BYTES, "read_bytes"),
    methods(FILE_IO, ANYTHING, "chmod hardlink_to mkdir rename replace rmdir symlink_to touch unlink"),
    methods(FILE_IO, INT, "write_bytes write_text"),
)
_LOGGER: Table = table(
    methods(
        Effect(EffectKind.LOGS, "writes to the log"),
        NOTHING,
        "critical error exception fatal warn warning",
        Trait.REPORTS | Trait.COMPLAINS,
    ),
    methods(Effect(EffectKind.LOGS, "writes to the log"), NOTHING, "debug log"),
    methods(Effect(EffectKind.LOGS, "writes to the log"), NOTHING, "info", Trait.REPORTS),
    methods(
        Effect(EffectKind.MUTATES, "changes the logger"),
        NOTHING,
        "addFilter addHandler removeHandler setLevel",
    ),
    methods(READS, BOOL, "hasHandlers"),
    methods(READS, BOOL, "isEnabledFor", Trait.CHEAP),
    methods(READS, INT, "getEffectiveLevel"),
    methods(READS, Type(TypeTag.LOGGER), "getChild"),
)
_WRITER: Table = methods(
    Effect(EffectKind.LOGS, "writes to the log"),
    NOTHING,
    """add_audio add_custom_scalars add_embedding add_figure add_graph add_histogram add_hparams add_image
    add_images add_mesh add_pr_curve add_scalar add_scalars add_text add_video close finish flush log""",
)

_QUEUE: Table = table(
    methods(Effect(EffectKind.MUTATES | EffectKind.WAITS, "changes the queue"), ANYTHING, "get get_nowait"),
    methods(
        Effect(EffectKind.MUTATES | EffectKind.WAITS, "changes the queue"),
        NOTHING,
        "put put_nowait",
        Trait.INSERTS,
    ),
    methods(READS, BOOL, "empty full", Trait.CHEAP | Trait.POLLS),
    methods(READS, INT, "qsize", Trait.CHEAP | Trait.POLLS),
    methods(_WAITS, NOTHING, "join join_thread"),
    methods(Effect(EffectKind.OTHER, "counts a task as done"), NOTHING, "task_done"),
    methods(Effect(EffectKind.OTHER, "closes the queue"), NOTHING, "cancel_join_thread close shutdown"),
)
_EVENT: Table = table(
    methods(READS, BOOL, "is_set", Trait.CHEAP | Trait.POLLS),
    methods(READS, BOOL, "isSet", Trait.POLLS),
    methods(Effect(EffectKind.OTHER, "sets the event"), NOTHING, "set"),
    methods(Effect(EffectKind.OTHER, "clears the event"), NOTHING, "clear"),
    methods(_WAITS, BOOL, "wait"),
)
_LOCK: Table = table(
    methods(Effect(EffectKind.WAITS, "takes the lock"), BOOL, "acquire"),
    methods(Effect(EffectKind.OTHER, "frees the lock"), NOTHING, "release"),
    methods(READS, BOOL, "locked"),
)
_CONDITION: Table = table(
    _LOCK,
    methods(_WAITS, BOOL, "wait wait_for"),
    methods(Effect(EffectKind.OTHER, "wakes others"), NOTHING, "notify notify_all"),
)
_BARRIER: Table = table(
    methods(_WAITS, INT, "wait"),
    methods(Effect(EffectKind.MUTATES, "changes the barrier"), NOTHING, "abort reset"),
)
_THREAD: Table = table(
    methods(READS, BOOL, "is_alive", Trait.CHEAP | Trait.POLLS),
    methods(READS, BOOL, "isDaemon"),
    methods(READS, STR, "getName"),
    methods(Effect(EffectKind.OTHER, "starts the thread"), NOTHING, "start"),
    methods(_WAITS, NOTHING, "join"),
    methods(Effect(EffectKind.OTHER, "runs the target"), ANYTHING, "run"),
    methods(Effect(EffectKind.MUTATES, "changes the thread"), NOTHING, "cancel setDaemon setName"),
)
_PROCESS: Table = table(
    methods(READS, BOOL, "is_alive", Trait.POLLS),
    methods(Effect(EffectKind.OTHER, "starts the process"), NOTHING, "start"),
    methods(_WAITS, NOTHING, "join"),
    methods(Effect(EffectKind.OTHER, "runs the target"), ANYTHING, "run"),
    methods(Effect(EffectKind.OTHER, "ends the process"), NOTHING, "close kill terminate"),
)
_RUNS_IN_OTHER_PROCESS = Effect(EffectKind.OTHER, "runs work elsewhere")
_POOL: Table = table(
    methods(_RUNS_IN_OTHER_PROCESS, LIST, "starmap", Trait.MAPS),
    methods(_RUNS_IN_OTHER_PROCESS, ANYTHING, "apply"),
    methods(_RUNS_IN_OTHER_PROCESS, ANYTHING, "imap imap_unordered map map_async", Trait.MAPS),
    methods(_RUNS_IN_OTHER_PROCESS, Type(TypeTag.FUTURE), "apply_async submit"),
    methods(_RUNS_IN_OTHER_PROCESS, Type(TypeTag.FUTURE), "starmap_async", Trait.MAPS),
    methods(Effect(EffectKind.OTHER, "closes the pool"), NOTHING, "close shutdown terminate"),
    methods(_WAITS, NOTHING, "join"),
)
_FUTURE: Table = table(
    methods(_WAITS, ANYTHING, "exception get result wait"),
    methods(READS, BOOL, "cancelled running successful"),
    methods(READS, BOOL, "done", Trait.CHEAP | Trait.POLLS),
    methods(READS, BOOL, "ready", Trait.POLLS),
    methods(
        Effect(EffectKind.MUTATES, "changes the future"),
        ANYTHING,
        "add_done_callback cancel set_exception set_result",
    ),
)
_SHARED_VALUE: Table = table(
    methods(READS, Type(TypeTag.LOCK), "get_lock"),
    methods(READS, ANYTHING, "get_obj"),
    methods(Effect(EffectKind.WAITS, "takes the lock"), BOOL, "acquire"),
    methods(Effect(EffectKind.OTHER, "frees the lock"), NOTHING, "release"),
)
_CONNECTION: Table = table(
    methods(Effect(EffectKind.OTHER, "sends a message"), NOTHING, "send send_bytes"),
    methods(Effect(EffectKind.WAITS, "receives a message"), ANYTHING, "recv recv_bytes recv_bytes_into"),
    methods(READS, BOOL, "poll", Trait.POLLS),
    methods(READS, INT, "fileno"),
    methods(Effect(EffectKind.OTHER, "closes the connection"), NOTHING, "close"),
)

_STEPS = Effect(EffectKind.OTHER, "steps the environment")
_ENVIRONMENT: Table = table(
    methods(_STEPS, ANYTHING, "recv reset send step step_async step_wait"),
    methods(Effect(EffectKind.RENDERS, "draws a frame"), ANYTHING, "get_images render"),
    methods(Effect(EffectKind.OTHER, "closes the environment"), NOTHING, "close"),
    methods(SEEDS, ANYTHING, "seed"),
)
_SPACE: Table = table(
    methods(DRAWS, NEW, "sample"),
    methods(SEEDS, ANYTHING, "seed"),
    methods(READS, BOOL, "contains is_bounded"),
)
_BUFFER_CHANGES = Effect(EffectKind.MUTATES, "changes the replay buffer")
_REPLAY_BUFFER: Table = table(
    methods(_BUFFER_CHANGES, ANYTHING, "add append insert push put remember store", Trait.INSERTS),
    methods(_BUFFER_CHANGES, ANYTHING, "clear empty extend reset"),
    methods(_BUFFER_CHANGES, ANYTHING, "compute_returns_and_advantage stop_current_episode update"),
    methods(_BUFFER_CHANGES, ANYTHING, "save_to_memory add_transition update_priorities update_priority"),
    methods(DRAWS, ANYTHING, "get sample sample_batch sample_indices"),
    methods(READS, INT, "size", Trait.CHEAP),
    methods(FILE_IO, ANYTHING, "dump dumps load loads save save_hdf5"),
)
_TOKENIZER: Table = table(
    methods(PURE, STR, "decode"),
    methods(PURE, STRINGS, "batch_decode tokenize"),
    methods(PURE, NEW, "__call__ apply_chat_template batch_encode_plus encode encode_plus pad"),
    methods(PURE, ANYTHING, "convert_ids_to_tokens convert_tokens_to_ids convert_tokens_to_string"),
    methods(READS, DICT, "get_added_vocab get_vocab"),
    methods(Effect(EffectKind.MUTATES, "changes the tokenizer"), INT, "add_special_tokens add_tokens"),
    methods(FILE_IO, ANYTHING, "push_to_hub save_pretrained save_vocabulary"),
)
_DATAFRAME: Table = table(
    methods(READS, _FRAME, "copy describe drop drop_duplicates dropna fillna head merge rename reset_index"),
    methods(READS, _FRAME, "sort_index sort_values tail"),
    methods(READS, ANYTHING, "corr count groupby isna isnull items iterrows itertuples max mean median min"),
    methods(READS, ANYTHING, "notna nunique quantile rolling std sum value_counts var"),
    methods(READS, NEW, "to_dict to_numpy to_records to_string"),
    methods(DRAWS, _FRAME, "sample"),
    methods(FILE_IO, ANYTHING, "to_csv to_hdf to_json to_parquet to_pickle", Trait.SAVES),
    methods(Effect(EffectKind.MUTATES, "changes the frame"), ANYTHING, "insert pop update"),
)
METHODS: dict[TypeTag, Table] = {
    TypeTag.RANDOM_GENERATOR: _RANDOM_GENERATOR,
    TypeTag.PATTERN: _PATTERN,
    TypeTag.MATCH: _MATCH_METHODS,
    TypeTag.FILE: _FILE,
    TypeTag.PATH: _PATH_METHODS,
    TypeTag.LOGGER: _LOGGER,
    TypeTag.WRITER: _WRITER,
    TypeTag.QUEUE: _QUEUE,
    TypeTag.EVENT: _EVENT,
    TypeTag.LOCK: _LOCK,
    TypeTag.SEMAPHORE: _LOCK,
    TypeTag.CONDITION: _CONDITION,
    TypeTag.BARRIER: _BARRIER,
    TypeTag.THREAD: _THREAD,
    TypeTag.PROCESS: _PROCESS,
    TypeTag.POOL: _POOL,
    TypeTag.FUTURE: _FUTURE,
    TypeTag.SHARED_VALUE: _SHARED_VALUE,
    TypeTag.CONNECTION: _CONNECTION,
    TypeTag.ENVIRONMENT: _ENVIRONMENT,
    TypeTag.SPACE: _SPACE,
    TypeTag.REPLAY_BUFFER: _REPLAY_BUFFER,
    TypeTag.TOKENIZER: _TOKENIZER,
    TypeTag.DATAFRAME: _DATAFRAME,
}
