"""A decoder's step: one new query, and the keys and values of all tokens so far, kept.

Under a causal mask the keys and values of earlier tokens never change when a token comes, and
earlier queries are never asked for again.  So a step computes one row instead of T:

    k, v of the new token     -> kept, beside those of the tokens before
    weights = softmax(scale · q Kᵀ)          (..., T)     no mask: all that is kept is past
    output  = weights V                      (..., d_v)

That is time that grows with T instead of T², for memory: 2 · T · d_k numbers a head and layer.

Keys and values of float16 are kept as float16, for half the memory is what they are chosen for.
A CPU computes in float32, so each step widens all that is kept, and that takes several times as
long as the step itself.  A float32 copy kept beside would save the time, but make the cache of
float16 larger than one of float32; who has that room keeps float32 from the start.
"""

from typing import Any

from array_api_compat import array_namespace, device, size

from .inputs import Array, check_scale, float_arrays, working_type
from .masks import LONGEST, check_whole
from .scaled_dot_product import softmax

FIRST_ROOM = 16  # tokens, where the caller names no number


class KVCache:
    """Keys and values of the tokens so far.

    Parameters
    ----------
    capacity : int, optional
        Tokens to make room for at once.  When it is full the room doubles.
    lead : tuple of int
        Leading axes of all that comes, such as (n_head,) or (batch, n_head).
    scale : float, optional
        Factor on the scores, 1/√d_k by default.

    Attributes
    ----------
    length : int
        Tokens kept so far.
    capacity : int
        Tokens that there is room for before the next growth.
    keys, values : array, shape (*lead, length, d_k) and (*lead, length, d_v)
        What is kept: views, not copies.
    nbytes : int
        Bytes taken, room that is still free included.

    Examples
    --------
    >>> cache = KVCache(lead=(12,))
    >>> cache.append(k, v)      # each (12, 64)
    >>> output = cache.attend(q)
    """

    def __init__(
        self, capacity: int | None = None, *, lead: tuple[int, ...] = (), scale: float | None = None
    ) -> None:
        room = FIRST_ROOM if capacity is None else capacity
        self.capacity = check_whole("capacity", room, 1, LONGEST)
        if not isinstance(lead, (tuple, list)):
            raise TypeError(f"lead must be a tuple of whole numbers; got {type(lead).__name__}.")
        self.lead = tuple(check_whole("lead", size, 0) for size in lead)
        self.scale = None if scale is None else check_scale(scale, 1)
        self.length = 0
        self._keys: Array = None
        self._values: Array = None

    @property
    def keys(self) -> Array:
        """Keys kept so far."""
        self._check_begun()
        return self._keys[..., : self.length, :]

    @property
    def values(self) -> Array:
        """Values kept so far."""
        self._check_begun()
        return self._values[..., : self.length, :]

    @property
    def nbytes(self) -> int:
        """Bytes taken, room that is still free included."""
        if self._keys is None:
            return 0
        xp = array_namespace(self._keys)
        numbers = size(self._keys) + size(self._values)
        return int(numbers * xp.finfo(self._keys.dtype).bits // 8)

    def append(self, k: Array, v: Array) -> None:
        """Keep the key and value of the next token, or of the next t tokens.

        Parameters
        ----------
        k : array_like, shape (*lead, d_k) or (*lead, t, d_k)
        v : array_like, shape (*lead, d_v) or (*lead, t, d_v)
            Copied.  Widths, type and device stay those of the first token.

        Raises
        ------
        TypeError, ValueError
            In one sentence that names the argument; nothing is kept then.
        """
        xp, (k, v) = float_arrays(k=k, v=v)
        k, v = self._as_tokens(xp, "k", k), self._as_tokens(xp, "v", v)
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"v must have as many tokens as k, {k.shape[-2]}; got {v.shape[-2]}.")
        if k.shape[-1] == 0:
            raise ValueError("k must have a width d_k of at least 1; got 0.")
        if self._keys is not None:
            self._check_fits("k", k, self._keys)
            self._check_fits("v", v, self._values)
        end = check_whole("length", self.length + k.shape[-2], 0, LONGEST)
        if self._keys is None or self.capacity < end:
            self._make_room(xp, k, v, end)
        self._keys[..., self.length : end, :] = k
        self._values[..., self.length : end, :] = v
        self.length = end

    def attend(self, q: Array) -> Array:
        """Attention of one query over all that is kept.

        Parameters
        ----------
        q : array_like, shape (*lead, d_k) or (*lead, 1, d_k)
            The query of the token appended last.

        Returns
        -------
        array, shape (*lead, d_v) or (*lead, 1, d_v)
            The last row of causal attention over the whole sequence.

        Raises
        ------
        TypeError, ValueError
            In one sentence that names the argument, what came and what is wanted.
        """
        self._check_begun()
        xp, (row, K, V) = float_arrays(q=q, keys=self.keys, values=self.values)
        one = self._as_tokens(xp, "q", row)  # (*lead, 1, d_k)
        if one.shape[-2] != 1:
            raise ValueError(f"q must be one query; got {one.shape[-2]}.")
        if one.shape[-1] != K.shape[-1]:
            raise ValueError(
                f"q must have the width of the keys, {K.shape[-1]}; got {one.shape[-1]}."
            )
        dtype, wide = one.dtype, working_type(xp, one.dtype)
        one, K, V = (xp.astype(array, wide, copy=False) for array in (one, K, V))
        scaled = one * check_scale(self.scale, K.shape[-1])  # one row is less than all scores
        weights = softmax(scaled @ xp.matrix_transpose(K))  # (*lead, 1, T)
        output = xp.astype(weights @ V, dtype)  # (*lead, 1, d_v)
        return output if row.ndim == one.ndim else output[..., 0, :]

    def _as_tokens(self, xp: Any, name: str, array: Array) -> Array:
        """With an axis of tokens, be it of one."""
        axes = len(self.lead)
        if array.shape[:axes] != self.lead or array.ndim not in (axes + 1, axes + 2):
            start = "".join(f"{size}, " for size in self.lead)
            raise ValueError(
                f"{name} must have shape ({start}width) or ({start}tokens, width); "
                f"got shape {array.shape}."
            )
        return array if array.ndim == axes + 2 else xp.expand_dims(array, axis=-2)

    def _check_fits(self, name: str, array: Array, kept: Array) -> None:
        """Refuse what is not of the kind of the first token."""
        float_arrays(**{name: array, "what is kept": kept})  # one library, one device
        if array.dtype != kept.dtype:
            raise TypeError(
                f"{name} must be of the type of the first token, {kept.dtype}; got {array.dtype}."
            )
        if array.shape[-1] != kept.shape[-1]:
            raise ValueError(
                f"{name} must have the width of the first token, {kept.shape[-1]}; "
                f"got {array.shape[-1]}."
            )

    def _check_begun(self) -> None:
        if self._keys is None:
            raise ValueError(
                "The cache must hold a token before it can be asked; append one first."
            )

    def _make_room(self, xp: Any, k: Array, v: Array, end: int) -> None:
        """Double the room until it holds `end` tokens like k and v.

        Each growth copies all, but they get so rare that it costs little.
        """
        capacity = self.capacity
        while capacity < end:
            capacity = min(2 * capacity, LONGEST)
        keys, values = (
            xp.empty((*self.lead, capacity, one.shape[-1]), dtype=one.dtype, device=device(one))
            for one in (k, v)
        )
        if self._keys is not None:
            keys[..., : self.length, :] = self.keys
            values[..., : self.length, :] = self.values
        self.capacity, self._keys, self._values = capacity, keys, values  # all three, or none
