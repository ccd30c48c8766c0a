"""Rows for libraries around RL training: environments, replay, language models, logging."""

from __future__ import annotations

from rlint.models.effect import PURE, READS, Effect, EffectKind
from rlint.models.fact import (
    ANYTHING,
    BOOL,
    BYTES,
    CLOCK,
    DRAWS,
    FILE_IO,
    FLOAT,
    FUNCTION,
    INT,
    ITERATOR,
    LIST,
    NEW,
    NEW_ARRAY,
    NEW_TENSOR,
    NOTHING,
    PRINTS,
    SEEDS,
    SHAPE,
    SLEEPS,
    STR,
    STRINGS,
    TENSOR,
    Fact,
    Table,
    facts,
    makers,
    table,
)
from rlint.models.trait import Trait
from rlint.models.value_type import Type, TypeTag
from rlint.regex import regex

LANGUAGE_MODELS = frozenset(
    "llamafactory openrlhf peft sglang torchtune transformers trl unsloth verl vllm".split()
)
"""Libraries imported by files that train or run language models."""

SLOW_CALLS = frozenset("keras tensorflow tensorlayer tf_agents tflearn".split())
"""Libraries of networks of which each call takes long, whatever the layers: `sess.run` some tenths of a
millisecond to a few, `model.predict` of Keras tens of them for one row.
"""

SIMULATORS = frozenset(
    """ale_py atari_py carla crafter deepmind_lab dm_control gfootball habitat isaacgym isaaclab jsbsim
    metaworld minedojo minerl mlagents mlagents_envs nes_py procgen pybullet_envs retro robosuite smac smacv2
    traci unityagents vizdoom""".split()
)
"""Libraries whose environments render images or simulate bodies, units or traffic: a step takes from half a
millisecond to many. One of `pybullet_envs` was measured at 0.34 to 0.45 ms (walkers) and 2.4 ms (Minitaur).
"""

SLOW_SIMULATORS = {
    **dict.fromkeys("pysc2 smac smacv2".split(), 5e-3),
    **dict.fromkeys("gym_unity mlagents mlagents_envs unityagents unitytrainers".split(), 10e-3),
    **dict.fromkeys("airsim carla highway_env malmo minedojo minerl rclpy rospy".split(), 20e-3),
}
"""Libraries of environments that a program waits for, with the seconds that a step takes at least: other
programs in their own processes, those that render a world for each step, and robots. 20 ms are reported for
Unity with small images (ml-agents issue 299), 6 ms with learning for StarCraft (2 million steps in 3.5 hours,
SMIX issue 5); one of highway-env was measured at 18 ms (its fast version) and 180 ms.
"""

DEVICE_SIMULATORS = frozenset(
    "brax genesis isaacgym isaacgymenvs isaaclab isaacsim mani_skill mjlab mujoco_playground omni".split()
)
"""Libraries whose environments run on the GPU: observations and rewards are tensors on the device."""

ENVIRONMENTS_OF_VECTORS = frozenset(
    """Acrobot Ant AntBulletEnv BipedalWalker BipedalWalkerHardcore CartPole CliffWalking FetchPickAndPlace
    FetchPush FetchReach FetchSlide FrozenLake HalfCheetah HalfCheetahBulletEnv Hopper HopperBulletEnv
    Humanoid HumanoidBulletEnv HumanoidStandup InvertedDoublePendulum InvertedDoublePendulumBulletEnv
    InvertedPendulum InvertedPendulumBulletEnv InvertedPendulumSwingupBulletEnv LunarLander
    LunarLanderContinuous MountainCar MountainCarContinuous Pendulum Pusher Reacher ReacherBulletEnv
    Swimmer Taxi Walker2d Walker2DBulletEnv""".split()
)
"""Ids, without the version, of classic control, Box2D without the race of cars, MuJoCo, PyBullet and tables:
they observe a few numbers each.
"""

