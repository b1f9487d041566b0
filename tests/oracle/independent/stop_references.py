"""Motions of linear systems with compliant and rigid stops to 30 digits, by exact modal flow.

    python3 stop_references.py [NAME ...]  > stop_references.inc

Between events x = (q, q') is p(t) + V exp(L (t - s)) V^-1 (x(s) - p(s)), with the eigenvalues L and eigenvectors V
of the stops that are engaged and the forced motion p, all in 50 digits; while friction on a stop sticks, in the
coordinates that this leaves free. Events are bracketed on a fine grid in
double precision and solved for in 50 digits; derivatives go by matrix exponentials and saltation matrices.
Periodic orbits are zeros of Newton's method with these, located points zeros of the secant method in the
parameter `a`. The eigenvalues of every set of engaged stops must be different, and none may be 0.
"""
import re
import sys
import tomllib

import mpmath as mp
import numpy as np

from references import fold, secant, text_list, text_of

mp.mp.dps = 50
SETTLE = mp.mpf(10) ** -9  # what was just left is off its zero
STEP = 1e-3
ONE_MASS = "omega = 0.9\nmass = [[1]]\ndamping = [[0.05]]\nstiffness = [[1]]\nforce = [{ cosine = ['a'] }]\n"
TWO_MASSES = """omega = 0.7
mass = [[1, 0.1], [0.1, 2]]
damping = [[0.2, -0.1], [-0.1, 0.15]]
stiffness = [[2, -1], [-1, 1.5]]
force = [{ cosine = ['a', 0] }, { order = 2, sine = [0, '0.5*a'] }]
"""
ROUGH = """omega = 0.9
mass = [[1, 0], [0, 1]]
damping = [[0.1, 0], [0, 0.1]]
stiffness = [[1, -0.2], [-0.2, 0.6]]
force = [{ cosine = ['a', 0], sine = [0, 0.3] }]
"""
SOFT = "omega = 0.8\nmass = [[1]]\ndamping = [[0.02]]\nstiffness = [[1]]\nforce = [{ cosine = ['0.64*a'] }]\n"

