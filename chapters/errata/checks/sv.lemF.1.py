"""Lee, Sim, Ye, Support Vectors and Gradient Dynamics (2022), Lemma F.1.

The lemma: let P+ and P- be adjacent cells whose common boundary belongs to the datum x*, which is
active in P+. Then the active data of P+ are those of P- and x*. (A cell is the set of all weights
with the same active data, those with w.x > 0.) Two parallel data break it, since they share a
boundary. True instead: if no two data are parallel.
"""


def check(sentence, true):
    print("yes:" if true else "NO: ", sentence)
    if not true:
        raise SystemExit("The counterexample does not do what is said of it.")


X, Y = [1, 2], [1, 1]
check("A1: no entry is negative, no datum is 0", min(X) > 0)
check("A2: all labels are positive", min(Y) > 0)
check("A3: the data span the line", any(X))


def active(w):
    return {x for x in X if w * x > 0}


# On the line a datum x > 0 switches at w = 0 only. So there are two cells, w > 0 and w <= 0, and
# they are adjacent at w = 0, the boundary of x* = 1.
above, below = active(1), active(-1)
check("x* = 1 is active in P+, w > 0, and inactive in P-, w < 0", 1 in above and 1 not in below)
print(f"active in P+: {sorted(above)}; active in P-, with x*: {sorted(below | {1})}")
check("these are not the same", above != below | {1})
print("So the two adjacent cells differ in two data. The lemma fails.")
