"""Words for waiting: conventional names of awaited, polled and external objects, and functions that pause."""

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
