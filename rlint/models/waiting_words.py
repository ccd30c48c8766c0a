"""Words for waiting: names that authors choose for what is waited for, polled and left alone."""

from __future__ import annotations

STOPS = frozenset(
    """stop stopped exit quit shutdown terminate terminated cancel kill abort closed finished
    running alive active closing""".split()
)
"""Words of flags that end a loop or tell that something goes on: `while not self.stopped:`."""

LOOKS = frozenset(
    """is_set isSet is_alive done ready empty full qsize is_ready is_done is_completed is_finished finished
    poll exists is_file can_sample ready_to_sample has_data has_new has_batch size
    item is_empty available numel exitcode""".split()
)
"""Methods that only look, whatever they are called on: `while not worker.is_finished():`."""

FETCHES = frozenset(
    """sample get pop popleft poll recv receive fetch pull next take read drain try dequeue batch collect
    consume peek check status query""".split()
)
"""Words in the names of functions that take data, if there are any: `batch = try_sample(buffer)`."""

BLOCKING = frozenset({"get", "recv", "recv_pyobj", "recv_bytes", "take", "join", "result", "accept", "wait"})
"""Methods that wait by themselves, unless they are told not to: `socket.recv_pyobj()`."""

FOREIGN = frozenset(
    """http https url session client server api endpoint health healthy robot arm
    gripper motor joint servo serial camera cam ros rospy viewer window plt pygame glfw render renderer
    keyboard joystick gamepad button gpio hardware teleop limiter throttle throttled quota cooldown bucket
    limit viz gui figure display browser driver page selenium websocket vehicle drone carla airsim unity
    simulator""".split()
)
"""Words for what lies outside of the program, or has a pace of its own: `gripper.is_closed()`."""

NETWORK = frozenset("requests urllib urllib3 httpx aiohttp http socket grpc redis ray boto3 paramiko".split())
"""Packages whose functions go out of the machine: `requests.get(url)`."""

PLACES = frozenset(
    "limiter limit limited throttle throttled bucket teleop ratelimiter connect calibrate calibration".split()
)
"""Words in the names of classes, functions and files that lose time on purpose, or wait for a device:
`class RateLimiter:`.
"""

OWN = frozenset("param params parameter inference policy replay weight weights learner actor".split())
"""Words that make a server one of the program itself: `parameter_server.ready()`."""
