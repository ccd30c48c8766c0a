"""Words for waiting: conventional names of awaited, polled and external objects, and functions that pause or
draw in a window.
"""

from __future__ import annotations

STOPS = frozenset(
    """stop stopped exit quit shutdown terminate terminated cancel kill abort closed finished
    running alive active closing""".split()
)
"""Words of flags that end a loop or say that it continues: `while not self.stopped:`."""

LOOKS = frozenset(
    """is_set isSet is_alive done ready empty full qsize is_ready is_done is_completed is_finished finished
    poll exists is_file can_sample ready_to_sample has_data has_new has_batch size
    item is_empty available numel exitcode""".split()
)
"""Methods that only read their receiver: `while not worker.is_finished():`."""

FETCHES = frozenset(
    """sample get pop popleft poll recv receive fetch pull next take read drain try dequeue batch collect
    consume peek check status query""".split()
)
"""Words in the names of functions that fetch data, if there are any: `batch = try_sample(buffer)`."""

BLOCKING = frozenset({"get", "recv", "recv_pyobj", "recv_bytes", "take", "join", "result", "accept", "wait"})
"""Methods that block unless an argument prevents it: `socket.recv_pyobj()`."""

FOREIGN = frozenset(
    """http https url session client server api endpoint health healthy robot arm
    gripper motor joint servo serial camera cam ros rospy viewer window plt pygame glfw render renderer
    keyboard joystick gamepad button gpio hardware teleop limiter throttle throttled quota cooldown bucket
    limit viz gui figure display browser driver page selenium websocket vehicle drone carla airsim unity
    simulator""".split()
)
"""Words for objects outside of the program, or with a rate of their own: `gripper.is_closed()`."""

NETWORK = frozenset("requests urllib urllib3 httpx aiohttp http socket grpc redis ray boto3 paramiko".split())
"""Packages whose functions use the network: `requests.get(url)`."""

PLACES = frozenset(
    "limiter limit limited throttle throttled bucket teleop ratelimiter connect calibrate calibration".split()
)
"""Words in the names of classes, functions and files that pause on purpose, or wait for a device: `class
RateLimiter:`.
"""

OWN = frozenset("param params parameter inference policy replay weight weights learner actor".split())
"""Words for servers that belong to the program itself: `parameter_server.ready()`."""

PAUSES = {
    "anyio.sleep": 1.0,
    "asyncio.sleep": 1.0,
    "eventlet.sleep": 1.0,
    "gevent.sleep": 1.0,
    "pygame.time.delay": 1e-3,
    "pygame.time.wait": 1e-3,
    "time.sleep": 1.0,
    "trio.sleep": 1.0,
}
"""Functions that pause for a given time, with the unit of their argument in seconds."""

FRAME_CLOCKS = {"pygame.time.Clock": ("tick", "tick_busy_loop")}
"""Classes with methods that wait for the next frame, given the number of frames per second."""

EVENTS = frozenset({"asyncio.Event", "multiprocessing.Event", "threading.Condition", "threading.Event"})
"""Classes whose `wait` ends at its timeout if no other code has the object: `Event().wait(0.1)`."""

RUN_COMMANDS = frozenset(
    "os.system subprocess.call subprocess.check_call subprocess.check_output subprocess.run".split()
)
"""Functions that run a command of the shell and wait for its end."""

SIMULATED = frozenset("Box2D mujoco mujoco_py pybullet pybullet_envs pymunk".split())
"""Packages that simulate bodies as fast as the processor allows: `pybullet.stepSimulation()`."""

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
    "viztracer.VizTracer.start": ("records every call", ("stop", "save")),
    "yappi.start": ("records every call", ("stop", "get_func_stats")),
}
"""Functions that record what a program does from then on, and functions that end it or read the records."""

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