ENVIRONMENTS_OF_FRAMES = frozenset(
    """Alien Amidar Assault Asterix Asteroids Atlantis BankHeist BattleZone BeamRider Berzerk Bowling
    Boxing Breakout CarRacing Centipede ChopperCommand CrazyClimber DemonAttack DoubleDunk Enduro
    FishingDerby Freeway Frostbite Gopher Gravitar Hero IceHockey Jamesbond Kangaroo Krull KungFuMaster
    MontezumaRevenge MsPacman NameThisGame Phoenix Pitfall Pong PrivateEye Qbert Riverraid RoadRunner
    Robotank Seaquest Skiing Solaris SpaceInvaders StarGunner SuperMarioBros Surround Tennis TimePilot
    Tutankham UpNDown Venture VideoPinball WizardOfWor YarsRevenge Zaxxon""".split()
)
"""Ids of games, without the version, that observe frames of numbers in bytes."""

OFTEN_COPIED = frozenset(
    """baselines d3rlpy elegantrl garage mlagents multiagent pfrl rl_games rlkit rllab rlpyt sb3_contrib skrl
    spinup stable_baselines stable_baselines3 tianshou torchrl unityagents unitytrainers""".split()
)
"""Libraries of agents and environments of which programs hold a copy, with the scripts of the library."""

_STARTS = Effect(EffectKind.OTHER, "starts an environment")
_REGISTERS = Effect(EffectKind.OTHER, "registers an environment")
_LOGS = Effect(EffectKind.LOGS, "writes to the log")
_HOOKS = Effect(EffectKind.OTHER, "registers a hook")
_LOADS = Effect(EffectKind.LOADS_MODEL, "loads a model")
_NETWORK = Effect(EffectKind.NETWORK, "uses the network")
_TALKS = Effect(EffectKind.COMMUNICATES, "talks to other processes")
_WINDOW = Effect(EffectKind.OTHER, "draws on the screen")
_FIGURE = Type(TypeTag.INSTANCE, of="matplotlib.figure.Figure")
_AXES = Type(TypeTag.INSTANCE, of="matplotlib.axes.Axes")
HDF5_FILE = "h5py.File"
"""The class of files, groups and data sets, which an index tells apart."""
_FRAME_CLOCK = Type(TypeTag.INSTANCE, of="pygame.time.Clock")
_FIGURE_AND_AXES = Type(TypeTag.TUPLE, parts=(_FIGURE, ANYTHING), fresh=True)  # one axes object, or an array
_RUNS_TEXT = Effect(EffectKind.UNKNOWN, "runs text as code")
_WEIGHTS = Effect(EffectKind.MUTATES, "changes weights")

