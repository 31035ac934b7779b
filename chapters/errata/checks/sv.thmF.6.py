"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Theorem F.6 with B1 to B4.

Under A1, A2, A3 let a flow from a start of infinitesimal norm cross boundaries, each of a
datum x_0, at a point w_0, from a cell P to a cell P~. If B1 to B4 hold at each of them, |w(t)|
strictly increases until the flow converges. H is the sum of x x^T over the data active in P, with
eigenvalues l_k and unit eigenvectors e_k; w_0 = sum c_k e_k, the minimiser w_P of the quadratic of
P is sum c*_k e_k with c*_k >= 0; H~, e~_k, w_P~ are those of P~.
  B1: |e~_k - e_k| < (l_min / l_max) c_k / |w_0| for all k.
  B2: y_0 < x_0.w_P + (1 - x_0.H^-1 x_0) / |x_0| min_k ((c*_k / c_k - 1) / l_k
        - |w_P~ - w_0| / |w_0| / l_max) c_k l_k^2.          B3: H~ has full rank.  B4: x_0.w_P < 0.
Four data, two of them equal, break it from e (2, -1). H~ is the printed sum, to which equal data
give a term each; counted once, B2 fails here. True without parallel data, in the plane.
"""

import numpy as np


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = np.array([[6, 7], [4, 1], [0, 1], [0, 1]]), np.array([5, 7, 8, 8])
check("A1: no entry is negative, no datum is 0", X.min() >= 0 and X.any(axis=1).all())
check("A2: all labels are positive", Y.min() > 0)
check("A3: the data span the plane", np.linalg.matrix_rank(X) == 2)


def cell(active):
    """H, its minimiser, eigenvalues and eigenvectors, those with a positive first entry."""
    x, y = X[active], Y[active]
    values, vectors = np.linalg.eigh(x.T @ x)
    return x.T @ x, np.linalg.solve(x.T @ x, x.T @ y), values, vectors * np.sign(vectors[0])


H, best, L, E = cell([0, 1])
H_, best_, _, E_ = cell([0, 1, 2, 3])
active = (X @ [2, -1] > 0).tolist()
check("at (2, -1) x_1, x_2 are active, x_3 and its equal x_4 are not", active == [1, 1, 0, 0])
check(
    "q = (58, 42) > 0 there, and w_P = (2, -1)", np.allclose(best, [2, -1]) and (H @ best > 0).all()
)
check("B3 and B4: det H~ > 0, and x_3.w_P = -1 < 0", np.linalg.det(H_) > 1 and best[1] < -0.99)
for e in (1e-2, 1e-4, 1e-6):
    # In P: w(t) = (2, -1) - (1 - e) exp(-Ht) (2, -1). It crosses w_2 = 0 between t = 0 and t = e.
    low, high = 0.0, e
    for _ in range(200):
        t = (low + high) / 2
        w = best - (1 - e) * E @ (np.exp(-L * t) * (E.T @ best))
        low, high = (t, high) if w[1] < 0 else (low, t)
    E, E_ = E * np.sign(E.T @ best), E_ * np.sign(np.sum(E * np.sign(E.T @ best) * E_, axis=0))
    c, star, size = E.T @ w, E.T @ best, np.linalg.norm(w)
    b1 = L[0] / L[1] * c / size - np.linalg.norm(E_ - E, axis=0)
    least = np.min(((star / c - 1) / L - np.linalg.norm(best_ - w) / size / L[1]) * c * L**2)
    b2 = best[1] + (1 - np.linalg.inv(H)[1, 1]) * least - 8
    print(f"e = {e:g}: crosses at ({w[0]:.3g}, 0); room in B1: {b1.min():.3g}, in B2: {b2:.3g}")
    check("B1 and B2 hold", b1.min() > 0 and b2 > 0)
    # In P~ the matrix is H~ = [[52, 46], [46, 52]], with (1, 1) for 98 and (1, -1) for 6. From (p,
    # 0)
    #   |w|^2 = 2 (b + (p/2 - b) exp(-98t))^2 + p^2 exp(-12t) / 2,  b = 29/49,
    # as long as no boundary is met: w_1 > w_2 > 0 for t > 0. The limit is 2 b^2.
    p, b, t = w[0], 29 / 49, np.log(100 / w[0]) / 40  # so late that exp(-98t) hardly counts
    above = 4 * b * (p / 2 - b) * np.exp(-98 * t) + p**2 * np.exp(-12 * t) / 2
    check("later |w|^2 is above its limit, and so it comes back down", above > 0)
check("P~: H~ = [[52, 46], [46, 52]], minimiser (29/49, 29/49)",
      H_.tolist() == [[52, 46], [46, 52]] and np.allclose(best_, 29 / 49))  # fmt: skip
print(
    "So the norm does not increase until the flow converges. Theorem F.6 fails with parallel data."
)