# name: system, a, start, time of the motion
CASES = {
    "bilinear": (ONE_MASS + "stop = [{ normal = [1], position = 0.2, stiffness = 9 }]", 1, [0, 0], 60),
    "soft": (SOFT + "stop = [{ normal = [1], position = 1.26, stiffness = 29 }]", 0.7, [1.2, 0.4], 60),
    "two_sided": (ONE_MASS + "stop = [{ normal = [1], position = 0.3, stiffness = 29, damping = 0.2 }, "
                  "{ normal = [-1], position = 0.3, stiffness = 12, damping = 0.1 }]", 1, [0.1, 0.2], 60),
    "between_masses": (TWO_MASSES + "stop = [{ normal = [1, -1], position = 0.1, stiffness = 15, damping = 0.3 }]",
                       1, [0, 0.1, 0, 0], 60),
    "overlapping": (TWO_MASSES + "stop = [{ normal = [1, 0], position = 0.2, stiffness = 8, damping = 0.1 }, "
                    "{ normal = [1, 0], position = 0.35, stiffness = 40 }, "
                    "{ normal = [0, 1], position = 0.1, stiffness = 5, damping = 0.5 }]", 1, [0, 0.1, 0, 0], 60),
    "release_by_force": (ONE_MASS + "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 3 }]",
                         1, [0, 0], 60),
    "release_by_gap": (ONE_MASS + "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 3, "
                       "release = 'gap' }]", 1, [0, 0], 60),
    "overdamped": (ONE_MASS + "stop = [{ normal = [1], position = 0.1, stiffness = 3, damping = 9 }]", 1, [0, 0.5], 60),
    "preloaded": (ONE_MASS + "stop = [{ normal = [1], position = 0.2, stiffness = 20, preload = 0.8 }, "
                  "{ normal = [-1], position = 0.3, stiffness = 7, preload = 0.2 }]", 1, [0, 0], 25),
    "preloaded_damped": (ONE_MASS + "stop = [{ normal = [1], position = 0.2, stiffness = 20, preload = 0.8, "
                         "damping = 0.4 }, { normal = [-1], position = 0.3, stiffness = 7, preload = 0.2 }]",
                         1, [0, 0], 25),
    "rigid_and_soft": (TWO_MASSES + "stop = [{ normal = [1, 0], position = 0.2, stiffness = 8, damping = 0.4 }, "
                       "{ normal = [1, 0], position = 0.4, restitution = 0.8 }, "
                       "{ normal = [-1, 1], position = 0.3, restitution = 0.9 }]", 1, [0, 0.1, 0, 0], 25),
    "plate_fast": (ONE_MASS + "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 0.5, "
                   "plate = 'relaxing' }]", 1, [0, 0], 60),
    "plate_slow": (ONE_MASS + "stop = [{ normal = [1], position = 0.2, stiffness = 20, damping = 40, "
                   "plate = 'relaxing' }]", 1, [0, 0], 60),
    "plates_and_rigid": (TWO_MASSES + "stop = [{ normal = [1, -1], position = 0.1, stiffness = 15, damping = 9, plate "
                         "= 'relaxing' }, { normal = [1, 0], position = 0.3, stiffness = 8, damping = 20, "
                         "plate = 'relaxing' }, { normal = [-1, 0], position = 0.5, restitution = 0.8 }]",
                         1, [0, 0.1, 0, 0], 40),
    "rough": (ROUGH + "stop = [{ normal = [1, 0], position = 0.2, stiffness = 8, damping = 0.4, mu = 0.9, "
              "slip = [0, 1] }]", 1, [0, 0.1, 0.3, 0], 60),
}
# name: a, state at phase zero and periods n of an orbit
ORBITS = {
    "bilinear": (0.25, [0.3177, 0.0559], 1),
    "soft": (0.665, [1.17989157, 0.0419517], 1),
    "two_sided": (1.6, [0.13386817, -0.12694662], 1),
    "between_masses": (1, [-2.94925722, 2.03456535, -3.17364524, 1.23376404], 1),
    "overlapping": (1, [-0.099442, -0.17681503, 0.27876396, 0.41028978], 1),
    "release_by_force": (1, [0.50311245, -0.32040501], 1),
    "release_by_gap": (1, [0.51851153, -0.33260952], 1),
    "overdamped": (1, [0.355397, 0.01528415], 1),
    "preloaded_damped": (0.5, [0.119707703, 0.001336293], 1),
    "rigid_and_soft": (1, [0.15031991, -0.21007816, 0.24702641, 0.79990523], 1),
    "rough": (1, [0.1994350173, -0.4646141641, -0.4153617161, 0.0257003902], 2),
}
# name: located points from guesses: kind, a, state at phase zero, periods; of grazing the contact
POINTS = {
    "bilinear": [("grazing", 0.03905, [0.1946, 0.0415], 1, 0), ("period_doubling", 0.30432, [0.3461, 0.0575], 1),
                 ("fold", 0.39804, [0.44037, 0.81649], 2), ("period_doubling", 0.48883, [0.59407, 0.3196], 2)],
    "soft": [("period_doubling", 0.70994, [1.25926, 0.0451], 1),
             ("period_doubling", 1.214157, [1.398457, 0.104614], 1),
             ("fold", 0.8818734, [0.606562536, -1.998308797], 2)],
    "two_sided": [("period_doubling", 0.0627113, [0.2942326, 0.0631867], 1), ("fold", 0.444912, [-0.0498485, -0.13916], 1),
                  ("period_doubling", 0.509482, [0.254002, -0.031331], 1)],
    "between_masses": [("period_doubling", 0.1357585, [-0.30843379, 0.079377877, -0.41799744, 0.142466438], 1),
                       ("period_doubling", 0.1471931, [-0.352166, 0.0865861, -0.459901, 0.1636396], 1)],
    "overlapping": [("grazing", 0.44120266, [0.299620814, -0.11138347, 0.213782851, 0.295986433], 1, 1)],
    "release_by_force": [("grazing", 0.03905, [0.1946, 0.0415], 1, 0)],
    "release_by_gap": [("grazing", 0.03905, [0.1946, 0.0415], 1, 0)],
    "overdamped": [("grazing", 0.0195, [0.0973, 0.0207], 1, 0)],
    "preloaded_damped": [("fold", 0.96791047325, [0.249261639, 0.011929596], 2),
                         ("period_doubling", 1.076427852, [0.245629272, -0.073219487], 2)],
    "rigid_and_soft": [("fold", 0.97587016, [0.132667428, -0.174026756, 0.251031513, 0.7788698], 1),
                       ("period_doubling", 1.02039251, [0.140450408, -0.210880233, 0.237263615, 0.807102865], 1),
                       ("period_doubling", 1.10016196, [0.090561134, -0.201506328, 0.196887935, 0.830227111], 1)],
}
OPEN, ENGAGED, RECOVERING, FORWARD, BACKWARD, STUCK = range(6)  # the last three: engaged with friction
TOUCHES = (ENGAGED, FORWARD, BACKWARD, STUCK)


