"""What the lesson claims, measured: everything under one name, each idea in a file of its own.

`growth.py`          scores spread with d_k
`rulers.py`          how peaked a row is, and how many of its keys can still learn
`saturation.py`      rows freeze; with an appendix on rulers that mislead
`matching.py`        what a wide head buys
`mask_values.py`     mask values in each precision
`probes.py`          who sees whom, asked of any attention function
`random_scores.py`   random scores at every width at once
`naive.py`           naive forms that go wrong

Parameters in, frozen dataclass out; the same seed gives the same numbers.  Vectors are random
normal unless a docstring says otherwise, and whoever shows the numbers says so.
"""

import numpy as np

from .growth import ScoreSpreads as ScoreSpreads
from .growth import score_spreads as score_spreads
from .mask_values import MASK_VALUES as MASK_VALUES
from .mask_values import OUTCOMES as OUTCOMES
from .mask_values import PRECISIONS as PRECISIONS
from .mask_values import RULES as RULES
from .mask_values import MaskValues as MaskValues
from .mask_values import largest_leak as largest_leak
from .mask_values import mask_outcomes as mask_outcomes
from .masks import check_whole
from .matching import FamilyMatch as FamilyMatch
from .matching import PerfectMatch as PerfectMatch
from .matching import family_match as family_match
from .matching import perfect_match as perfect_match
from .matching import perfect_match_formula as perfect_match_formula
from .naive import SoftmaxInSteps as SoftmaxInSteps
from .naive import add_mask as add_mask
from .naive import fill_mask as fill_mask
from .naive import mask_after_softmax as mask_after_softmax
from .naive import shared_projection_scores as shared_projection_scores
from .naive import softmax_in_steps as softmax_in_steps
from .naive import softmax_without_shift as softmax_without_shift
from .probes import NoAttention as NoAttention
from .probes import Permutation as Permutation
from .probes import causality_probe as causality_probe
from .probes import no_attention_probe as no_attention_probe
from .probes import permutation_probe as permutation_probe
from .random_scores import COMPONENTS as COMPONENTS
from .random_scores import DIVISORS as DIVISORS
from .random_scores import LONGEST as LONGEST
from .random_scores import MOST as MOST
from .random_scores import ROWS as ROWS
from .random_scores import WIDEST as WIDEST
from .random_scores import FloatArray as FloatArray
from .random_scores import RowSpreads as RowSpreads
from .random_scores import RunningScores as RunningScores
from .random_scores import divisor_value as divisor_value
from .random_scores import random_row as random_row
from .random_scores import row_spreads as row_spreads
from .random_scores import running_scores as running_scores
from .random_scores import theory_keys as theory_keys
from .random_scores import theory_match as theory_match
from .random_scores import theory_std as theory_std
from .rulers import effective_keys as effective_keys
from .rulers import gradient_share as gradient_share
from .rulers import jacobian_norm as jacobian_norm
from .saturation import Freezing as Freezing
from .saturation import MisleadingRulers as MisleadingRulers
from .saturation import Saturation as Saturation
from .saturation import freezing as freezing
from .saturation import misleading_rulers as misleading_rulers
from .saturation import saturation_grid as saturation_grid


def random_qkv(
    T: int, d_k: int, d_v: int | None = None, *, seed: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Random queries, keys and values whose components have mean 0 and variance 1.

    Parameters
    ----------
    T : int
        Positions, up to 1024.
    d_k, d_v : int
        Widths, up to 4096; `d_v` is `d_k` by default.
    seed : int

    Returns
    -------
    Q, K : ndarray, shape (T, d_k)
    V : ndarray, shape (T, d_v)
        A larger T or d_k adds rows or columns and leaves the others as they were, so that a
        picture grows under a slider and does not start afresh.
    """
    T, seed = check_whole("T", T, 0, LONGEST), check_whole("seed", seed, 0)
    d_k = check_whole("d_k", d_k, 1, WIDEST)
    widths = (d_k, d_k, d_k if d_v is None else check_whole("d_v", d_v, 1, WIDEST))
    Q, K, V = (
        np.random.default_rng([seed, which]).standard_normal((width, LONGEST))[:, :T].T
        for which, width in enumerate(widths)
    )
    return Q, K, V
