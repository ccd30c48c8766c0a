"""Facts about the rest of the standard library, as far as RL code uses it."""

from __future__ import annotations

from rlint.models.effect import PURE, READS, Effect, EffectKind
from rlint.models.fact import (
    ANYTHING,
    BOOL,
    BYTES,
    CLOCK,
    DICT,
    DRAWS,
    DRAWS_INTO,
    FILE_IO,
    FLOAT,
    FUNCTION,
    INT,
    ITERATOR,
    LIST,
    NEW,
    NOTHING,
    PATTERN,
    PRINTS,
    SEEDS,
    SLEEPS,
    STR,
    STRINGS,
    TUPLE,
    Fact,
    Table,
    facts,
    makers,
    table,
    words,
)
from rlint.models.value_type import Type, TypeTag

_MATCH = Type(TypeTag.MATCH, optional=True)
_TEXT_OR_NONE = Type(TypeTag.STR, optional=True)
_PATH = Type(TypeTag.PATH)
_MANAGER = Type(TypeTag.PYTHON_MODULE, of="multiprocessing.managers.SyncManager")  # its methods make proxies
_LOGS = Effect(EffectKind.LOGS, "writes to the log")
_WARNS = Effect(EffectKind.WARNS, "warns")
_PROCESSES = Effect(EffectKind.OTHER, "starts processes")
_NETWORK = Effect(EffectKind.NETWORK, "uses the network")
_CHANGES = Effect(EffectKind.MUTATES, "changes its argument")
_SETTINGS = Effect(EffectKind.OTHER, "changes a setting of the process")
_UNPICKLES = Effect(EffectKind.UNKNOWN, "runs what the pickle says")
_WAITS = Effect(EffectKind.WAITS, "waits")
_IMPORTS = Effect(EffectKind.OTHER, "imports a module")

_NUMBERS: Table = table(
    facts("math", PURE, INT, "ceil comb factorial floor gcd isqrt lcm perm trunc"),
    facts("math", PURE, BOOL, "isclose isfinite isinf isnan"),
    facts(
        "math",
        PURE,
        FLOAT,
        """acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees erf erfc exp exp2 expm1 fabs
        fmod gamma ldexp lgamma log log10 log1p log2 nextafter pow radians remainder sin sinh sqrt tan tanh
        ulp""",
    ),
    facts("math", PURE, TUPLE, "frexp modf"),
    facts("math", READS, FLOAT, "dist fsum hypot"),
    facts("math", READS, ANYTHING, "prod sumprod"),
    facts("cmath", PURE, ANYTHING, "cos exp log phase polar rect sin sqrt tan"),
    facts(
        "statistics",
        READS,
        ANYTHING,
        """fmean geometric_mean harmonic_mean mean median median_high median_low mode multimode pstdev
        pvariance quantiles stdev variance correlation covariance linear_regression""",
    ),
    facts("decimal", PURE, NEW, "Decimal"),
    facts("decimal", READS, NEW, "getcontext localcontext"),
    facts("fractions", PURE, NEW, "Fraction"),
    facts(
        "operator",
        PURE,
        ANYTHING,
        """abs add and_ eq floordiv ge gt index inv invert is_ is_not le lshift lt mod mul ne neg not_ or_ pos
        pow rshift sub truediv xor""",
    ),
    facts("operator", READS, ANYTHING, "concat contains countOf getitem indexOf length_hint matmul truth"),
    facts("operator", PURE, FUNCTION, "attrgetter itemgetter methodcaller"),
    facts("operator", _CHANGES, NOTHING, "setitem delitem"),
    facts("operator", _CHANGES, ANYTHING, "iadd iand iconcat imul ior isub itruediv"),
    facts("struct", PURE, BYTES, "pack"),
    facts("struct", READS, TUPLE, "unpack unpack_from"),
    facts("struct", PURE, INT, "calcsize"),
    facts("struct", _CHANGES, NOTHING, "pack_into"),
    facts("zlib", READS, INT, "adler32 crc32"),
    facts("zlib", READS, BYTES, "compress decompress"),
    facts("gzip", READS, BYTES, "compress decompress"),
    facts("lzma", READS, BYTES, "compress decompress"),
    facts("bz2", READS, BYTES, "compress decompress"),
    facts("binascii", READS, INT, "crc32"),
    facts("binascii", READS, BYTES, "a2b_base64 a2b_hex b2a_base64 b2a_hex hexlify unhexlify"),
)