def number(value, a):
    if not isinstance(value, str):
        return mp.mpf(value)
    return eval(re.sub(r"[0-9.]+", r"m('\g<0>')", value), {"a": a, "m": mp.mpf, "__builtins__": {}})


def parsed(text):
    """Decimal numbers as they are written, not as doubles."""
    return tomllib.loads(text, parse_float=mp.mpf)


class Stop:
    def __init__(self, table, a):
        n = [number(v, a) for v in table["normal"]]
        self.normal = mp.matrix([n])
        self.position = number(table["position"], a)
        self.restitution = number(table["restitution"], a) if "restitution" in table else None
        self.k, self.c, self.preload = (number(table.get(key, 0), a) for key in ("stiffness", "damping", "preload"))
        self.by_gap = table.get("release") == "gap"
        self.plate = table.get("plate") == "relaxing"
        self.mu = number(table.get("mu", 0), a)
        self.slip = mp.matrix([[number(v, a) for v in table.get("slip", [])]])


class System:
    def __init__(self, text, a):
        table = parsed(text)
        read = lambda key: mp.matrix([[number(v, a) for v in row] for row in table[key]])
        self.mass, self.damping, self.stiffness = read("mass"), read("damping"), read("stiffness")
        self.n = self.mass.rows
        self.omega = number(table["omega"], a)
        self.period = 2 * mp.pi / self.omega
        self.forces = []
        for force in table["force"]:
            part = lambda key: mp.matrix([number(v, a) for v in force.get(key, [0] * self.n)])
            self.forces.append((force.get("order", 1) * self.omega, part("cosine"), part("sine")))
        self.stops = [Stop(s, a) for s in table["stop"]]
        self.flows = {}

    def flow(self, status):
        if status not in self.flows:
            stuck = [stop for stop, s in zip(self.stops, status) if s == STUCK]
            self.flows[status] = StuckFlow(self, status, *stuck) if stuck else Flow(
                self.mass, *self.forces_in(status), self.forces)
        return self.flows[status]

    def forces_in(self, status):
        """Damping, stiffness and constant force of one set of engaged stops, with friction that slides."""
        K, C, f = self.stiffness.copy(), self.damping.copy(), mp.zeros(self.n, 1)
        for stop, s in zip(self.stops, status):
            if s not in TOUCHES:
                continue
            along = stop.normal.T
            if s in (FORWARD, BACKWARD):
                along = along + stop.slip.T * (stop.mu if s == FORWARD else -stop.mu)
            K += along * stop.normal * stop.k
            C += along * stop.normal * stop.c
            f += along * (stop.k * stop.position - stop.preload)
        return C, K, f


