"""What the programs that write references share: located points by Newton's and the secant method, and numbers as text."""
import mpmath as mp


def secant(test, a):
    """A zero of test(a) near a guess."""
    values = [mp.mpf(a), mp.mpf(a) * (1 - mp.mpf(10) ** -6)]
    tests = [test(v) for v in values]
    while abs(values[1] - values[0]) > mp.mpf(10) ** -32 and tests[1] != tests[0]:
        new = values[1] - tests[1] * (values[1] - values[0]) / (tests[1] - tests[0])
        values, tests = [values[1], new], [tests[1], test(new)]
    return values[1]


def fold(moved, a, x):
    """Newton's method for P(x, a) = x and det(P_x - 1) = 0, derivatives of P by a and of the determinant by
    differences. moved(x, a): P and P_x."""
    h = mp.mpf(10) ** -18
    a, x = mp.mpf(a), mp.matrix(x)
    size = x.rows

    def test(x, a):
        y, slopes = moved(x, a)
        return y - x, slopes, mp.det(slopes - mp.eye(size))

    for _ in range(40):
        defect, slopes, det = test(x, a)
        J = mp.zeros(size + 1)
        J[:size, :size] = slopes - mp.eye(size)
        for j in range(size + 1):
            shifted = x.copy()
            if j < size:
                shifted[j] += h
            other, _, other_det = test(shifted, a + h if j == size else a)
            J[size, j] = (other_det - det) / h
            if j == size:
                for i in range(size):
                    J[i, size] = (other[i] - defect[i]) / h
        step = mp.lu_solve(J, mp.matrix(list(-defect) + [-det]))
        x, a = x + step[:size], a + step[size]
        if mp.norm(step) < mp.mpf(10) ** -32:
            return a, x
    raise ValueError("no fold")


def text_of(v):
    return mp.nstr(v, 32, strip_zeros=False, min_fixed=-4, max_fixed=8)


def text_list(values):
    return "[" + ", ".join(text_of(v) for v in values) + "]"