_TEXT: Table = table(
    facts("re", PURE, PATTERN, "compile"),
    facts("re", PURE, _MATCH, "fullmatch match search"),
    facts("re", PURE, LIST, "findall split"),
    facts("re", PURE, Type(TypeTag.ITERATOR, item=Type(TypeTag.MATCH), fresh=True), "finditer"),
    facts("re", PURE, STR, "escape sub"),
    facts("re", PURE, TUPLE, "subn"),
    facts("re", Effect(EffectKind.OTHER, "empties the cache of patterns"), NOTHING, "purge"),
    facts("regex", PURE, Type(TypeTag.PATTERN, of="regex.compile"), "compile"),
    facts("regex", PURE, _MATCH, "fullmatch match search"),
    facts("regex", PURE, LIST, "findall split"),
    facts("regex", PURE, Type(TypeTag.ITERATOR, item=Type(TypeTag.MATCH), fresh=True), "finditer"),
    facts("regex", PURE, STR, "escape sub"),
    facts("string", PURE, STR, "capwords"),
    facts("string", PURE, NEW, "Template Formatter"),
    facts("textwrap", PURE, STR, "dedent fill indent shorten"),
    facts("textwrap", PURE, STRINGS, "wrap"),
    facts("html", PURE, STR, "escape unescape"),
    facts("unicodedata", PURE, STR, "category name normalize"),
    facts("unicodedata", PURE, ANYTHING, "decimal digit numeric"),
    facts("difflib", READS, STRINGS, "get_close_matches"),
    facts("difflib", READS, ITERATOR, "context_diff ndiff unified_diff"),
    facts("difflib", READS, NEW, "SequenceMatcher Differ"),
    facts("shlex", PURE, STRINGS, "split"),
    facts("shlex", READS, STR, "join"),
    facts("shlex", PURE, STR, "quote"),
    facts("fnmatch", PURE, BOOL, "fnmatch fnmatchcase"),
    facts("fnmatch", READS, STRINGS, "filter"),
    facts("fnmatch", PURE, STR, "translate"),
    facts("json", PURE, NEW, "loads"),
    facts("json", READS, STR, "dumps"),
    facts("json", FILE_IO, NEW, "load"),
    facts("json", FILE_IO, NOTHING, "dump"),
    facts("ast", PURE, NEW, "literal_eval parse"),
    facts("ast", READS, STR, "dump get_docstring get_source_segment unparse"),
    facts("ast", READS, ITERATOR, "iter_child_nodes iter_fields walk"),
    facts("pprint", READS, STR, "pformat saferepr"),
    facts("pprint", PRINTS, NOTHING, "pp pprint"),
    facts("reprlib", READS, STR, "repr"),
    facts("base64", READS, BYTES, "b16decode b16encode b32decode b32encode b64decode b64encode b85decode"),
    facts("base64", READS, BYTES, "b85encode decodebytes encodebytes urlsafe_b64decode urlsafe_b64encode"),
    facts("hashlib", PURE, NEW, "blake2b blake2s md5 new sha1 sha224 sha256 sha384 sha3_256 sha3_512 sha512"),
    facts("hmac", READS, NEW, "new"),
    facts("hmac", PURE, BOOL, "compare_digest"),
    facts("urllib.parse", PURE, STR, "quote quote_plus unquote unquote_plus urljoin urlunparse urlunsplit"),
    facts("urllib.parse", READS, STR, "urlencode"),
    facts("urllib.parse", PURE, DICT, "parse_qs"),
    facts("urllib.parse", PURE, LIST, "parse_qsl"),
    facts("urllib.parse", PURE, TUPLE, "urlparse urlsplit"),
    facts("pickle", READS, BYTES, "dumps"),
    facts("pickle", FILE_IO, NOTHING, "dump"),
    facts("pickle", _UNPICKLES, NEW, "load loads"),
    facts("csv", FILE_IO, NEW, "DictWriter writer"),
    facts("csv", READS, ITERATOR, "DictReader reader"),
)