_SB3_VEC_ENV = "stable_baselines3.common.vec_env"
_ENVIRONMENTS: Table = table(
    makers("gymnasium", _STARTS, TypeTag.ENVIRONMENT, "make make_vec vector.make"),
    makers(
        "gymnasium", PURE, TypeTag.ENVIRONMENT, "Env ObservationWrapper ActionWrapper RewardWrapper Wrapper"
    ),
    makers("gymnasium.vector", _STARTS, TypeTag.ENVIRONMENT, "AsyncVectorEnv SyncVectorEnv VectorEnv"),
    makers(
        "gymnasium.wrappers",
        READS,
        TypeTag.ENVIRONMENT,
        """AtariPreprocessing Autoreset ClipAction ClipReward DtypeObservation FilterObservation
        FlattenObservation FrameStack FrameStackObservation GrayScaleObservation GrayscaleObservation
        HumanRendering MaxAndSkipObservation Monitor NormalizeObservation NormalizeReward OrderEnforcing
        RecordEpisodeStatistics RecordVideo RescaleAction RescaleObservation ResizeObservation
        TimeAwareObservation TimeLimit TransformAction TransformObservation TransformReward""",
    ),
    facts("gymnasium", _REGISTERS, NOTHING, "register register_envs"),
    facts("gymnasium", READS, ANYTHING, "spec"),
    facts("gymnasium.logger", _LOGS, NOTHING, "error info set_level warn"),
    makers(
        "gymnasium.spaces",
        PURE,
        TypeTag.SPACE,
        "Box Dict Discrete Graph MultiBinary MultiDiscrete OneOf Sequence Space Text Tuple",
    ),
    facts("gymnasium.spaces", READS, INT, "flatdim utils.flatdim"),
    facts("gymnasium.spaces", READS, NEW, "flatten flatten_space unflatten"),
    makers("envpool", _STARTS, TypeTag.ENVIRONMENT, "make make_gym make_gymnasium"),
    makers("procgen", _STARTS, TypeTag.ENVIRONMENT, "ProcgenEnv"),
    makers("gym_super_mario_bros", _STARTS, TypeTag.ENVIRONMENT, "make"),
    makers("nes_py.wrappers", READS, TypeTag.ENVIRONMENT, "JoypadSpace"),
    makers(_SB3_VEC_ENV, _STARTS, TypeTag.ENVIRONMENT, "DummyVecEnv SubprocVecEnv"),
    makers(_SB3_VEC_ENV, READS, TypeTag.ENVIRONMENT, "VecCheckNan VecFrameStack VecMonitor"),
    makers(_SB3_VEC_ENV, READS, TypeTag.ENVIRONMENT, "VecEnv VecEnvWrapper"),
    makers(f"{_SB3_VEC_ENV}.base_vec_env", READS, TypeTag.ENVIRONMENT, "VecEnv VecEnvWrapper"),
    makers("baselines.common.vec_env", READS, TypeTag.ENVIRONMENT, "VecEnv VecEnvWrapper"),
    makers(_SB3_VEC_ENV, READS, TypeTag.ENVIRONMENT, "VecNormalize VecTransposeImage"),
    makers(_SB3_VEC_ENV, READS, TypeTag.ENVIRONMENT, "VecVideoRecorder"),
    makers("stable_baselines3.common.env_util", _STARTS, TypeTag.ENVIRONMENT, "make_atari_env make_vec_env"),
    makers("stable_baselines3.common.monitor", FILE_IO, TypeTag.ENVIRONMENT, "Monitor"),
    makers(
        "stable_baselines3.common.atari_wrappers", READS, TypeTag.ENVIRONMENT, "AtariWrapper ClipRewardEnv"
    ),
    makers(
        "stable_baselines3.common.atari_wrappers", READS, TypeTag.ENVIRONMENT, "EpisodicLifeEnv FireResetEnv"
    ),
    makers(
        "stable_baselines3.common.atari_wrappers", READS, TypeTag.ENVIRONMENT, "MaxAndSkipEnv NoopResetEnv"
    ),
    makers("torchrl.envs", _STARTS, TypeTag.ENVIRONMENT, "GymEnv ParallelEnv SerialEnv TransformedEnv"),
    makers("tianshou.env", _STARTS, TypeTag.ENVIRONMENT, "DummyVectorEnv RayVectorEnv ShmemVectorEnv"),
    makers("tianshou.env", _STARTS, TypeTag.ENVIRONMENT, "SubprocVectorEnv"),
)