class Flow:
    """x' = B x + b + Re sum X e^{iwt} of one set of forces."""

    def __init__(self, mass, C, K, f, forces):
        n, W = mass.rows, mass ** -1
        self.B = mp.zeros(2 * n)
        for i in range(n):
            self.B[i, n + i] = 1
        lower = (-W * K, -W * C)
        for i in range(n):
            for j in range(n):
                self.B[n + i, j], self.B[n + i, n + j] = lower[0][i, j], lower[1][i, j]
        self.b = lift(W * f)
        self.rest = mp.lu_solve(self.B, -self.b)
        self.harmonics = []
        for w, cosine, sine in forces:
            push = lift(W * (cosine - 1j * sine))
            self.harmonics.append((w, mp.lu_solve(1j * w * mp.eye(2 * n) - self.B, push), push))
        self.values, self.vectors = mp.eig(self.B)
        self.inverse = self.vectors ** -1
        self.doubles = (np.array([complex(v) for v in self.values]), as_array(self.vectors),
                        as_array(self.rest).ravel(), [(float(w), as_array(X).ravel()) for w, X, _ in self.harmonics])

    def rate(self, x, t):
        r = self.B * x + self.b
        for w, _, push in self.harmonics:
            r += (push * mp.expj(w * t)).apply(mp.re)
        return r

    def steady(self, t):
        p = self.rest
        for w, X, _ in self.harmonics:
            p = p + (X * mp.expj(w * t)).apply(mp.re)
        return p

    def transition(self, tau):
        scaled = self.vectors * mp.diag([mp.exp(v * tau) for v in self.values])
        return (scaled * self.inverse).apply(mp.re)

    def start(self, x, t):
        return self.inverse * (x - self.steady(t))

    def at(self, weights, tau, t):
        scaled = mp.matrix([w * mp.exp(v * tau) for w, v in zip(weights, self.values)])
        return self.steady(t) + (self.vectors * scaled).apply(mp.re)

    def on_grid(self, weights, taus, begin):
        """States on a grid of times, in doubles: one column each."""
        values, vectors, rest, harmonics = self.doubles
        w = np.array([complex(v) for v in weights])
        x = (vectors @ (w[:, None] * np.exp(np.outer(values, taus)))).real + rest[:, None]
        for omega, X in harmonics:
            x += (X[:, None] * np.exp(1j * omega * (begin + taus))).real
        return x


class StuckFlow:
    """While slip . q' = 0: y are the coordinates but one, and the last is slip . q over its share in that."""

    def __init__(self, system, status, stop):
        n, p = system.n, stop.slip
        one = max(range(n), key=lambda i: abs(p[i]))
        free = [j for j in range(n) if j != one]
        T, e = mp.zeros(n, n - 1), mp.zeros(n, 1)
        for k, j in enumerate(free):
            T[j, k], T[one, k] = 1, -p[j] / p[one]
        e[one] = 1
        C, K, f = system.forces_in(status)
        mass = T.T * system.mass * T
        self.inner = Flow(mass, T.T * C * T, T.T * K * T, T.T * f,
                          [(w, T.T * c, T.T * s) for w, c, s in system.forces])
        self.load = lift(-(mass ** -1) * (T.T * K * e))  # of one unit of the last
        self.pull = mp.lu_solve(self.inner.B, -self.load)
        self.whole, self.take = mp.zeros(2 * n, 2 * (n - 1)), mp.zeros(2 * (n - 1), 2 * n)
        self.rest, self.row = mp.zeros(2 * n, 1), mp.zeros(1, 2 * n)
        for i in range(n):
            self.rest[i], self.row[i] = e[i], p[i] / p[one]
            for k, j in enumerate(free):
                for half in range(2):
                    self.whole[half * n + i, half * (n - 1) + k] = T[i, k]
                    self.take[half * (n - 1) + k, half * n + j] = 1

    def rate(self, x, t):
        return self.whole * (self.inner.rate(self.take * x, t) + self.load * (self.row * x)[0])

    def start(self, x, t):
        c = (self.row * x)[0]
        return self.inner.start(self.take * x - self.pull * c, t), c

    def at(self, weights, tau, t):
        w, c = weights
        return self.whole * (self.inner.at(w, tau, t) + self.pull * c) + self.rest * c

    def on_grid(self, weights, taus, begin):
        w, c = weights
        y = self.inner.on_grid(w, taus, begin) + as_array(self.pull * c).real
        return as_array(self.whole).real @ y + as_array(self.rest * c).real

    def transition(self, tau):
        flow = self.inner.transition(tau)
        return self.whole * (flow * self.take + (self.pull - flow * self.pull) * self.row) + self.rest * self.row


def lift(v):
    return mp.matrix([0] * v.rows + list(v))


def as_array(m):
    return np.array([[complex(m[i, j]) for j in range(m.cols)] for i in range(m.rows)])