_CONTAINERS: Table = table(
    facts("copy", READS, NEW, "deepcopy"),
    # Shallow: a copied tensor shares its memory with the original.
    facts("copy", READS, ANYTHING, "copy"),
    makers("collections", READS, TypeTag.DEQUE, "deque"),
    makers("collections", READS, TypeTag.DICT, "ChainMap Counter OrderedDict UserDict defaultdict"),
    makers("collections", PURE, TypeTag.CLASS, "namedtuple"),
    makers("typing", PURE, TypeTag.CLASS, "NamedTuple TypedDict"),
    facts("typing", PURE, ANYTHING, "NewType TypeVar cast"),
    facts("typing", READS, TUPLE, "get_args"),
    facts("typing", READS, ANYTHING, "get_origin get_type_hints"),
    facts("dataclasses", READS, DICT, "asdict"),
    facts("dataclasses", READS, TUPLE, "astuple fields"),
    facts("dataclasses", READS, BOOL, "is_dataclass"),
    facts("dataclasses", PURE, ANYTHING, "field"),
    facts("enum", PURE, NEW, "auto"),
    facts("types", PURE, NEW, "MappingProxyType MethodType SimpleNamespace"),
    facts("array", READS, NEW, "array"),
    facts("itertools", PURE, ITERATOR, "accumulate chain chain.from_iterable combinations compress count"),
    facts("itertools", PURE, ITERATOR, "combinations_with_replacement cycle dropwhile filterfalse groupby"),
    facts("itertools", PURE, ITERATOR, "islice pairwise permutations product repeat starmap takewhile"),
    facts("itertools", PURE, ITERATOR, "batched zip_longest"),
    facts("itertools", PURE, TUPLE, "tee"),
    facts("functools", PURE, FUNCTION, "cache cmp_to_key lru_cache partial singledispatch wraps"),
    facts("functools", PURE, ANYTHING, "cached_property partialmethod total_ordering"),
    facts(
        "functools", Effect(EffectKind.MUTATES, "sets attributes of a function"), FUNCTION, "update_wrapper"
    ),
    # What it does is what the given function does.
    facts("functools", READS, ANYTHING, "reduce"),
    facts("heapq", _CHANGES, NOTHING, "heapify heappush"),
    facts("heapq", _CHANGES, ANYTHING, "heappop heappushpop heapreplace"),
    facts("heapq", READS, LIST, "nlargest nsmallest"),
    facts("heapq", PURE, ITERATOR, "merge"),
    facts("bisect", READS, INT, "bisect bisect_left bisect_right"),
    facts("bisect", _CHANGES, NOTHING, "insort insort_left insort_right"),
    facts("contextlib", PURE, NEW, "ExitStack closing nullcontext redirect_stdout suppress"),
    facts("contextlib", PURE, FUNCTION, "asynccontextmanager contextmanager"),
    facts("weakref", PURE, NEW, "WeakKeyDictionary WeakSet WeakValueDictionary proxy ref"),
    facts(
        "inspect", READS, BOOL, "isabstract isclass iscoroutine iscoroutinefunction isfunction isgenerator"
    ),
    facts("inspect", READS, BOOL, "isgeneratorfunction ismethod ismodule"),
    facts("inspect", READS, ANYTHING, "currentframe getdoc getfile getfullargspec getmembers getmodule"),
    facts("inspect", READS, ANYTHING, "getsource signature stack"),
)

