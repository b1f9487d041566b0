"""Taylor series of ordinary differential equations in long arithmetic, for references of 30 digits.

Expressions of states and time are built with + - * /, sqrt, sin and cos; `derivative` differentiates them and
`Expansion` gives the coefficients of their series along a solution, in integers times 2^-BITS.
"""
from functools import reduce
from operator import mul

import mpmath as mp

mp.mp.dps = 60
BITS = 240
ONE = 1 << BITS


def fixed(value):
    return int(mp.nint(mp.ldexp(mp.mpf(value), BITS)))


def real(value):
    return mp.ldexp(mp.mpf(value), -BITS)


class Node:
    """One operation; equal ones are one node."""
    made = {}

    def __new__(cls, kind, *args):
        key = (kind, *(a if isinstance(a, (int, mp.mpf)) else id(a) for a in args))
        if key not in Node.made:
            node = super().__new__(cls)
            node.kind, node.args, node.slopes = kind, args, {}
            Node.made[key] = node
        return Node.made[key]

    def __add__(self, other):
        other = node(other)
        if is_number(self, 0):
            return other
        return self if is_number(other, 0) else folded("add", self, other)

    def __mul__(self, other):
        other = node(other)
        if is_number(self, 0) or is_number(other, 0):
            return node(0)
        if is_number(self, 1):
            return other
        if is_number(other, 1):
            return self
        return folded("mul", other, self) if other.kind == "number" else folded("mul", self, other)

    def __truediv__(self, other):
        other = node(other)
        return self * (1 / other.args[0]) if other.kind == "number" else Node("div", self, other)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + node(other) * -1

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return node(other) - self


def node(value):
    return value if isinstance(value, Node) else Node("number", mp.mpf(value))


def is_number(n, value):
    return n.kind == "number" and n.args[0] == value


def folded(kind, a, b):
    if a.kind == b.kind == "number":
        x, y = a.args[0], b.args[0]
        return node(x + y if kind == "add" else x * y)
    return Node(kind, a, b)


def state(i):
    return Node("state", i)


TIME = Node("time")


def sqrt(a):
    return node(mp.sqrt(a.args[0])) if node(a).kind == "number" else Node("sqrt", a)


def sin(a):
    return Node("sin", node(a))


def cos(a):
    return Node("cos", node(a))


def power(a, n):
    return reduce(lambda x, y: x * y, [node(a)] * n)


def derivative(a, by):
    """Of an expression by a state or the time."""
    if by not in a.slopes:
        d = lambda i: derivative(a.args[i], by)
        if a is by:
            slope = node(1)
        elif a.kind == "add":
            slope = d(0) + d(1)
        elif a.kind == "mul":
            slope = d(0) * a.args[1] + a.args[0] * d(1)
        elif a.kind == "div":
            slope = (d(0) - a * d(1)) / a.args[1]
        elif a.kind == "sqrt":
            slope = d(0) / (2 * a)
        elif a.kind == "sin":
            slope = cos(a.args[0]) * d(0)
        elif a.kind == "cos":
            slope = -sin(a.args[0]) * d(0)
        else:
            slope = node(0)
        a.slopes[by] = slope
    return a.slopes[by]


def value(a, x, t, known=None):
    """Of an expression, in 60 digits."""
    known = {} if known is None else known
    if a not in known:
        v = lambda i: value(a.args[i], x, t, known)
        known[a] = {"number": lambda: a.args[0], "state": lambda: x[a.args[0]], "time": lambda: t,
                    "add": lambda: v(0) + v(1), "mul": lambda: v(0) * v(1), "div": lambda: v(0) / v(1),
                    "sqrt": lambda: mp.sqrt(v(0)), "sin": lambda: mp.sin(v(0)),
                    "cos": lambda: mp.cos(v(0))}[a.kind]()
    return known[a]


class Expansion:
    """Series of a solution of x' = rates(x, t), and of more expressions along it."""

    def __init__(self, rates, others):
        self.rates, self.others, self.order = rates, others, []
        seen = set()

        def visit(a):
            if a in seen:
                return
            seen.add(a)
            for other in a.args:
                if isinstance(other, Node):
                    visit(other)
            if a.kind in ("sin", "cos"):
                visit(Node("cos" if a.kind == "sin" else "sin", *a.args))
            if a.kind != "state":
                self.order.append(a)

        for a in rates + others:
            visit(a)

    def coefficients(self, x, t, h, terms):
        """Of (states, others) in s, at the time t + h s."""
        c = {a: [] for a in self.order}
        states = [state(i) for i in range(len(self.rates))]
        for s, v in zip(states, x):
            c[s] = [fixed(v)]
        h = fixed(h)
        for k in range(terms):
            for a in self.order:
                c[a].append(term(a, c, k, t, h))
            for s, rate in zip(states, self.rates):
                c[s].append((h * c[rate][k] >> BITS) // (k + 1))
        return [c[s][:terms] for s in states], [c[a] for a in self.others]


def product(a, b, k, first=0):
    """Coefficient k of a b, of the terms from `first` on of a."""
    return sum(map(mul, a[first:k + 1], reversed(b[:k + 1 - first]))) >> BITS


def term(a, c, k, t, h):
    kind, args = a.kind, a.args
    if kind == "number":
        return fixed(args[0]) if k == 0 else 0
    if kind == "time":
        return (fixed(t), h)[k] if k < 2 else 0
    u = c[args[0]]
    if kind == "add":
        return u[k] + c[args[1]][k]
    if kind == "mul":
        v = c[args[1]]
        return u[k] * v[0] >> BITS if args[1].kind == "number" else product(u, v, k)
    if kind == "div":
        b = c[args[1]]
        return ((u[k] - product(b, c[a] + [0], k, 1)) << BITS) // b[0]
    if k == 0:
        return fixed(getattr(mp, kind)(real(u[0])))
    if kind == "sqrt":
        r = c[a]
        return ((u[k] - product(r[:k] + [0], r + [0], k, 1)) << BITS) // (2 * r[0])
    other = c[Node("cos" if kind == "sin" else "sin", *args)]
    slope = [j * v for j, v in enumerate(u[:k + 1])]
    return product(slope, other[:k] + [0], k, 1) // (k if kind == "sin" else -k)


def at(series, s):
    """Of a series at s, an integer times 2^-BITS."""
    return reduce(lambda sum_, coefficient: (sum_ * s >> BITS) + coefficient, reversed(series), 0)
