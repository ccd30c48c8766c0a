"""Functions and settings with which a run draws windows, records videos, saves checkpoints, writes files or
traces itself.
"""

from __future__ import annotations

DRAWS_WINDOW = frozenset("cv2.imshow glfw.swap_buffers pygame.display.flip pygame.display.update".split())
"""Functions that draw a frame in a window: `cv2.imshow("camera", frame)`."""

VIEWER_METHODS = frozenset({"render", "swap_buffers", "sync"})
"""Methods with which viewers draw a frame: `viewer.sync()`."""

WINDOW_OPTIONS: dict[str, tuple[object, ...]] = {
    "gui": (True,),
    "has_renderer": (True,),
    "headless": (False,),
    "no_graphics": (False,),
    "render_mode": ("human",),
    "show_gui": (True,),
    "use_gui": (True,),
}
"""Keywords of calls that create environments, with the values for which each step is drawn in a window."""

RECORD_TRIGGERS = frozenset({"episode_trigger", "record_video_trigger", "step_trigger", "video_callable"})
"""Keywords with a function that says which episodes a wrapper records: `RecordVideo(env, folder,
episode_trigger=is_last)`.
"""

FILMS = ("film", "gif", "mimsave", "mimwrite", "video", "ImageSequenceClip", "ArtistAnimation")
"""Parts of the names of functions that write frames to a video: `imageio.mimsave("episode.gif", frames)`."""

SAVING_OPTIONS = frozenset({"every_n_train_steps", "save_freq", "save_steps"})
"""Keywords with the number of steps between two checkpoints: `CheckpointCallback(save_freq=1000)`."""

SAVING_PACKAGES = frozenset(
    "keras lightning pytorch_lightning sb3_contrib stable_baselines3 tensorflow transformers trl".split()
)
"""Packages whose callbacks and settings have such keywords."""

OPENS = frozenset(
    """aiofiles.open builtins.open bz2.open codecs.open gzip.open h5py.File io.open lzma.open pandas.HDFStore
    tarfile.open zipfile.ZipFile""".split()
)
"""Functions that open a file, whose second argument is the `mode`."""

FLUSHES = {
    "h5py.File": ("flush",),
    "shelve.Shelf": ("sync",),
    "sqlite3.Connection": ("commit",),
}
"""Classes of open files with the methods that write all that waits in memory."""

TRACES_ALL: dict[str, tuple[str, tuple[str, ...]]] = {
    "torch.cuda._record_memory_history": (
        "records the stack of every allocation on the GPU",
        ("_dump_snapshot", "_snapshot"),
    ),
    "tracemalloc.start": (
        "records the stack of every allocation, which takes longer than the allocation itself",
        ("stop", "take_snapshot", "get_traced_memory"),
    ),
    "tensorflow.config.run_functions_eagerly": (
        "runs each operation of a `tf.function` by itself",
        (),
    ),
    "tensorflow.config.experimental_run_functions_eagerly": (
        "runs each operation of a `tf.function` by itself",
        (),
    ),
    "tensorflow.debugging.enable_check_numerics": (
        "checks the result of each operation for NaN",
        ("disable_check_numerics",),
    ),
    "viztracer.VizTracer.start": ("records every call", ("stop", "save")),
    "yappi.start": ("records every call", ("stop", "get_func_stats")),
}
"""Functions that record or check what a program does from then on, and functions that end it or read the
records.
"""

DEBUG_OPTIONS: dict[str, tuple[tuple[object, ...], str]] = {
    "debug": (("underflow_overflow",), "checks the inputs, outputs and weights of each layer for NaN"),
    "detect_anomaly": (
        (True,),
        "stores a traceback of each operation and checks every gradient for NaN",
    ),
    "profiler": (("advanced", "pytorch"), "records every call"),
}
"""Keywords of trainers that turn on debugging, with the values that do and what they do in each step."""

TRAINER_PACKAGES = frozenset("lightning pytorch_lightning transformers trl".split())
"""Packages whose trainers and settings have such keywords."""