_REPLAY: Table = table(
    makers(
        "stable_baselines3.common.buffers", PURE, TypeTag.REPLAY_BUFFER, "DictReplayBuffer DictRolloutBuffer"
    ),
    makers("stable_baselines3.common.buffers", PURE, TypeTag.REPLAY_BUFFER, "NStepReplayBuffer ReplayBuffer"),
    makers("stable_baselines3.common.buffers", PURE, TypeTag.REPLAY_BUFFER, "RolloutBuffer"),
    makers("stable_baselines3", PURE, TypeTag.REPLAY_BUFFER, "HerReplayBuffer"),
    makers("sb3_contrib.common.recurrent.buffers", PURE, TypeTag.REPLAY_BUFFER, "RecurrentDictRolloutBuffer"),
    makers("sb3_contrib.common.recurrent.buffers", PURE, TypeTag.REPLAY_BUFFER, "RecurrentRolloutBuffer"),
    makers(
        "cleanrl_utils.buffers", PURE, TypeTag.REPLAY_BUFFER, "DictReplayBuffer ReplayBuffer RolloutBuffer"
    ),
    makers(
        "tianshou.data",
        PURE,
        TypeTag.REPLAY_BUFFER,
        "CachedReplayBuffer HERReplayBuffer PrioritizedReplayBuffer",
    ),
    makers("tianshou.data", PURE, TypeTag.REPLAY_BUFFER, "PrioritizedVectorReplayBuffer ReplayBuffer"),
    makers("tianshou.data", PURE, TypeTag.REPLAY_BUFFER, "ReplayBufferManager VectorReplayBuffer"),
    makers(
        "torchrl.data",
        PURE,
        TypeTag.REPLAY_BUFFER,
        "PrioritizedReplayBuffer ReplayBuffer ReplayBufferEnsemble",
    ),
    makers(
        "torchrl.data",
        PURE,
        TypeTag.REPLAY_BUFFER,
        "TensorDictPrioritizedReplayBuffer TensorDictReplayBuffer",
    ),
    makers("pfrl.replay_buffers", PURE, TypeTag.REPLAY_BUFFER, "EpisodicReplayBuffer PersistentReplayBuffer"),
    makers(
        "pfrl.replay_buffers", PURE, TypeTag.REPLAY_BUFFER, "PrioritizedEpisodicReplayBuffer ReplayBuffer"
    ),
    makers("pfrl.replay_buffers", PURE, TypeTag.REPLAY_BUFFER, "PrioritizedReplayBuffer"),
    makers("d3rlpy.dataset", PURE, TypeTag.REPLAY_BUFFER, "ReplayBuffer"),
    makers("elegantrl.train", PURE, TypeTag.REPLAY_BUFFER, "ReplayBuffer"),
    makers("agilerl.components", PURE, TypeTag.REPLAY_BUFFER, "MultiAgentReplayBuffer MultiStepReplayBuffer"),
    makers(
        "agilerl.components",
        PURE,
        TypeTag.REPLAY_BUFFER,
        "PrioritizedReplayBuffer ReplayBuffer RolloutBuffer",
    ),
    makers("skrl.memories.torch", PURE, TypeTag.REPLAY_BUFFER, "Memory PrioritizedMemory RandomMemory"),
    makers("cpprb", PURE, TypeTag.REPLAY_BUFFER, "PrioritizedReplayBuffer ReplayBuffer"),
    facts("stable_baselines3.common.utils", _WEIGHTS, NOTHING, "polyak_update", Trait.ITERATES),
    facts("stable_baselines3.common.utils", _WEIGHTS, NOTHING, "update_learning_rate", Trait.FIRST_CHANGES),
    facts("stable_baselines3.common.utils", SEEDS, NOTHING, "set_random_seed"),
    facts("stable_baselines3.common.utils", READS, Type(TypeTag.DEVICE), "get_device"),
    facts("stable_baselines3.common.utils", PURE, NEW, "explained_variance safe_mean"),
    facts("stable_baselines3.common.utils", PURE, ANYTHING, "obs_as_tensor"),
    facts("stable_baselines3.common.preprocessing", READS, INT, "get_action_dim get_flattened_obs_dim"),
    facts("stable_baselines3.common.preprocessing", READS, SHAPE, "get_obs_shape"),
    facts("stable_baselines3.common.preprocessing", READS, BOOL, "is_image_space"),
    facts("tensordict", PURE, NEW, "TensorDict lazy_stack"),
    facts("tensordict", READS, BOOL, "is_tensor_collection"),
)

_AUTO_MODELS = """AutoModel AutoModelForCausalLM AutoModelForSeq2SeqLM AutoModelForSequenceClassification
    AutoModelForTokenClassification AutoModelForVision2Seq AutoModelForImageTextToText"""
_PRETRAINED = " ".join(f"{name}.from_pretrained" for name in _AUTO_MODELS.split())
_CONFIGURED = " ".join(f"{name}.from_config" for name in _AUTO_MODELS.split())