_CHANCE: Table = table(
    facts("random", DRAWS, FLOAT, "betavariate expovariate gammavariate gauss lognormvariate normalvariate"),
    facts("random", DRAWS, FLOAT, "paretovariate random triangular uniform vonmisesvariate weibullvariate"),
    facts("random", DRAWS, INT, "getrandbits randint randrange"),
    facts("random", DRAWS, ANYTHING, "choice"),
    facts("random", DRAWS, LIST, "choices sample"),
    facts("random", DRAWS, BYTES, "randbytes"),
    facts("random", DRAWS_INTO, NOTHING, "shuffle"),
    facts("random", SEEDS, NOTHING, "seed setstate"),
    facts("random", READS, TUPLE, "getstate"),
    makers("random", SEEDS, TypeTag.RANDOM_GENERATOR, "Random SystemRandom"),
    facts("secrets", DRAWS, BYTES, "token_bytes"),
    facts("secrets", DRAWS, INT, "randbelow randbits"),
    facts("secrets", DRAWS, STR, "token_hex token_urlsafe"),
    facts("secrets", DRAWS, ANYTHING, "choice"),
    facts("uuid", DRAWS, NEW, "uuid1 uuid4"),
    facts("uuid", PURE, NEW, "UUID uuid3 uuid5"),
    facts("time", CLOCK, FLOAT, "monotonic perf_counter process_time thread_time time"),
    facts("time", CLOCK, INT, "monotonic_ns perf_counter_ns process_time_ns thread_time_ns time_ns"),
    facts("time", CLOCK, STR, "asctime ctime strftime"),
    facts("time", CLOCK, TUPLE, "gmtime localtime"),
    facts("time", PURE, FLOAT, "mktime"),
    facts("time", PURE, TUPLE, "strptime"),
    facts("time", SLEEPS, NOTHING, "sleep"),
    facts("timeit", CLOCK, FLOAT, "default_timer repeat timeit"),
    facts("datetime", CLOCK, NEW, "date.today datetime.now datetime.today datetime.utcnow"),
    facts("datetime", PURE, NEW, "date datetime datetime.combine datetime.fromisoformat datetime.strptime"),
    facts("datetime", PURE, NEW, "date.fromisoformat datetime.fromtimestamp time timedelta timezone"),
)

