"""How a gradient becomes a step: plain descent, and Adam.

Each parameter has a learning rate of its own.  NumPy and CuPy arrays alike; the arrays that
come in stay as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from array_api_compat import array_namespace

from .inputs import Array

BETA_M, BETA_V = 0.9, 0.999  # how long Adam remembers gradients, and their squares


class Optimiser(Protocol):
    """What takes a step."""

    def step(self, parameters: Sequence[Array], gradients: Sequence[Array]) -> list[Array]:
        """Give the parameters after the step."""
        ...


@dataclass(eq=False)
class SGD:
    """Stochastic gradient descent: W ← W - η dW.

    Attributes
    ----------
    eta : sequence of float
        Learning rate of each parameter.
    """

    eta: Sequence[float]

    def step(self, parameters: Sequence[Array], gradients: Sequence[Array]) -> list[Array]:
        """Go a step down the gradients."""
        every = zip(parameters, gradients, self.eta, strict=True)
        return [W - eta * dW for W, dW, eta in every]


@dataclass(eq=False)
class Adam:
    """Adam: W ← W - η m̂ / (√v̂ + ε), with running means m of dW and v of dW².

    Gradients twice as large give the same step, as long as they are far above ε; so ε has the
    unit of a gradient.  Source: Kingma and Ba 2015, algorithm 1.

    Attributes
    ----------
    eta, epsilon : sequence of float
        Learning rate η and ε of each parameter.
    """

    eta: Sequence[float]
    epsilon: Sequence[float]
    _m: list[Array] = field(default_factory=list, init=False)
    _v: list[Array] = field(default_factory=list, init=False)
    _steps: int = field(default=0, init=False)

    def step(self, parameters: Sequence[Array], gradients: Sequence[Array]) -> list[Array]:
        """Go a step; the running means are kept here."""
        xp = array_namespace(*parameters)
        if not self._m:
            self._m = [xp.zeros_like(W) for W in parameters]
            self._v = [xp.zeros_like(W) for W in parameters]
        self._steps += 1
        # Both means begin at 0; what is missing of them at first is made up for (the hats).
        missing_m, missing_v = 1 - BETA_M**self._steps, 1 - BETA_V**self._steps
        after = []
        for n, (W, dW) in enumerate(zip(parameters, gradients, strict=True)):
            self._m[n] = m = BETA_M * self._m[n] + (1 - BETA_M) * dW
            self._v[n] = v = BETA_V * self._v[n] + (1 - BETA_V) * dW * dW
            size = xp.sqrt(v) * missing_v**-0.5 + self.epsilon[n]
            after.append(W - (self.eta[n] / missing_m) * m / size)
        return after