_LANGUAGE: Table = table(
    makers("transformers", _LOADS, TypeTag.MODULE, _PRETRAINED),
    makers("transformers", DRAWS, TypeTag.MODULE, _CONFIGURED),
    makers(
        "transformers",
        _LOADS,
        TypeTag.TOKENIZER,
        "AutoProcessor.from_pretrained AutoTokenizer.from_pretrained",
    ),
    facts("transformers", FILE_IO, NEW, "AutoConfig.from_pretrained GenerationConfig.from_pretrained"),
    facts("transformers", PURE, NEW, "BitsAndBytesConfig GenerationConfig TrainingArguments"),
    facts("transformers", SEEDS, NOTHING, "set_seed"),
    makers(
        "transformers",
        Effect(EffectKind.MUTATES, "changes the optimizer"),
        TypeTag.SCHEDULER,
        "get_scheduler",
    ),
    makers("peft", _LOADS, TypeTag.MODULE, "PeftModel.from_pretrained get_peft_model"),
    facts("peft", PURE, NEW, "LoraConfig"),
    makers("trl", _LOADS, TypeTag.MODULE, "AutoModelForCausalLMWithValueHead.from_pretrained"),
    makers("lightning", PURE, TypeTag.MODULE, "LightningModule"),
    makers("lightning.pytorch", PURE, TypeTag.MODULE, "LightningModule"),
    makers("pytorch_lightning", PURE, TypeTag.MODULE, "LightningModule"),
    facts("accelerate", READS, NEW, "Accelerator PartialState"),
    facts("accelerate.utils", _TALKS, ANYTHING, "broadcast_object_list gather gather_object"),
    facts("accelerate.utils", SEEDS, NOTHING, "set_seed"),
    facts("datasets", FILE_IO, Type(TypeTag.DATASET), "load_dataset load_from_disk"),
    facts(
        "datasets", READS, Type(TypeTag.DATASET), "Dataset.from_dict Dataset.from_list concatenate_datasets"
    ),
    facts("safetensors.torch", FILE_IO, ANYTHING, "load_file", Trait.LOADS),
    facts("safetensors.torch", FILE_IO, ANYTHING, "save_file"),
    facts("math_verify", PURE, LIST, "parse parser.parse"),
    facts("math_verify", PURE, BOOL, "verify"),
    facts("math_verify", PURE, NEW, "ExprExtractionConfig LatexExtractionConfig StringExtractionConfig"),
    facts("latex2sympy2", READS, NEW, "latex2sympy"),
    facts("latex2sympy2_extended", PURE, NEW, "NormalizationConfig latex2sympy normalize_latex"),
    facts(
        "sympy",
        PURE,
        NEW,
        """Eq Float Integer Matrix N Rational Symbol apart cancel diff expand factor integrate latex limit
        nsimplify radsimp ratsimp roots simplify solve sqrt symbols together trigsimp""",
    ),
    facts("sympy", PURE, ANYTHING, "parsing.latex.parse_latex"),
    facts("sympy", _RUNS_TEXT, ANYTHING, "S parse_expr parsing.sympy_parser.parse_expr sympify"),
    facts("Levenshtein", PURE, INT, "distance"),
    facts("Levenshtein", PURE, FLOAT, "ratio"),
    facts("rapidfuzz.fuzz", PURE, FLOAT, "partial_ratio ratio token_set_ratio token_sort_ratio"),
    facts("orjson", PURE, NEW, "loads", Trait.PARSES),
    facts("orjson", READS, BYTES, "dumps"),
    facts("yaml", FILE_IO, NEW, "full_load safe_load", Trait.PARSES),
    facts("yaml", FILE_IO, NEW, "load"),
    facts("yaml", READS, ANYTHING, "dump safe_dump"),
)