_SYSTEM: Table = table(
    facts("os", READS, INT, "cpu_count getpid getppid"),
    facts("os", READS, STR, "getcwd getlogin uname"),
    facts("os", READS, _TEXT_OR_NONE, "getenv environ.get"),
    facts("os", READS, ANYTHING, "environ.items environ.keys environ.values fspath stat sched_getaffinity"),
    facts("os", READS, NEW, "environ.copy"),
    facts("os", READS, BOOL, "access"),
    facts("os", _SETTINGS, ANYTHING, "environ.pop environ.setdefault environ.update putenv unsetenv nice"),
    facts("os", _SETTINGS, NOTHING, "chdir sched_setaffinity umask"),
    facts("os", READS, STRINGS, "listdir"),
    facts("os", READS, ITERATOR, "scandir walk"),
    facts("os", FILE_IO, ANYTHING, "close fsync link open read remove rename replace symlink unlink write"),
    facts("os", FILE_IO, NOTHING, "chmod makedirs mkdir removedirs rmdir truncate utime"),
    facts("os", _PROCESSES, ANYTHING, "fork popen system"),
    facts("os", Effect(EffectKind.OTHER, "signals a process"), NOTHING, "kill"),
    facts("os", Effect(EffectKind.OTHER, "ends the program"), NOTHING, "_exit abort"),
    facts("os", DRAWS, BYTES, "urandom"),
    facts("os.path", PURE, STR, "basename commonpath commonprefix dirname join normcase normpath"),
    facts("os.path", READS, STR, "abspath expanduser expandvars realpath relpath"),
    facts("os.path", PURE, TUPLE, "split splitdrive splitext"),
    facts("os.path", PURE, BOOL, "isabs"),
    facts("os.path", READS, BOOL, "exists isdir isfile islink ismount lexists samefile"),
    facts("os.path", READS, INT, "getsize"),
    facts("os.path", READS, FLOAT, "getatime getctime getmtime"),
    facts("pathlib", PURE, _PATH, "Path PosixPath PurePath PurePosixPath WindowsPath"),
    facts("pathlib", READS, _PATH, "Path.cwd Path.home"),
    facts("glob", READS, STRINGS, "glob"),
    facts("glob", READS, ITERATOR, "iglob"),
    facts("glob", PURE, STR, "escape"),
    facts(
        "shutil", FILE_IO, ANYTHING, "copy copy2 copyfile copytree make_archive move rmtree unpack_archive"
    ),
    facts("shutil", READS, _TEXT_OR_NONE, "which"),
    facts("shutil", READS, TUPLE, "disk_usage get_terminal_size"),
    facts(
        "tempfile", FILE_IO, ANYTHING, "NamedTemporaryFile TemporaryDirectory TemporaryFile mkdtemp mkstemp"
    ),
    facts("tempfile", READS, STR, "gettempdir"),
    facts("io", PURE, Type(TypeTag.FILE, of="io.BytesIO", fresh=True), "BytesIO"),
    facts("io", PURE, Type(TypeTag.FILE, of="io.StringIO", fresh=True), "StringIO"),
    facts("gzip", FILE_IO, Type(TypeTag.FILE, of="gzip.open"), "open"),
    facts("lzma", FILE_IO, Type(TypeTag.FILE, of="lzma.open"), "open"),
    facts("bz2", FILE_IO, Type(TypeTag.FILE, of="bz2.open"), "open"),
    facts("zipfile", FILE_IO, NEW, "ZipFile"),
    facts("subprocess", _PROCESSES, ANYTHING, "call check_call check_output getoutput run"),
    makers("subprocess", _PROCESSES, TypeTag.INSTANCE, "Popen"),
    facts("socket", READS, STR, "gethostname"),
    facts("socket", _NETWORK, ANYTHING, "create_connection getaddrinfo gethostbyname socket"),
    facts("urllib.request", _NETWORK, ANYTHING, "Request urlopen urlretrieve"),
    facts("platform", READS, STR, "machine node platform processor python_version release system version"),
    facts("sys", READS, INT, "getrecursionlimit getrefcount getsizeof"),
    facts("sys", READS, ANYTHING, "_getframe exc_info gettrace"),
    facts("sys", PURE, STR, "intern"),
    facts("sys", Effect(EffectKind.OTHER, "ends the program"), NOTHING, "exit"),
    facts("sys", _SETTINGS, NOTHING, "path.append path.insert setrecursionlimit settrace"),
    facts("sys", PRINTS, ANYTHING, "stderr.write stderr.flush stdout.write stdout.flush"),
    facts("gc", Effect(EffectKind.OTHER, "collects garbage"), INT, "collect"),
    facts("gc", _SETTINGS, NOTHING, "disable enable freeze set_threshold unfreeze"),
    facts("gc", READS, ANYTHING, "get_count get_objects get_stats isenabled"),
    facts("atexit", _SETTINGS, ANYTHING, "register unregister"),
    facts("signal", _SETTINGS, ANYTHING, "alarm setitimer signal"),
    facts("warnings", _WARNS, NOTHING, "warn warn_explicit"),
    facts("warnings", _SETTINGS, NOTHING, "filterwarnings resetwarnings simplefilter"),
    facts("warnings", PURE, NEW, "catch_warnings"),
    facts("traceback", PRINTS, NOTHING, "print_exc print_stack print_tb"),
    facts("traceback", READS, STR, "format_exc"),
    facts("importlib", _IMPORTS, ANYTHING, "import_module reload"),
    facts("importlib.util", READS, ANYTHING, "find_spec"),
    facts("importlib.metadata", READS, STR, "version"),
    facts("logging", READS, Type(TypeTag.LOGGER, of="logging.getLogger"), "getLogger"),
    facts("logging", _LOGS, NOTHING, "critical debug error exception info log warning"),
    facts("logging", _SETTINGS, NOTHING, "addLevelName basicConfig captureWarnings disable shutdown"),
    facts("logging", PURE, NEW, "Formatter NullHandler StreamHandler"),
    facts("logging", READS, ANYTHING, "getLevelName"),
    facts("argparse", PURE, NEW, "ArgumentParser Namespace"),
    facts("sqlite3", FILE_IO, ANYTHING, "connect"),
)

