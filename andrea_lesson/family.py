"""The sizes of the ANDREA models, and the arithmetic that ties them together."""

from dataclasses import dataclass

from .masks import check_whole


def count_parameters(d_model: int, n_layer: int, T: int, vocabulary: int) -> int:
    """Parameters of a decoder of the ANDREA kind.

    Two embedding tables of the vocabulary (input and output), one of the positions, and in
    each layer 4 d_model² for attention (W_Q, W_K, W_V, W_O) and 8 d_model² for an MLP four
    times as wide; no biases.  The number of heads does not enter: more heads are narrower.

    Parameters
    ----------
    d_model, n_layer, T, vocabulary : int
        Model width, number of layers, context length, number of different tokens.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        If an argument is not a whole number, or is negative.

    Notes
    -----
    For ANDREA-12M and ANDREA-120M this meets the published counts to three digits, which is
    why separate embeddings and absent biases are thought to be right.
    """
    d_model = check_whole("d_model", d_model, 0)
    n_layer = check_whole("n_layer", n_layer, 0)
    T = check_whole("T", T, 0)
    vocabulary = check_whole("vocabulary", vocabulary, 0)
    return 2 * vocabulary * d_model + T * d_model + n_layer * 12 * d_model**2


@dataclass(frozen=True)
class AndreaModel:
    """Dimensions of one model of the family.

    Attributes
    ----------
    d_model : int
        Width of the vector each position carries.
    n_head : int
        Attention heads in a layer.
    n_layer : int
        Layers.
    T : int
        Context length in tokens.
    vocabulary : int or None
        Number of different tokens; None where the sources disagree.
    published_n_params : int
        The parameter count as published, rounded as it was there.

    Notes
    -----
    Source: the public model card and lesson pages of ANDREA.
    """

    name: str
    d_model: int
    n_head: int
    n_layer: int
    T: int
    vocabulary: int | None
    published_n_params: int

    @property
    def d_k(self) -> int:
        """Width of one head's queries and keys: d_model / n_head, exact in this family."""
        return self.d_model // self.n_head

    @property
    def mlp_width(self) -> int:
        """Width of the hidden layer of the MLP, 4 d_model."""
        return 4 * self.d_model

    @property
    def n_params(self) -> int:
        """Parameters by :func:`count_parameters`; as published if the vocabulary is unknown."""
        if self.vocabulary is None:
            return self.published_n_params
        return count_parameters(self.d_model, self.n_layer, self.T, self.vocabulary)


ANDREA_12M = AndreaModel("ANDREA-12M", 384, 12, 6, 1024, 2305, 12_800_000)
ANDREA_120M = AndreaModel("ANDREA-120M", 768, 12, 12, 1024, 8449, 98_700_000)
# Two sources give two vocabularies (8,449 and 16,641), so none is stated here.
ANDREA_480M = AndreaModel("ANDREA-480M", 1536, 24, 16, 1024, None, 480_000_000)
FAMILY = (ANDREA_12M, ANDREA_120M, ANDREA_480M)
