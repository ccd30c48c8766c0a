"""Calls that load models and tokenizers: whether they load the same again, and for which use."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    UseKind,
    children,
    descendants,
    last_names,
    models,
    regex,
    root_of,
)
from rlint.rules.computation.rl504_uncached_model_load.varying_files import varies

_FROM_PRETRAINED = frozenset({"transformers", "diffusers", "trl", "peft", "tokenizers"})
_WITH_WEIGHTS = frozenset({"timm.create_model", "torchvision.models.get_model"})
"""Functions that read weights if an argument requests them."""
_LOADERS = {
    **dict.fromkeys(models.having(Trait.LOADS, "torch", "joblib", "safetensors.torch"), "file"),
    **dict.fromkeys(models.having(Trait.LOADS, "torch.jit", "torch.hub"), "model"),
    "pickle.load": "file",
    "ctranslate2.Translator": "model",
    "easyocr.Reader": "model",
    "evaluate.load": "metric",
    "fasttext.load_model": "model",
    "faster_whisper.WhisperModel": "model",
    "keras.models.load_model": "model",
    "llama_cpp.Llama": "model",
    "onnxruntime.InferenceSession": "model",
    "sentence_transformers.CrossEncoder": "model",
    "sentence_transformers.SentenceTransformer": "model",
    "sentencepiece.SentencePieceProcessor": "tokenizer",
    "spacy.load": "model",
    "tokenizers.Tokenizer.from_file": "tokenizer",
    "transformers.pipeline": "pipeline",
    "vllm.LLM": "model",
    "whisper.load_model": "model",
}
NAMES = last_names("from_pretrained", *_LOADERS, *_WITH_WEIGHTS)
"""The last names of all calls that load a model, tokenizer or the like."""
_SAVES = frozenset({"save", "dump", "save_file"})
_STATE = regex(r"checkpoint|ckpt|state|weights(?!_only)|snapshot|latest")
_OPENS = frozenset({"builtins.open", "gzip.open", "io.open"})
_SAVERS = ("pickle.dump", "torch.save", "joblib.dump", "safetensors.torch.save_file")
_STAYS = frozenset(
    {"builtins.dict", "builtins.str", "pathlib.Path", "transformers.BitsAndBytesConfig"}
    | {"os.environ.get", "os.getenv", "os.path.expanduser", "os.path.join"}
    | {"os.path.abspath", "os.path.dirname", "os.path.realpath"}
    | {"torch.cuda.is_available", "torch.device"}
)
_CONFIG = regex(r"^(args|cfg|config|conf|hparams|opts?|options|flags|settings|params)$|_(args|cfg|config)$")
_DONE_ONCE = regex(
    r"^_*(main|cli|run_app|from_pretrained|setup|build|init|initialize|initialise|restore|resume|reload|"
    r"refresh|sync|update_weights)(_|$)|(checkpoint|ckpt|state_dict|weights|snapshot)s?$|^__|^on_|_init$"
)
_KEEPERS = frozenset({"append", "put"} | {"get_peft_model", "load_state_dict", "train"})
_TRAINS = models.having(Trait.REACHES_WEIGHTS, TypeTag.MODULE) - {"state_dict", "zero_grad"} | (
    {"register_forward_hook", "requires_grad_", "train"}
    | {"add_adapter", "resize_token_embeddings", "train_model", "trainable_parameters"}
)
_FILE = regex(r"path|filename|dir$|name$|ckpt|checkpoint")
_MODEL = regex(r"model|tokenizer|pretrained|path|repo_id|device|dtype|revision")
_DEPTH = 6


def what_it_loads(call: ast.Call, model: SemanticModel) -> str:
    """Return what a call loads from disk or the network: "model", "tokenizer" …; "" for other calls."""
    qualified = model.names.qualified(call.func) or ""
    if qualified.endswith(".from_pretrained") and qualified.partition(".")[0] in _FROM_PRETRAINED:
        name = qualified.split(".")[-2]
        return next((word for word in ("tokenizer", "processor", "config") if word in name.lower()), "model")
    if qualified in _WITH_WEIGHTS:
        return "model" if any(map(_is_pretrained, call.keywords)) else ""
    return _LOADERS.get(qualified, "")


def _is_pretrained(keyword: ast.keyword) -> bool:
    """Whether an argument requests weights from a file: `pretrained=True`, `weights="DEFAULT"`."""
    is_off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
    return keyword.arg in ("pretrained", "weights") and not is_off


def saves_files(model: SemanticModel) -> bool:
    """Whether this file also writes such files, so that each load may give another result."""
    named = (*model.syntax.of_type(ast.Attribute), *model.syntax.of_type(ast.Name))
    return any(_last(node) in _SAVES and model.names.qualified(node) in _SAVERS for node in named)


def is_checkpoint(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the names around a call suggest that it reads a checkpoint of a training, which other code
    writes.
    """
    statement = model.syntax.statement(call)
    names = (node for node in descendants(statement) if isinstance(node, (ast.Name, ast.Attribute)))
    texts = (node.value for node in descendants(call) if isinstance(node, ast.Constant))
    described = [*map(_last, names), *(text for text in texts if isinstance(text, str))]
    return any(_STATE.search(each.lower()) for each in described)