_CONCURRENCY: Table = table(
    makers("threading", PURE, TypeTag.LOCK, "Lock RLock"),
    makers("threading", PURE, TypeTag.EVENT, "Event"),
    makers("threading", PURE, TypeTag.CONDITION, "Condition"),
    makers("threading", PURE, TypeTag.SEMAPHORE, "BoundedSemaphore Semaphore"),
    makers("threading", PURE, TypeTag.BARRIER, "Barrier"),
    makers("threading", PURE, TypeTag.THREAD, "Thread Timer"),
    facts("threading", PURE, NEW, "local"),
    facts("threading", READS, Type(TypeTag.THREAD), "current_thread main_thread"),
    facts("threading", READS, INT, "active_count get_ident get_native_id"),
    facts("threading", READS, LIST, "enumerate"),
    makers("queue", PURE, TypeTag.QUEUE, "LifoQueue PriorityQueue Queue SimpleQueue"),
    makers("queue", PURE, TypeTag.INSTANCE, "Empty Full"),
    makers("multiprocessing", PURE, TypeTag.LOCK, "Lock RLock"),
    makers("multiprocessing", PURE, TypeTag.EVENT, "Event"),
    makers("multiprocessing", PURE, TypeTag.CONDITION, "Condition"),
    makers("multiprocessing", PURE, TypeTag.SEMAPHORE, "BoundedSemaphore Semaphore"),
    makers("multiprocessing", PURE, TypeTag.BARRIER, "Barrier"),
    makers("multiprocessing", PURE, TypeTag.QUEUE, "JoinableQueue Queue SimpleQueue"),
    makers("multiprocessing", PURE, TypeTag.PROCESS, "Process"),
    makers("multiprocessing", PURE, TypeTag.SHARED_VALUE, "Array RawArray RawValue Value"),
    makers("multiprocessing", _PROCESSES, TypeTag.POOL, "Pool pool.ThreadPool"),
    facts("multiprocessing", PURE, Type(TypeTag.TUPLE, item=Type(TypeTag.CONNECTION), fresh=True), "Pipe"),
    # A context offers what the module offers.
    facts("multiprocessing", READS, Type(TypeTag.PYTHON_MODULE, of="multiprocessing"), "get_context"),
    facts("multiprocessing", READS, ANYTHING, "active_children cpu_count get_start_method parent_process"),
    facts("multiprocessing", READS, STRINGS, "get_all_start_methods"),
    facts("multiprocessing", READS, Type(TypeTag.PROCESS), "current_process"),
    facts("multiprocessing", _SETTINGS, NOTHING, "freeze_support set_start_method"),
    facts("multiprocessing", _PROCESSES, _MANAGER, "Manager"),
    facts("multiprocessing.managers", _PROCESSES, _MANAGER, "SyncManager"),
    makers(_MANAGER.of, _PROCESSES, TypeTag.LOCK, "Lock RLock"),
    makers(_MANAGER.of, _PROCESSES, TypeTag.EVENT, "Event"),
    makers(_MANAGER.of, _PROCESSES, TypeTag.CONDITION, "Condition"),
    makers(_MANAGER.of, _PROCESSES, TypeTag.SEMAPHORE, "BoundedSemaphore Semaphore"),
    makers(_MANAGER.of, _PROCESSES, TypeTag.BARRIER, "Barrier"),
    makers(_MANAGER.of, _PROCESSES, TypeTag.QUEUE, "JoinableQueue Queue"),
    makers(_MANAGER.of, _PROCESSES, TypeTag.SHARED_VALUE, "Value"),
    makers("multiprocessing.shared_memory", FILE_IO, TypeTag.INSTANCE, "SharedMemory ShareableList"),
    facts("multiprocessing.connection", _WAITS, LIST, "wait"),
    makers("concurrent.futures", PURE, TypeTag.POOL, "ProcessPoolExecutor ThreadPoolExecutor"),
    makers("concurrent.futures", PURE, TypeTag.FUTURE, "Future"),
    facts("concurrent.futures", _WAITS, TUPLE, "wait"),
    facts("concurrent.futures", _WAITS, ITERATOR, "as_completed"),
    # Awaited, not called: none of these may be taken for its namesake among the threads.
    makers("asyncio", PURE, TypeTag.INSTANCE, "Condition Event Lock Queue Semaphore"),
    facts(
        "asyncio", Effect(EffectKind.OTHER, "schedules a coroutine"), ANYTHING, "create_task ensure_future"
    ),
    facts("asyncio", Effect(EffectKind.OTHER, "runs a coroutine"), ANYTHING, "gather run wait wait_for"),
    facts("asyncio", SLEEPS, ANYTHING, "sleep"),
    facts("asyncio", READS, ANYTHING, "get_event_loop get_running_loop"),
)

