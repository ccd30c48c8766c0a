"""Time that fixes would save in the whole run: Amdahl's law, with every moment counted once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlint.profiles.heated import GainInterval
from rlint.profiles.profile_model import Claim, Profile


@dataclass(frozen=True, slots=True)
class Stake:
    """The place of one fix, and its measured speedup."""

    claim: Claim
    low: float
    high: float


def share(profile: Profile, claim: Claim) -> GainInterval:
    """Return the fraction of the run that a place takes."""
    return GainInterval(_part(profile, [claim], upper=False), _part(profile, [claim], upper=True))


def saved(profile: Profile, stakes: Sequence[Stake]) -> GainInterval:
    """Return the fraction of the run that fixes save together.

    A moment that several of them claim (nested calls, two findings in one line) is counted once, with the
    best of their ratios. Each bound is computed from the bounds of all shares and ratios.
    """
    low = _layered(
        profile, [(stake.claim, 1 - 1 / stake.low) for stake in stakes if stake.low > 1], upper=False
    )
    losses = [(stake.claim, 1 / stake.low - 1) for stake in stakes if stake.low < 1]
    low -= _layered(profile, losses, upper=True)
    high = _layered(
        profile, [(stake.claim, 1 - 1 / stake.high) for stake in stakes if stake.high > 1], upper=True
    )
    return GainInterval(min(low, high), high)


def _layered(profile: Profile, claims: Sequence[tuple[Claim, float]], *, upper: bool) -> float:
    """Return the sum over all moments of the largest factor of the claims on it."""
    total = 0.0
    levels = sorted({factor for _, factor in claims}, reverse=True)
    for level, below in zip(levels, [*levels, 0.0][1:], strict=True):
        chosen = [claim for claim, factor in claims if factor >= level]
        total += (level - below) * _part(profile, chosen, upper=upper)
    return total


def _part(profile: Profile, claims: Sequence[Claim], *, upper: bool) -> float:
    return min(profile.covered(claims, upper=upper) / profile.total, 1.0)