class Motion:
    def __init__(self, system, x, t=0, derivatives=False):
        self.system, self.x, self.t = system, mp.matrix(x), mp.mpf(t)
        self.events = []
        self.left = [(mp.mpf(0), mp.mpf(0))] * len(system.stops)  # plates: penetration and time of the release
        self.status = tuple(self.first(stop) for stop in system.stops)
        self.slopes = mp.eye(2 * system.n) if derivatives else None

    def first(self, stop):
        if stop.restitution is not None or self.depth(stop, self.x) <= 0:
            return OPEN
        return ENGAGED if stop.by_gap or self.force(stop, self.x) > 0 else RECOVERING

    def depth(self, stop, x):
        return (stop.normal * x[:self.system.n])[0] - stop.position

    def speed(self, stop, x):
        return (stop.normal * x[self.system.n:])[0]

    def force(self, stop, x):
        return stop.preload + stop.k * self.depth(stop, x) + stop.c * self.speed(stop, x)

    def plate(self, k, t):
        stop = self.system.stops[k]
        if self.status[k] == ENGAGED:
            return self.depth(stop, self.x)
        return self.left[k][0] * mp.exp(-stop.k / stop.c * (t - self.left[k][1]))

    def guards(self):
        """(stop, its row and constant, what swings, whether of friction); positive while nothing happens. A plate adds
        its own penetration."""
        n, found = self.system.n, []
        for k, (stop, status) in enumerate(zip(self.system.stops, self.status)):
            normal = [stop.normal[0, i] for i in range(n)]
            depth = (normal + [0] * n, -stop.position)
            force = ([stop.k * v for v in normal] + [stop.c * v for v in normal],
                     stop.preload - stop.k * stop.position)
            if status == OPEN:
                found.append((k, [-v for v in depth[0]], -depth[1], [], False))
            elif status == RECOVERING or stop.by_gap:
                found.append((k, *depth, [], False))
            else:
                found.append((k, *force, [], False))
                if stop.preload > 0:
                    found.append((k, *depth, [], False))
            if status in (FORWARD, BACKWARD):
                sign = 1 if status == FORWARD else -1
                found.append((k, [0] * n + [sign * v for v in stop.slip], mp.mpf(0), [], True))
            if status == STUCK:
                needed, constant, swings = self.needed(k)
                for sign in (-1, 1):
                    found.append((k, [stop.mu * a + sign * b for a, b in zip(force[0], needed)],
                                  stop.mu * force[1] + sign * constant, [(w, sign * X) for w, X in swings], True))
        return found

    def needed(self, k):
        """The friction that keeps slip . q' as it is: its row, constant and what swings."""
        stop, W = self.system.stops[k], self.system.mass ** -1
        C, K, f = self.system.forces_in(tuple(STUCK if j == k else s for j, s in enumerate(self.status)))
        share = stop.slip * W / (stop.slip * W * stop.slip.T)[0]
        return (list(share * -K) + list(share * -C), (share * f)[0],
                [(w, (share * (c - 1j * s))[0]) for w, c, s in self.system.forces])

    def value(self, guard, x, t):
        k, row, constant, swings, _ = guard
        plate = self.plate(k, t) if self.status[k] == OPEN and self.system.stops[k].plate else 0
        return sum(r * v for r, v in zip(row, x)) + constant + plate + sum(mp.re(X * mp.expj(w * t)) for w, X in swings)

    def run(self, end):
        end = mp.mpf(end)
        while self.t < end:
            self.piece(end)
        return self

    def piece(self, end):
        """To the next event, or the end."""
        flow = self.system.flow(self.status)
        weights = flow.start(self.x, self.t)
        at = lambda tau: flow.at(weights, tau, self.t + tau)
        from_, left = (SETTLE if self.events else mp.mpf(0)), end - self.t
        length = 2.0
        hit = None
        begin = float(from_)
        while hit is None and begin < left:
            taus = np.arange(begin, min(begin + length, float(left)) + STEP / 2, STEP)
            taus = np.append(taus[taus < float(left)], min(begin + length, float(left)))
            states = flow.on_grid(weights, taus, float(self.t))
            for guard in self.guards():
                k, row, constant, swings, _ = guard
                g = np.array([float(v) for v in row]) @ states + float(constant)
                if self.status[k] == OPEN and self.system.stops[k].plate:
                    stop, (depth, since) = self.system.stops[k], self.left[k]
                    g = g + float(depth) * np.exp(-float(stop.k / stop.c) * (float(self.t - since) + taus))
                for w, X in swings:
                    g = g + (complex(X) * np.exp(1j * float(w) * (float(self.t) + taus))).real
                below = np.flatnonzero((g[1:] < 0) & (g[:-1] >= 0))
                if below.size == 0:
                    continue
                i = below[0]
                root = mp.findroot(lambda tau: self.value(guard, at(tau), self.t + tau), (taus[i], taus[i + 1]),
                                   solver="anderson", tol=mp.mpf(10) ** -90, maxsteps=200, verify=False)
                if hit is None or root < hit[0]:
                    hit = (root, guard)
            begin += length
        tau = left if hit is None else hit[0]
        if self.slopes is not None:
            self.slopes = flow.transition(tau) * self.slopes
        self.x, self.t = at(tau), self.t + tau
        if hit is not None:
            self.happen(hit[1])

    def happen(self, guard):
        k, row, _, swings, of_friction = guard
        stop, before = self.system.stops[k], self.x
        rate = self.system.flow(self.status).rate(before, self.t)
        jump = mp.eye(2 * self.system.n)
        if stop.restitution is not None:
            push = self.system.mass ** -1 * stop.normal.T
            share = push * stop.normal * ((1 + stop.restitution) / (stop.normal * push)[0])
            n = self.system.n
            for i in range(n):
                for j in range(n):
                    jump[n + i, n + j] -= share[i, j]
            self.events.append(("impact", k, self.t))
        elif of_friction:
            self.turn(k, row)
        else:
            self.change(k)
        self.x = jump * before
        if self.slopes is not None:
            after = self.system.flow(self.status).rate(self.x, self.t)
            h = mp.matrix([row])
            falls = (h * rate)[0] + sum(mp.re(1j * w * X * mp.expj(w * self.t)) for w, X in swings)
            self.slopes = (jump + (after - jump * rate) * h / falls) * self.slopes
        for other, s in enumerate(self.system.stops):  # an impact has made its force negative
            if s.restitution is None and self.status[other] in TOUCHES and not s.by_gap \
                    and self.force(s, self.x) < -mp.mpf(10) ** -30:
                self.change(other)

    def change(self, k):
        stop, status = self.system.stops[k], list(self.status)
        if status[k] == OPEN:
            status[k] = ENGAGED
            if stop.mu > 0:
                status[k] = FORWARD if (stop.slip * self.x[self.system.n:])[0] > 0 else BACKWARD
            self.events.append(("contact_begin", k, self.t))
        elif status[k] == RECOVERING:
            status[k] = OPEN
        else:
            depth = self.depth(stop, self.x)
            damped = not stop.by_gap and not stop.plate and stop.c > 0 and depth > mp.mpf(10) ** -30
            self.left[k] = (depth, self.t)
            status[k] = RECOVERING if damped else OPEN
            self.events.append(("contact_end", k, self.t))
        self.status = tuple(status)


    def turn(self, k, row):
        """A slip comes to rest or turns, or friction that sticks is used up."""
        stop, status, old = self.system.stops[k], list(self.status), self.status[k]
        needed, constant, swings = self.needed(k)
        force = self.value((k, needed, constant, swings, True), self.x, self.t)
        way = FORWARD if force > 0 else BACKWARD
        sticks = old != STUCK and abs(force) < stop.mu * self.force(stop, self.x)
        status[k] = STUCK if sticks else way
        if status[k] != old:
            kind = "slip_to_stick" if sticks else "stick_to_slip" if old == STUCK else "slip_reversal"
            self.events.append((kind, -1, self.t))
        self.status = tuple(status)