FACTS: Table = table(_NUMBERS, _TEXT, _CONTAINERS, _CHANCE, _SYSTEM, _CONCURRENCY)

BY_COUNT: dict[tuple[str, int], Fact] = {
    ("time.strftime", 2): Fact(PURE, STR),
    ("time.asctime", 1): Fact(PURE, STR),
    ("time.ctime", 1): Fact(PURE, STR),
    ("time.gmtime", 1): Fact(PURE, TUPLE),
    ("time.localtime", 1): Fact(PURE, TUPLE),
}

INPLACE = frozenset(
    words("""random.shuffle heapq.heapify heapq.heappush heapq.heappop heapq.heappushpop heapq.heapreplace
    bisect.insort bisect.insort_left bisect.insort_right operator.setitem operator.delitem operator.iadd
    operator.iand operator.iconcat operator.imul operator.ior operator.isub operator.itruediv
    builtins.setattr builtins.delattr builtins.next functools.update_wrapper""")
)
"""These change their first argument."""

CONSUMERS = frozenset(
    words("""collections.deque collections.Counter collections.OrderedDict itertools.accumulate
    itertools.chain itertools.chain.from_iterable itertools.combinations itertools.compress
    itertools.cycle itertools.dropwhile itertools.filterfalse itertools.groupby itertools.islice
    itertools.pairwise itertools.permutations itertools.product itertools.starmap itertools.takewhile
    itertools.tee itertools.batched itertools.zip_longest functools.reduce heapq.merge heapq.nlargest
    heapq.nsmallest math.fsum math.prod statistics.mean statistics.fmean statistics.median
    statistics.stdev""")
)
"""Given an iterator, these use it up, at once or as their own result is used up."""

CALL_BACKS = frozenset(
    words("""functools.reduce itertools.accumulate itertools.dropwhile itertools.filterfalse itertools.groupby
    itertools.starmap itertools.takewhile re.sub re.subn heapq.nlargest heapq.nsmallest bisect.bisect
    bisect.bisect_left bisect.bisect_right timeit.timeit timeit.repeat""")
)
"""These call a function that they are given: they do what that function does."""
