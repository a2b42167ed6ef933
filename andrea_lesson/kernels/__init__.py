"""CUDA kernels for attention, and the wrapper that checks what goes into them.

`attention.cu` is the source, written to be read; `wrapper.py` brings CuPy arrays to it.
"""

from .wrapper import cuda_attention, cuda_attention_backward

__all__ = ["cuda_attention", "cuda_attention_backward"]
