"""Min-norm point: exact minimisation of any submodular function (Fujishige & Wolfe)."""

from __future__ import annotations

import numpy as np

from privacyfunnel.information import Array
from privacyfunnel.submodular.functions import SetFunction, SetResult, lower_bound


def min_norm_point(
    function: SetFunction, *, tol: float = 1e-10, max_iter: int = 10_000
) -> SetResult:
    """Minimise a submodular F by the point of least norm in its base polytope.

    Wolfe's algorithm (1976) keeps that point x as a mixture of few vertices; Edmonds' greedy finds
    the next vertex. Any x of the polytope proves min F ≥ Σ_i min(x_i, 0), and the prefixes of x's
    order give subsets, so the search stops when the best subset found is within ``tol`` of the
    bound (``gap`` of the result), not when the point has stopped moving.

    >>> from privacyfunnel.submodular.functions import Affine, MergeEntropy
    >>> import scipy.sparse as sp
    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> result = min_norm_point(Affine(f, 1.0, np.array([0.0, 0.0, 1.1])))
    >>> result.subset, result.gap < 1e-10
    (array([ True,  True, False]), True)
    """
    vertices = lower_bound(function, np.arange(function.n))[None, :]
    mixture = np.ones(1)
    best, best_value, bound = np.zeros(function.n, dtype=bool), 0.0, -np.inf
    step = 0
    while step < max_iter:
        step += 1
        point = mixture @ vertices
        bound = max(bound, float(np.minimum(point, 0.0).sum()))
        order = np.argsort(point, kind="stable")
        gains = function.chain(order)
        values = np.cumsum(gains)
        size = int(np.argmin(values))
        if values[size] < best_value:
            best, best_value = np.zeros(function.n, dtype=bool), float(values[size])
            best[order[: size + 1]] = True
        vertex = np.empty(function.n)
        vertex[order] = gains
        # The second test is Wolfe's own: no vertex lies nearer to the origin than the point's plane.
        if best_value - bound <= tol or point @ (point - vertex) <= 1e-14 * (1.0 + point @ point):
            break
        vertices, mixture = _descend(np.vstack([vertices, vertex]), np.append(mixture, 0.0))
    return SetResult(best, best_value, step, max(0.0, best_value - bound))


def _descend(vertices: Array, mixture: Array) -> tuple[Array, Array]:
    """Move to the least-norm point of the vertices' affine hull, dropping those that block the way."""
    while True:
        gram = vertices @ vertices.T
        scale = max(1.0, float(np.trace(gram)))
        ones = np.ones(len(gram))
        # Minimise |aV|² under Σa = 1: a is proportional to (VVᵀ + scale 11ᵀ)⁻¹ 1.
        target = np.linalg.lstsq(gram + scale, ones, rcond=None)[0]
        target = target / target.sum()
        if (target > 1e-13).all():
            return vertices, target
        falling = target <= 1e-13
        ratios = mixture[falling] / np.maximum(mixture[falling] - target[falling], 1e-300)
        mixture = mixture + min(1.0, float(ratios.min())) * (target - mixture)
        kept = mixture > 1e-13
        vertices, mixture = vertices[kept], mixture[kept] / mixture[kept].sum()
