"""Phuong, Lampert, The Inductive Bias of ReLU Networks on Orthogonally Separable Data (ICLR 2021),
Lemma A.3, footnote 4.

Lemma A.3 assumes that the inputs with the vector 0 are in general position: no k of these points
lie on a (k - 2)-dimensional hyperplane, for all k >= 2. No set of d + 2 points or more can have
this: they all lie in R^d, of dimension d = k - 2 for k = d + 2. The footnote can ask it for k <= d
+ 1, all that the proof uses. Lemma A.3 stands, with k <= d + 1, or with no position at all.
"""


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [1, -1], [1, -1]  # two data on the line, d = 1
check(
    "(OS): x_i x_j y_i y_j > 0", all(X[i] * X[j] * Y[i] * Y[j] > 0 for i in (0, 1) for j in (0, 1))
)
points = [0, *X]
k = len(set(points))
check("0, x_1 and x_2 are k = 3 different points", k == 3)
dimension = 0 if k == 1 else 1  # of the flat through them: on the line a point or the line
print(f"these {k} points lie on a flat of dimension {dimension} = k - 2")
check("so they are not in general position", dimension <= k - 2)
# Nothing was special in them: any three points of the line lie on the line.
print("So no two data on the line meet the footnote, and no d + 1 data of R^d.")