def moved(system, x, n):
    m = Motion(system, x, 0, True).run(n * system.period)
    return m.x, m.slopes, m


def orbit(system, x, n):
    for _ in range(30):
        y, slopes, _ = moved(system, x, n)
        step = mp.lu_solve(slopes - mp.eye(slopes.rows), x - y)
        x = x + step
        if mp.norm(step) < mp.mpf(10) ** -38:
            return x, moved(system, x, n)[1]
    raise ValueError("no orbit")


def nearest_maximum(system, x, n, k):
    """Of all maxima of the penetration of stop k the one nearest to 0."""
    m, found = Motion(system, x), []
    stop = system.stops[k]
    while m.t < n * system.period:
        flow, begin = system.flow(m.status), m.t
        weights = flow.start(m.x, m.t)
        m.piece(n * system.period)
        taus = np.linspace(0, float(m.t - begin), 2000)
        speed = np.array([float(v) for v in stop.normal]) @ flow.on_grid(weights, taus, float(begin))[system.n:]
        for i in np.flatnonzero((speed[:-1] > 0) & (speed[1:] <= 0)):
            at = lambda tau: flow.at(weights, tau, begin + tau)
            tau = mp.findroot(lambda t: m.speed(stop, at(t)), (taus[i], taus[i + 1]), solver="anderson",
                              tol=mp.mpf(10) ** -90, maxsteps=200, verify=False)
            found.append(m.depth(stop, at(tau)))
    return min(found, key=abs)