_AROUND: Table = table(
    facts("wandb", _LOGS, ANYTHING, "define_metric finish login save"),
    facts("wandb", _LOGS, ANYTHING, "log", Trait.REPORTS),
    facts("wandb", _HOOKS, ANYTHING, "unwatch watch"),
    facts("wandb", _LOGS, Type(TypeTag.WRITER, of="wandb.init"), "init"),
    facts("wandb", READS, NEW, "Histogram Image Table Video"),
    facts("swanlab", _LOGS, ANYTHING, "init"),
    facts("swanlab", _LOGS, ANYTHING, "log", Trait.REPORTS),
    facts("mlflow", _LOGS, ANYTHING, "log_artifact log_metric log_metrics", Trait.REPORTS),
    facts("mlflow", _LOGS, ANYTHING, "log_params start_run"),
    facts("tqdm", PRINTS, ITERATOR, "tqdm", Trait.ITERATES | Trait.SAME_ITEMS),
    facts("tqdm", PRINTS, ITERATOR, "trange"),
    facts("tqdm", PRINTS, NOTHING, "tqdm.write", Trait.REPORTS),
    facts(
        "tqdm", PRINTS, NOTHING, "tqdm.set_description tqdm.set_postfix tqdm.set_postfix_str", Trait.REDRAWS
    ),
    facts("tqdm", PRINTS, NOTHING, "tqdm.refresh tqdm.set_description_str", Trait.REDRAWS),
    facts("tqdm", PRINTS, NOTHING, "asyncio.tqdm.write auto.tqdm.write autonotebook.tqdm.write"),
    facts("tqdm", PRINTS, NOTHING, "notebook.tqdm.write std.tqdm.write"),
    facts("rich", PRINTS, NOTHING, "print", Trait.REPORTS),
    facts("rich", PRINTS, NOTHING, "print_json"),
    facts("click", PRINTS, NOTHING, "echo secho"),
    facts("loguru.logger", _LOGS, NOTHING, "critical debug error exception info log success trace warning"),
    facts("loguru.logger", READS, Type(TypeTag.LOGGER), "bind opt"),
    facts("absl.logging", _LOGS, NOTHING, "debug error exception info log vlog warning"),
    facts("numba", PURE, FUNCTION, "jit njit", Trait.CACHES),
    facts("einops", PURE, ANYTHING, "rearrange repeat"),
    facts("einops", PURE, ANYTHING, "reduce", Trait.CALLS_BACK),
    makers("pandas", READS, TypeTag.DATAFRAME, "DataFrame", Trait.ITERATES),
    makers("pandas", READS, TypeTag.DATAFRAME, "concat merge"),
    facts(
        "pandas",
        FILE_IO,
        Type(TypeTag.DATAFRAME, fresh=True),
        "read_csv read_json read_parquet read_pickle",
        Trait.LOADS,
    ),
    facts("pandas", READS, NEW, "Series to_datetime to_numeric"),
    facts("pandas", READS, ANYTHING, "isna isnull notna notnull"),
    facts("cv2", PURE, NEW_ARRAY, "GaussianBlur cvtColor flip resize"),
    facts("cv2", FILE_IO, ANYTHING, "VideoCapture VideoWriter imwrite"),
    facts("cv2", FILE_IO, ANYTHING, "imread", Trait.LOADS),
    facts("cv2", _WINDOW, ANYTHING, "destroyAllWindows imshow waitKey"),
    facts("cv2", PURE, ANYTHING, "imdecode imencode"),
    facts("pandas", FILE_IO, Type(TypeTag.DATAFRAME, fresh=True), "read_excel read_hdf", Trait.LOADS),
    facts("pygame", FILE_IO, ANYTHING, "font.Font font.SysFont image.load mixer.Sound", Trait.LOADS),
    facts("mujoco.MjModel", FILE_IO, ANYTHING, "from_xml_path from_xml_string", Trait.LOADS),
    facts("mujoco_py", FILE_IO, ANYTHING, "load_model_from_path load_model_from_xml", Trait.LOADS),
    facts("imageio", FILE_IO, NEW_ARRAY, "v2.imread v3.imread", Trait.LOADS),
    facts("matplotlib.pyplot", FILE_IO, NEW_ARRAY, "imread", Trait.LOADS),
    facts("scipy.io", FILE_IO, NEW, "loadmat", Trait.LOADS),
    facts("trimesh", FILE_IO, NEW, "load", Trait.LOADS),
    facts("xml.etree.ElementTree", FILE_IO, NEW, "parse", Trait.LOADS),
    facts("PIL.Image", FILE_IO, NEW, "open", Trait.LOADS),
    facts("PIL.Image", READS, NEW, "fromarray new"),
    facts("imageio", FILE_IO, ANYTHING, "get_writer imwrite mimsave"),
    facts("imageio", FILE_IO, ANYTHING, "imread", Trait.LOADS),
    facts("matplotlib.pyplot", _WINDOW, ANYTHING, "axis bar clf close draw fill_between grid hist"),
    facts("matplotlib.pyplot", _WINDOW, ANYTHING, "imshow legend pause plot savefig scatter show"),
    facts("matplotlib.pyplot", _WINDOW, _FIGURE, "figure gcf"),
    facts("matplotlib.pyplot", _WINDOW, _FIGURE_AND_AXES, "subplots"),
    facts("matplotlib.pyplot", _WINDOW, _AXES, "axes gca subplot subplot2grid"),
    facts("matplotlib.pyplot", _WINDOW, ANYTHING, "tight_layout title xlabel xlim ylabel ylim"),
    facts("visdom", _NETWORK, Type(TypeTag.INSTANCE, of="visdom.Visdom"), "Visdom"),
    facts("pygame.time", CLOCK, _FRAME_CLOCK, "Clock"),
    facts("pygame.time", SLEEPS, INT, "delay wait"),
    facts("scipy.signal", PURE, NEW_ARRAY, "convolve lfilter"),
    facts("scipy.special", PURE, NEW, "expit log_softmax logsumexp softmax"),
    facts("ray", _TALKS, ANYTHING, "cancel get init kill put shutdown wait"),
    facts("ray", PURE, ANYTHING, "remote"),
    facts("ray", READS, BOOL, "is_initialized"),
    facts("requests", _NETWORK, NEW, "delete get post put request"),
    facts("cloudpickle", READS, BYTES, "dumps"),
    facts("cloudpickle", Effect(EffectKind.UNKNOWN, "runs what the pickle says"), NEW, "loads"),
    facts("h5py", FILE_IO, Type(TypeTag.INSTANCE, of=HDF5_FILE), "File"),
    facts("joblib", FILE_IO, ANYTHING, "dump"),
    facts("joblib", FILE_IO, ANYTHING, "load", Trait.LOADS),
    facts("psutil", READS, NEW, "Process cpu_count disk_usage virtual_memory"),
    facts("psutil", Effect(EffectKind.READS_CLOCK, "reads the clock"), ANYTHING, "cpu_percent"),
    facts("torchvision.transforms.functional", PURE, ANYTHING, "center_crop normalize resize to_tensor"),
    facts("torchvision.utils", PURE, NEW_TENSOR, "make_grid"),
    facts("torchvision.utils", FILE_IO, NOTHING, "save_image"),
    facts("prettytable", READS, NEW, "PrettyTable"),
    facts("tabulate", READS, STR, "tabulate"),
    facts("jieba", PURE, STRINGS, "lcut"),
    facts("torchmetrics.functional", PURE, TENSOR, "accuracy"),
)