def is_same_each_time(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the arguments of a call are the same in each run."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not arguments or any(keyword.arg is None for keyword in call.keywords):
        return False
    return all(_stays(argument, call, model, _DEPTH) for argument in arguments)


def _stays(value: ast.expr, call: ast.Call, model: SemanticModel, depth: int) -> bool:
    if depth == 0:
        return False
    if model.names.qualified(value) is not None:
        return True  # of a library, or a class or function of the project
    match value:
        case ast.Constant() | ast.Lambda() | ast.Name(id="__file__"):
            return True
        case ast.Attribute(value=owner):
            root = root_of(owner)
            named = isinstance(root, ast.Name) and _CONFIG.search(root.id.lower())
            inside = isinstance(owner, ast.Attribute) and _CONFIG.search(owner.attr.lower())
            return bool(named or inside) or model.types.is_setting(value)
        case ast.Name():
            return _name_stays(value, call, model, depth)
        case ast.Call(func=func, args=args, keywords=keywords):
            parts = [*args, *(keyword.value for keyword in keywords)]
            qualified = model.names.qualified(func)
            known = qualified in _STAYS or qualified in _OPENS
            return known and all(_stays(part, call, model, depth - 1) for part in parts)
        case (
            ast.JoinedStr()
            | ast.FormattedValue()
            | ast.BinOp()
            | ast.IfExp()
            | ast.Dict()
            | ast.Tuple()
            | ast.List()
        ):
            parts = [part for part in children(value) if isinstance(part, ast.expr)]
            return all(_stays(part, call, model, depth - 1) for part in parts)
    return False


def _name_stays(name: ast.Name, call: ast.Call, model: SemanticModel, depth: int) -> bool:
    scope = model.names.scope(name).lookup(name.id)
    bindings = model.names.bindings(name)
    if scope is None or len(bindings) != 1:
        return False
    (binding,) = bindings
    if binding.kind is BindingKind.PARAMETER:
        if model.types.type_of(name).tag is TypeTag.MODULE or varies(name, model):
            return False
        return (
            model.frequency.is_called(name)
            or _is_default(name, binding.statement)
            or bool(_MODEL.search(name.id))
        )
    if (
        binding.kind not in (BindingKind.ASSIGN, BindingKind.WITH)
        or binding.path
        or binding.value is None
        or model.frequency.loops(binding.node)
    ):
        return False
    if scope.parent is None and model.types.type_of(binding.value).tag is TypeTag.STR:
        return True
    return _stays(binding.value, call, model, depth - 1)


def _is_default(parameter: ast.Name, function: ast.AST) -> bool:
    """Whether a call may omit a parameter."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    named = plain[len(plain) - len(arguments.defaults) :]
    only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return any(each.arg == parameter.id for each in (*named, *(each for each, value in only if value)))


def is_meant_once(function: Function) -> bool:
    """Whether a function's name or decorator says that it reloads on purpose, or caches the result."""
    if _DONE_ONCE.search(function.name.lower()):
        return True
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if "cache" in last.lower() or last in ("property", "fixture", "command", "main", "remote"):
            return True
    return False


def is_kept_or_trained(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the loaded object is cached by hand, loaded into a network, or trained, for which each run
    needs a copy of its own.
    """
    statement = model.syntax.statement(call)
    names: list[str] = []
    match model.parent(call):
        case ast.Assign(targets=targets):
            for target in targets:
                if not isinstance(target, ast.Name):
                    return True
                names.append(target.id)
        case ast.Call(func=ast.Attribute(attr=attribute)) if attribute in ("load_state_dict", "setdefault"):
            return True
        case ast.keyword() | ast.Call() | ast.NamedExpr():
            return True  # other code keeps it, or takes it over
        case ast.Attribute(attr=attribute) if attribute in _TRAINS:
            return True
    scope = model.names.scope(statement)
    if any(name in scope.globals | scope.nonlocals for name in names):
        return True
    reads = [read for name in names for read in model.names.reads(name, scope)]
    return any(_is_kept_read(read, model) for read in reads)


def _is_kept_read(read: ast.Name, model: SemanticModel) -> bool:
    use = model.syntax.use(read)
    match use.at:
        case ast.Call(func=ast.Attribute(attr=attribute)) if use.kind is UseKind.METHOD:
            return attribute in _TRAINS
        case ast.Attribute(attr=attribute):
            return attribute in _TRAINS
        case ast.Call(func=func) if use.kind is UseKind.ARGUMENT:
            return _takes_over(func)
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Dict() | ast.List() | ast.Yield() | ast.keyword():
            return True
    return False


def _takes_over(func: ast.expr) -> bool:
    """Whether an object, or a custom loader, takes over its argument."""
    last = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return last[:1].isupper() or last in _KEEPERS


def names_a_file(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the first argument is a file name, not an open file or bytes in memory."""
    if not call.args:
        return False
    file = _opened(call.args[0], model)
    if file is not None:
        return bool(file.args)
    match call.args[0]:
        case ast.Constant(value=str()) | ast.JoinedStr() | ast.BinOp():
            return True
        case ast.Call(func=func):
            return model.names.qualified(func) in _STAYS
        case ast.Name() | ast.Attribute() as value:
            return model.types.type_of(value).tag in (TypeTag.STR, TypeTag.PATH) or bool(
                _FILE.search(_last(value).lower())
            )
    return False


def is_of_open_file(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call reads an open file: `pickle.load(file)`."""
    return bool(call.args) and _opened(call.args[0], model) is not None


def _opened(value: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call that opens a file: also of `file` after `with open(path) as file`."""
    if isinstance(value, ast.Name):
        bindings = model.dataflow.definitions(value)
        bound = bindings[0].value if len(bindings) == 1 else None
        value = bound if isinstance(bound, ast.Call) else value
    if isinstance(value, ast.Call) and model.names.qualified(value.func) in _OPENS:
        return value
    return None


def _last(value: ast.expr) -> str:
    return value.id if isinstance(value, ast.Name) else getattr(value, "attr", "")