def located(text, kind, a, x, n, contact=None):
    """The parameter at which the orbit has a multiplier 1 or -1, or touches a stop, by the secant method."""
    sign = -1 if kind == "period_doubling" else 1

    def test(value):
        nonlocal x
        system = System(text, value)
        x, slopes = orbit(system, x, n)
        if kind == "grazing":
            return nearest_maximum(system, x, n, contact)
        return mp.det(slopes - sign * mp.eye(slopes.rows))

    # At a fold the branch turns: it is followed by the state, and the parameter solved for.
    if kind == "fold":
        return fold(lambda x, a: moved(System(text, a), x, n)[:2], a, x)
    a = secant(test, a)
    return a, x


def state_of(values):
    """(q, q') of values in the order of models."""
    return mp.matrix([mp.mpf(repr(v)) for v in values[0::2] + values[1::2]])


def interleaved(x):
    n = x.rows // 2
    return [v for i in range(n) for v in (x[i], x[n + i])]


def main(names):
    print('R"toml(')
    for name, (text, a, start, time) in CASES.items():
        if names and name not in names:
            continue
        system = System(text, mp.mpf(repr(a)))
        m = Motion(system, state_of(start)).run(time)
        plates = [m.plate(k, m.t) for k, stop in enumerate(system.stops) if stop.plate]
        print(f"[[system]]\nname = \"{name}\"\na = {a}\nmodel = '''\n{text}\n'''")
        print(f"start = {start}\ntime = {time}\nend = {text_list(interleaved(m.x) + plates)}")
        print("event_kind = [" + ", ".join(f'"{e[0]}"' for e in m.events) + "]")
        print("event_contact = [" + ", ".join(str(e[1]) for e in m.events) + "]")
        print("event_time = [\n  " + ",\n  ".join(text_of(e[2]) for e in m.events) + ",\n]")
        if name in ORBITS:
            value, guess, n = ORBITS[name]
            there = System(text, mp.mpf(repr(value)))
            x, slopes = orbit(there, state_of(guess), n)
            found = [mp.mpc(mp.chop(v, tol=mp.mpf(10) ** -40)) for v in mp.eig(slopes, left=False, right=False)]
            found.sort(key=lambda v: (v.real, v.imag))
            print(f"[system.cycle]\na = {value}\nperiod = {n}\nstate = {text_list(interleaved(x))}")
            print(f"multiplier_re = {text_list([v.real for v in found])}")
            print(f"multiplier_im = {text_list([v.imag for v in found])}")
        for kind, guess, x, n, *contact in POINTS.get(name, []):
            value, x = located(text, kind, guess, state_of(x), n, *contact)
            print(f"[[system.point]]\nkind = \"{kind}\"\nperiod = {n}\na = {text_of(value)}")
            print(f"state = {text_list(interleaved(x))}")
        print(flush=True)
    print(')toml"')


if __name__ == "__main__":
    main(sys.argv[1:])