_MODEL_CLASS = regex(
    r"^[A-Z]\w*(Model|For(CausalLM|ConditionalGeneration|QuestionAnswering|Seq2SeqLM|(Sequence|Token)"
    r"Classification))$"
)

FACTS: Table = table(_ENVIRONMENTS, _REPLAY, _LANGUAGE, _AROUND)


def pretrained(qualified: str) -> Fact | None:
    """Return the row for loading or creating one of the many model and tokenizer classes of transformers."""
    library, _, rest = qualified.partition(".")
    name, _, constructor = rest.rpartition(".")
    if library == "transformers" and not name and _MODEL_CLASS.search(constructor):
        return Fact(DRAWS, Type(TypeTag.MODULE, of=qualified, fresh=True))
    if library != "transformers" or constructor not in ("from_pretrained", "from_config") or "." in name:
        return None
    tag = TypeTag.UNKNOWN
    if name.endswith(("Tokenizer", "TokenizerFast", "Processor")):
        tag = TypeTag.TOKENIZER
    elif name.endswith("Model") or "For" in name:
        tag = TypeTag.MODULE
    effect = _LOADS if constructor == "from_pretrained" else DRAWS
    return Fact(effect, Type(tag, of=qualified, fresh=True)) if tag is not TypeTag.UNKNOWN else None
