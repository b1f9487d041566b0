"""Motions of nonlinear systems with impacts, compliant contacts, friction and jumps to 30 digits, by Taylor series.

    python3 law_references.py [NAME ...]  > law_references.inc

Every system is written down here once more, by hand: its equations in every mode, what ends a mode, and what
happens there. Between events the solution is a Taylor series in integers of 240 bits (taylor.py); events are
bracketed on a fine grid of every step in double precision and solved for in all digits. Derivatives go by the
variational equations and saltation matrices. Periodic orbits (but for a drift) are zeros of Newton's method with
these, located points zeros of the secant method in one parameter, where branches cross of an interpolation.
"""
import sys

import mpmath as mp

from references import fold, secant, text_list, text_of
from taylor import (BITS, ONE, TIME, Expansion, at, cos, derivative, fixed, node, power, real, sin, sqrt, state,
                    value)

SETTLE = 1e-4  # time by which what was just left is off its zero; nothing else happens so soon
CELLS = 400
TERMS = 46
SMALL = mp.mpf(10) ** -44  # what is left out of a step


class Guard:
    """Positive while nothing happens. `reset` are entries of the state set anew, `then` the mode behind: a number,
    or a function of the state set anew and the time. Where `foot` is negative the mode becomes `past`, no more."""

    def __init__(self, expression, then, told=None, who=-1, reset=None, foot=None, past=None):
        self.expression, self.then, self.told, self.who, self.reset = expression, then, told, who, reset or {}
        self.foot, self.past = foot, past


class Law:
    """rates(mode) and guards(mode) of `size` states; what moves along with `drift` stays the same motion. Without
    forcing an orbit begins where the state `section` falls through zero, and `period` is found with it."""

    def __init__(self, size, period, rates, guards, drift=None, section=None):
        self.size, self.period, self.rates, self.guards, self.drift = size, period, rates, guards, drift
        self.section = section
        self.known = {}

    def expansion(self, mode, slopes):
        if (mode, slopes) not in self.known:
            rates = [node(r) for r in self.rates(mode)]
            guards, n = self.guards(mode), self.size
            if slopes:
                gradient = [[derivative(r, state(k)) for k in range(n)] for r in rates]
                rates = rates + [sum((gradient[i][k] * state(n + k * n + j) for k in range(n)), node(0))
                                 for i in range(n) for j in range(n)]
            self.known[mode, slopes] = Expansion(rates, [g.expression for g in guards]), guards
        return self.known[mode, slopes]


class Motion:
    """From a state at time 0; guards of contacts in `passed` are not heard."""

    def __init__(self, law, x, mode, slopes=False, passed=()):
        self.law, self.mode, self.t, self.slopes, self.passed = law, mode, mp.mpf(0), slopes, passed
        n = law.size
        self.x = [mp.mpf(v) for v in x] + [mp.mpf(i == j) for i in range(n) for j in range(n)] * slopes
        self.events, self.least = [], []
        self.h, self.since = mp.mpf("0.2"), None

    def run(self, end):
        while self.t < end:
            self.step(end)
        return self

    def step(self, end):
        expansion, guards = self.law.expansion(self.mode, self.slopes)
        series, tests = expansion.coefficients(self.x, self.t, self.h, TERMS)
        last = max(max(abs(real(c[-1])), abs(real(c[-2]))) for c in series + tests)
        reach = (SMALL / last) ** (mp.mpf(1) / (TERMS - 1)) if last > 0 else mp.mpf(2)
        s_end = min(mp.mpf(1), reach, (end - self.t) / self.h)
        begin = 0.0 if self.since is None else max(0.0, float((self.since + SETTLE - self.t) / self.h))
        hit = None
        if begin < s_end:
            grid = [begin + (float(s_end) - begin) * i / CELLS for i in range(CELLS + 1)]
            for guard, test in zip(guards, tests):
                if guard.who in self.passed and guard.told in ("impact", "contact_begin"):
                    self.note_minima(test, grid)
                    continue
                values = on_grid(test, grid)
                assert values[0] > -1e-13, "a guard is negative where its mode begins"
                cell = next((i for i in range(CELLS) if values[i] >= 0 > values[i + 1]), None)
                if cell is not None:
                    s = root(test, grid[cell], grid[cell + 1])
                    if hit is None or s < hit[0]:
                        hit = s, guard
        s = fixed(s_end) if hit is None else hit[0]
        self.x = [real(at(c, s)) for c in series]
        self.t = end if hit is None and s_end == (end - self.t) / self.h else self.t + self.h * real(s)
        self.h *= max(mp.mpf("0.5"), min(mp.mpf(2), reach * mp.mpf("0.95")))
        if hit is not None:
            self.happen(hit[1])

    def note_minima(self, test, grid):
        slope = [k * c for k, c in enumerate(test)][1:]
        values = on_grid(slope, grid)
        for i in range(CELLS):
            if values[i] <= 0 < values[i + 1]:
                self.least.append(real(at(test, root(slope, grid[i], grid[i + 1]))))

    def happen(self, guard):
        law, n, t = self.law, self.law.size, self.t
        x = self.x[:n]
        if guard.foot is not None and value(guard.foot, x, t) < 0:
            guard = Guard(guard.expression, guard.past)
        before = [value(node(r), x, t) for r in law.rates(self.mode)]
        row = [value(derivative(guard.expression, state(k)), x, t) for k in range(n)]
        by_time = value(derivative(guard.expression, TIME), x, t)
        rate = sum(r * f for r, f in zip(row, before)) + by_time
        resets = [node(guard.reset.get(i, state(i))) for i in range(n)]
        after_x = [value(r, x, t) for r in resets]
        mode = guard.then(after_x, t) if callable(guard.then) else guard.then
        if guard.told is not None:
            told = guard.told if isinstance(guard.told, str) else guard.told[mode]
            self.events.append((told, guard.who, t, -rate))
        if self.slopes:
            jump = mp.matrix([[value(derivative(r, state(k)), x, t) for k in range(n)] for r in resets])
            jump_t = mp.matrix([value(derivative(r, TIME), x, t) for r in resets])
            after = mp.matrix([value(node(r), after_x, t) for r in law.rates(mode)])
            salt = jump + (after - jump * mp.matrix(before) - jump_t) * mp.matrix([row]) / rate
            slopes = salt * self.matrix()
            after_x += [slopes[i, j] for i in range(n) for j in range(n)]
        self.x, self.mode, self.since = after_x, mode, t

    def matrix(self):
        n = self.law.size
        return mp.matrix([self.x[n + n * i:2 * n + n * i] for i in range(n)])


def on_grid(series, grid):
    """In doubles."""
    backwards = [float(real(c)) for c in reversed(series)]
    values = [0.0] * len(grid)
    for c in backwards:
        values = [v * s + c for v, s in zip(values, grid)]
    return values


def root(series, low, high):
    """Of a series between two places of different sign."""
    low, high = fixed(low), fixed(high)
    rising = at(series, high) > 0
    for _ in range(30):
        middle = (low + high) // 2
        low, high = (low, middle) if (at(series, middle) > 0) == rising else (middle, high)
    s, slope = (low + high) // 2, [k * c for k, c in enumerate(series)][1:]
    for _ in range(8):
        s -= (at(series, s) << BITS) // at(slope, s)
    assert low - (ONE >> 40) <= s <= high + (ONE >> 40)
    return s


# ---- orbits and points

def moved(law, x, mode, n, passed=()):
    m = Motion(law, x, mode, True, passed).run(n * law.period)
    assert m.mode == mode, "the orbit does not come back to its mode"
    return mp.matrix(m.x[:law.size]), m.matrix()


def rates_at(law, x, mode):
    return mp.matrix([value(node(r), x, mp.mpf(0)) for r in law.rates(mode)])


def return_time(law, x, mode, n, passed):
    """After n returns to the section, about."""
    m = Motion(law, x, mode, passed=passed)
    while n > 0:
        before = m.x[law.section]
        m.step(mp.inf)
        n -= before > 0 >= m.x[law.section]
    return m.t


def closing(law, slopes, column, row):
    """Matrix of Newton's step for P(x) = x, bordered where there is one unknown more."""
    n = law.size
    if column is None:
        return slopes - mp.eye(n)
    J = mp.zeros(n + 1)
    J[:n, :n] = slopes - mp.eye(n)
    for i in range(n):
        J[i, n] = column[i]
    J[n, row] = 1
    return J


def orbit(law, x, mode, n, passed=()):
    """Where it may pass through the contacts in `passed`. One more unknown is how far it drifts, the first entry
    that drifts kept, or without forcing its period, which becomes that of the law."""
    x, d, size = mp.matrix(x), mp.mpf(0), law.size
    if law.period is None:
        law.period = return_time(law, x, mode, n, passed) / n
    for _ in range(30):
        y, slopes = moved(law, x, mode, n, passed)
        defect, column, row = x - y, None, None
        if law.drift is not None:
            column, row = -mp.matrix(law.drift), law.drift.index(1)
            defect = mp.matrix(list(defect - d * column) + [0])
        elif law.section is not None:
            column, row = n * rates_at(law, y, mode), law.section
            defect = mp.matrix(list(defect) + [-x[row]])
        step = mp.lu_solve(closing(law, slopes, column, row), defect)
        x = x + step[:size]
        if law.drift is not None:
            d += step[size]
        elif law.section is not None:
            law.period += step[size]
        if mp.norm(step) < mp.mpf(10) ** -36:
            return x, moved(law, x, mode, n, passed)[1]
    raise ValueError("no orbit")


def multipliers(law, slopes):
    """Without that of the drift or, without forcing, along the orbit, which is 1."""
    found = [mp.mpc(mp.chop(v, tol=mp.mpf(10) ** -20)) for v in mp.eig(slopes, left=False, right=False)]
    if law.drift is not None or law.section is not None:
        found.remove(min(found, key=lambda v: abs(v - 1)))
    return sorted(found, key=lambda v: (v.real, v.imag))


def located(make, kind, a, x, mode, n, contact=None):
    """The parameter at which the orbit has a multiplier 1 or -1, touches a contact, or shrinks to rest, the state
    there, and without forcing the period. Where it shrinks to rest: these of an orbit beside, of 0.999 times the
    parameter."""
    if kind == "fold":
        return (*fold(lambda x, a: moved(make(a), x, mode, n), a, x), None)
    if kind == "branch_point":
        return (*between(lambda a: orbit(make(a), x, mode, n), a), None)
    sign = -1 if kind == "period_doubling" else 1
    guess, law = x, None

    def test(a):
        nonlocal law, x
        law = make(a)
        if kind == "hopf":
            x = at_rest(law, x, mode)
            return max(mp.eig(jacobian(law, x, mode), left=False, right=False), key=lambda v: v.imag).real
        x, slopes = orbit(law, x, mode, n, () if contact is None else (contact,))
        if kind == "grazing":
            return min(Motion(law, x, mode, passed=(contact,)).run(n * law.period).least, key=abs)
        return mp.det(slopes - sign * mp.eye(law.size))

    a = secant(test, a)
    if kind == "hopf":
        law = make(a * mp.mpf("0.999"))
        x, _ = orbit(law, guess, mode, n)
    return a, x, law.period if law.section is not None else None


def between(orbit_at, a):
    """The parameter at which the orbit, which goes on to both sides, has a multiplier 1, and the state there: where the
    equations are singular, by inverse interpolation over orbits beside."""
    values = [mp.mpf(a) + k * mp.mpf(10) ** -5 for k in (-5, -4, -3, -2, 2, 3, 4, 5)]
    orbits = [orbit_at(v) for v in values]
    tests = [mp.det(slopes - mp.eye(slopes.rows)) for _, slopes in orbits]
    shares = [mp.fprod(u / (u - t) for u in tests if u != t) for t in tests]
    return mp.fdot(shares, values), sum((s * x for s, (x, _) in zip(shares, orbits)), mp.zeros(orbits[0][0].rows, 1))


def jacobian(law, x, mode):
    n = law.size
    return mp.matrix([[value(derivative(node(r), state(k)), x, mp.mpf(0)) for k in range(n)]
                      for r in law.rates(mode)])


def at_rest(law, x, mode):
    """The equilibrium, without forcing."""
    x = mp.matrix(x)
    for _ in range(30):
        step = mp.lu_solve(jacobian(law, x, mode), -rates_at(law, x, mode))
        x = x + step
        if mp.norm(step) < mp.mpf(10) ** -36:
            return x
    raise ValueError("no rest")


# ---- the systems: functions of their parameters

def duffing_impact(c, a, b, F, omega, s, r):
    x, v = state(0), state(1)
    return Law(2, 2 * mp.pi / omega,
               lambda mode: [v, F * cos(omega * TIME) - c * v - a * x - b * power(x, 3)],
               lambda mode: [Guard(s - x, 0, "impact", 0, {1: -r * v})])


def impact_oscillator(m, k, b, F, omega, stop, stop_low, r, r_low):
    x, v = state(0), state(1)
    return Law(2, 2 * mp.pi / omega, lambda mode: [v, (F * cos(omega * TIME) - b * v - k * x) / m],
               lambda mode: [Guard(stop - x, 0, "impact", 0, {1: -r * v}),
                             Guard(x - stop_low, 0, "impact", 1, {1: -r_low * v})])


def bouncing_ball(Gamma, omega, gravity, e):
    y, v = state(0), state(1)
    return Law(2, 2 * mp.pi / omega, lambda mode: [v, Gamma * gravity * sin(omega * TIME) - gravity],
               lambda mode: [Guard(y, 0, "impact", 0, {1: -e * v})])


def impact_pair(a, omega, clearance, r):
    x, v = state(0), state(1)
    return Law(2, 2 * mp.pi / omega, lambda mode: [v, a * cos(omega * TIME)],
               lambda mode: [Guard(clearance / 2 - x, 0, "impact", 0, {1: -r * v}),
                             Guard(clearance / 2 + x, 0, "impact", 1, {1: -r * v})])


def bilinear_oscillator(zeta, F, omega, x_0, k, c):
    x, v = state(0), state(1)
    joined = lambda mode: mode * (k * (x - x_0) + c * v)
    return Law(2, 2 * mp.pi / omega,
               lambda mode: [v, F * cos(omega * TIME) - 2 * zeta * v - x - joined(mode)],
               lambda mode: [Guard(x - x_0, 0, "contact_end", 0) if mode else
                             Guard(x_0 - x, 1, "contact_begin", 0)])


def parametric_pendulum(c, p, omega, phi_s, r):
    phi, v = state(0), state(1)
    return Law(2, 2 * mp.pi / omega, lambda mode: [v, -c * v - (1 + p * cos(omega * TIME)) * sin(phi)],
               lambda mode: [Guard(phi_s - phi, 0, "impact", 0, {1: -r * v}),
                             Guard(phi_s + phi, 0, "impact", 1, {1: -r * v})])


def vibro_impact_nes(epsilon, damping, F, omega, b, r):
    x, u, y, v = (state(i) for i in range(4))
    # The velocity of the centre of mass is kept, that of one relative to the other turned and falls by r.
    centre, relative = (u + epsilon * v) / (1 + epsilon), v - u
    reset = {1: centre + epsilon / (1 + epsilon) * r * relative, 3: centre - 1 / (1 + epsilon) * r * relative}
    return Law(4, 2 * mp.pi / omega, lambda mode: [u, F * cos(omega * TIME) - damping * u - x, v, 0],
               lambda mode: [Guard(b + x - y, 0, "impact", 0, reset), Guard(b - x + y, 0, "impact", 1, reset)])


def gear_pair(zeta, kappa, F_0, e, omega, b):
    q, v = state(0), state(1)
    free, drive, back = range(3)
    mesh = 1 + kappa * cos(omega * TIME)
    depth = {free: 0, drive: q - b, back: q + b}
    return Law(2, 2 * mp.pi / omega,
               lambda mode: [v, F_0 + e * omega**2 * cos(omega * TIME) - 2 * zeta * v - mesh * depth[mode]],
               lambda mode: {free: [Guard(b - q, drive, "contact_begin", 0), Guard(b + q, back, "contact_begin", 1)],
                             drive: [Guard(q - b, free, "contact_end", 0)],
                             back: [Guard(-b - q, free, "contact_end", 1)]}[mode])


def jeffcott_rotor(zeta, e, Omega, x_0, y_0, k_s, c_s, mu, R):
    """The journal slides one way all the time: R Omega is greater than its velocities."""
    x, u, y, v = (state(i) for i in range(4))
    outside, on, coming_back = range(3)
    a, b = x - x_0, y - y_0
    r = sqrt(a * a + b * b)
    force = k_s * (r - 1) + c_s * (a * u + b * v) / r

    def rates(mode):
        N = force if mode == on else node(0)
        return [u, e * Omega**2 * cos(Omega * TIME) - 2 * zeta * u - x - N * (a - mu * b) / r,
                v, e * Omega**2 * sin(Omega * TIME) - 2 * zeta * v - y - N * (b + mu * a) / r]

    return Law(4, 2 * mp.pi / Omega, rates,
               lambda mode: [{outside: Guard(1 - r, on, "contact_begin", 0),
                              on: Guard(force, coming_back, "contact_end", 0),
                              coming_back: Guard(r - 1, outside)}[mode]])


FORWARD, BACKWARD, STUCK, ENGAGED = 0, 1, 2, 4
SLIDES = {True: 1, False: -1}


def with_ground(size, period, rates, contact, load, velocity, limit, drift):
    """A body with dry friction and a contact: `contact(engaged)` is the guard's expression that ends the mode,
    `load(engaged)` what pushes the body forward."""
    def sliding(engaged):
        def then(x, t):
            push = value(load(engaged), x, t)
            return (STUCK if abs(push) <= limit else FORWARD if push > 0 else BACKWARD) + ENGAGED * engaged
        return then

    def guards(mode):
        engaged, slides = bool(mode & ENGAGED), mode & 3
        found = [Guard(contact(engaged), mode ^ ENGAGED, "contact_end" if engaged else "contact_begin", 0)]
        if slides == STUCK:
            return found + [Guard(limit - load(engaged), FORWARD + ENGAGED * engaged, "stick_to_slip"),
                            Guard(limit + load(engaged), BACKWARD + ENGAGED * engaged, "stick_to_slip")]
        told = {m: "slip_to_stick" if m & 3 == STUCK else "slip_reversal" for m in range(8)}
        speed = state(velocity) if slides == FORWARD else -state(velocity)
        return found + [Guard(speed, sliding(engaged), told, -1, {velocity: node(0)})]

    def friction(mode):
        return {FORWARD: -limit, BACKWARD: limit}[mode & 3]

    return Law(size, period, lambda mode: rates(bool(mode & ENGAGED), mode & 3 == STUCK,
                                                0 if mode & 3 == STUCK else friction(mode)), guards, drift)


def vibro_impact_capsule(gamma, xi, beta, delta, alpha, omega, f):
    x, u, y, v = (state(i) for i in range(4))
    inner = lambda engaged: y - x + 2 * xi * (v - u) - (beta * (x - y - delta) if engaged else 0)

    def rates(engaged, stuck, friction):
        F = inner(engaged)
        return [u, alpha * cos(omega * TIME) + F, node(0) if stuck else v,
                node(0) if stuck else (friction - F) / gamma]

    depth = x - y - delta
    return with_ground(4, 2 * mp.pi / omega, rates, lambda engaged: depth if engaged else -depth,
                       lambda engaged: -inner(engaged), 3, f, [1, 0, 1, 0])


def impact_drilling(mu, b, a, omega, xi, g, d):
    x, u, z, v = (state(i) for i in range(4))
    depth = x - z - g
    blow = lambda engaged: depth + 2 * xi * (u - v) if engaged else node(0)

    def rates(engaged, stuck, friction):
        N = blow(engaged)
        return [u, b + a * cos(omega * TIME) - N, node(0) if stuck else v, node(0) if stuck else (N + friction) / mu]

    return with_ground(4, 2 * mp.pi / omega, rates, lambda engaged: depth if engaged else -depth, blow, 3, d,
                       [1, 0, 1, 0])


def cam_follower(m, b, k, P, R, e, omega, r):
    q, v = state(0), state(1)
    flies, lies = range(2)
    side = e * sin(omega * TIME)
    edge = sqrt(R * R - side * side) - e * cos(omega * TIME)
    rise = derivative(edge, TIME)
    bend = derivative(rise, TIME)
    held = m * bend + b * rise + k * (edge - (R - e)) + P
    lands = lambda x, t: lies if r == 0 and value(held, x, t) > 0 else flies
    return Law(2, 2 * mp.pi / omega,
               lambda mode: [rise, bend] if mode == lies else [v, -(b * v + k * (q - (R - e)) + P) / m],
               lambda mode: [Guard(held, flies, "release", 0) if mode == lies else
                             Guard(q - edge, lands, "impact", 0, {1: rise - r * (v - rise)})])


def rocking_block(alpha, beta, omega, r):
    x, v, side = (state(i) for i in range(3))
    slope = alpha * (side - x)
    rates = [v, -(sin(slope) + alpha * beta * cos(slope) * cos(omega * TIME)) / alpha, node(0)]
    return Law(3, 2 * mp.pi / omega, lambda mode: rates,
               lambda mode: [Guard(x, 1, "jump", 0, {1: r * v, 2: node(-1)}) if mode == 0 else
                             Guard(-x, 0, "jump", 1, {1: r * v, 2: node(1)})])


def relief_valve(q, k, d, b, r):
    y, v, p = (state(i) for i in range(3))
    return Law(3, None, lambda mode: [v, p - k * v - y - d, b * (q - y * sqrt(p))],
               lambda mode: [Guard(y, 0, "impact", 0, {1: -r * v})], section=1)


def two_pendulums(l1, l2, m1, m2, d, e, gravity, damping1, damping2, torque1, torque2, frequency):
    """Bit k of the mode: contact k has been passed beside its foot and stays so until its gap opens again."""
    phi, theta, u, v = (state(i) for i in range(4))
    J1, J2 = m1 * l1**2 / 3, m2 * l2**2 / 3
    rates = [u, v, (torque1 * cos(frequency * TIME) - damping1 * u - m1 * gravity * l1 / 2 * sin(phi)) / J1,
             (torque2 * cos(frequency * TIME) - damping2 * v - m2 * gravity * l2 / 2 * sin(theta)) / J2]
    feet = [(l1 * cos(phi - theta) - d * sin(theta), l2), (l2 * cos(phi - theta) + d * sin(phi), l1)]
    gaps = [d * cos(theta) - l1 * sin(phi - theta), d * cos(phi) - l2 * sin(phi - theta)]

    def guards(mode):
        found = []
        for k, (gap, (foot, length)) in enumerate(zip(gaps, feet)):
            if mode & 1 << k:
                found.append(Guard(-gap, mode ^ 1 << k))
                continue
            n1, n2 = derivative(gap, phi), derivative(gap, theta)
            push = (1 + e) * (n1 * u + n2 * v) / (n1 * n1 / J1 + n2 * n2 / J2)
            found.append(Guard(gap, mode, "impact", k, {2: u - n1 / J1 * push, 3: v - n2 / J2 * push},
                               foot * (length - foot), mode ^ 1 << k))
        return found

    return Law(4, 2 * mp.pi / frequency, lambda mode: rates, guards)


def rough_press(K, c, mu, w, F, omega):
    """A body on a belt that goes at speed w: vertical y over the belt with the force K d^2 (1 + c d') of its depth
    d, horizontal x on a spring, friction of mu times that force with stick."""
    x, u, y, v = (state(i) for i in range(4))
    N = K * y * y * (1 - c * v)
    slip = u - w
    air, faster, slower, stuck = range(4)
    pull = x + node("0.1") * u  # what the spring and its damper take
    up = F * cos(omega * TIME) - 1

    def rates(mode):
        if mode == air:
            return [u, -pull, v, up]
        return [u, {faster: -mu * N - pull, slower: mu * N - pull, stuck: node(0)}[mode], v, up + N]

    def stops(x, t):
        return stuck if abs(value(pull, x, t)) <= value(mu * N, x, t) else slower if value(pull, x, t) > 0 else faster

    def guards(mode):
        if mode == air:
            return [Guard(y, lambda x, t: faster if value(slip, x, t) > 0 else slower, "contact_begin", 0)]
        if mode == stuck:
            return [Guard(mu * N - pull, slower, "stick_to_slip"), Guard(mu * N + pull, faster, "stick_to_slip")]
        return [Guard(-y, air, "contact_end", 0),
                Guard(slip if mode == faster else -slip, stops,
                      {stuck: "slip_to_stick", faster: "slip_reversal", slower: "slip_reversal"}, -1, {1: node(w)})]

    return Law(4, 2 * mp.pi / omega, rates, guards)


# name: system, the parameter `a` of its points, parameters, state and mode at the start, time of the motion
CASES = {
    "duffing_impact": (duffing_impact, "F", {"c": "0.1", "a": "1", "b": "0.5", "F": "1", "omega": "1", "s": "0.8",
                                             "r": "0.7"}, ["-0.3", "0.2"], 0, 40),
    "impact_oscillator": (impact_oscillator, "omega", {
        "m": "1", "k": "1", "b": "0.1", "F": "1", "omega": "2.8", "stop": "0.1", "stop_low": "-0.4", "r": "0.8",
        "r_low": "0.7"}, ["-0.3", "0.6"], 0, 25),
    "bouncing_ball": (bouncing_ball, "Gamma", {"Gamma": "4", "omega": "1", "gravity": "1", "e": "0.7"},
                      ["1", "0.5"], 0, 30),
    "impact_pair": (impact_pair, "clearance", {"a": "1", "omega": "1", "clearance": "2", "r": "0.6"},
                    ["0.1", "0.5"], 0, 40),
    "bilinear_oscillator": (bilinear_oscillator, "omega", {
        "zeta": "0.05", "F": "1", "omega": "1.5", "x_0": "0.1", "k": "15", "c": "0.1"}, ["-0.3", "0.2"], 0, 40),
    "parametric_pendulum": (parametric_pendulum, "omega", {"c": "0.1", "p": "1.2", "omega": "2", "phi_s": "0.6",
                                                           "r": "0.7"}, ["0.3", "0.9"], 0, 30),
    "vibro_impact_nes": (vibro_impact_nes, "F", {
        "epsilon": "0.1", "lambda": "0.02", "F": "0.15", "omega": "1", "b": "1", "r": "0.65"},
        ["0.4", "0.1", "0.2", "0.9"], 0, 40),
    "gear_pair": (gear_pair, "F_0", {"zeta": "0.05", "kappa": "0.2", "F_0": "0.1", "e": "0.2", "omega": "0.9",
                                     "b": "0.4"}, ["0.15", "0.3"], 0, 60),
    "jeffcott_rotor": (jeffcott_rotor, "Omega", {
        "zeta": "0.1", "e": "0.3", "Omega": "1.8", "x_0": "0.1", "y_0": "0.05", "k_s": "20", "c_s": "0.1",
        "mu": "0.1", "R": "20"}, ["0.3", "0.2", "0.1", "0.5"], 0, 40),
    "vibro_impact_capsule": (vibro_impact_capsule, "omega", {
        "gamma": "5", "xi": "0.05", "beta": "15", "delta": "0.02", "alpha": "1.6", "omega": "0.95", "f": "1"},
        ["-0.1", "0.5", "0", "0.3"], FORWARD, 40),
    "impact_drilling": (impact_drilling, "a", {
        "mu": "0.1", "b": "0.3", "a": "0.6", "omega": "0.3", "xi": "0.01", "g": "0.02", "d": "1"},
        ["0", "0.2", "0.1", "0.05"], FORWARD, 60),
    "cam_follower": (cam_follower, "omega", {"m": "1", "b": "0.1", "k": "1", "P": "1", "R": "1", "e": "0.3",
                                             "omega": "2.6", "r": "0.8"}, ["1.6", "0"], 0, 15),
    "cam_follower_without_rebound": (cam_follower, "omega", {
        "m": "1", "b": "0.1", "k": "1", "P": "1", "R": "1", "e": "0.3", "omega": "2.6", "r": "0"},
        ["1.6", "0"], 0, 30),
    "rocking_block": (rocking_block, "beta", {"alpha": "0.2", "beta": "1.5", "omega": "4", "r": "0.925"},
                      ["0.5", "0.1", "1"], 0, 20),
    "relief_valve": (relief_valve, "q", {"q": "5", "k": "1.25", "d": "10", "b": "20", "r": "0.8"},
                     ["0.2", "0.1", "9"], 0, 20),
    "two_pendulums": (two_pendulums, "e", {
        "l1": "1", "l2": "1.1", "m1": "3", "m2": "2", "d": "0.5", "e": "0.8", "gravity": "9.81", "damping1": "0.2",
        "damping2": "0.3", "torque1": "8", "torque2": "0", "frequency": "1.1"},
        ["-1.2", "0.1", "0.2", "0.1"], 0, 6),
    "rough_press": (rough_press, "F", {"K": "200", "c": "0.2", "mu": "0.3", "w": "0.2", "F": "1.5", "omega": "2"},
                    ["0.1", "0", "0.1", "0"], 0, 30),
}
# Equations of those that no file has
EQUATIONS = {
    "rough_press": """name = 'equations'
coordinates = ['x', 'y']
force = { x = "-x - 0.1*x'", y = "F*cos(omega*t) - 1" }
period = '2*pi/omega'
contact = [{ name = 'belt', gap = 'y', normal_force = "K*depth^2*(1 + c*depth')", mu = 'mu', slip = "x' - w" }]""",
}
# name: value of `a`, state and mode at phase zero, periods of an orbit
ORBITS = {
    "duffing_impact": ("0.44", ["0.7438", "0.5995"], 0, 1),
    "impact_oscillator": ("0.57", ["-0.00448", "-0.06107"], 0, 1),
    "bouncing_ball": ("1", ["3.4376", "-3.1584"], 0, 1),
    "impact_pair": ("1.7", ["0.7369", "-0.5042"], 0, 1),
    "bilinear_oscillator": ("0.36", ["0.1384", "-0.1129"], 1, 1),
    "parametric_pendulum": ("1.49", ["0.0760", "-0.6157"], 0, 2),
    "vibro_impact_nes": ("0.155", ["-0.8307", "0.3635", "-1.4851", "0.4110"], 0, 1),
    "gear_pair": ("0.1", ["0.02485", "0.06683"], 0, 1),
    "jeffcott_rotor": ("1.034", ["0.80592", "0.68696", "-0.66785", "0.69452"], 1, 1),
    "vibro_impact_capsule": ("0.76", ["-0.1854", "-0.2111", "0.2547", "0.3128"], 0, 1),
    "impact_drilling": ("0.9", ["24.4172", "2.5115", "34.3998", "0"], STUCK, 2),
    "cam_follower": ("5.3", ["3.3611", "2.0987"], 0, 2),
    "rocking_block": ("5", ["0.36238", "-0.07363", "1"], 0, 1),
    "cam_follower_without_rebound": ("6.7", ["1.649", "-1.357"], 0, 2),
    "relief_valve": ("6.07", ["6.27", "0", "0.936"], 0, 1),
    "two_pendulums": ("0.35", ["0.59696", "0.09908", "0.08863", "0.00114"], 2, 1),
    "rough_press": ("1.26", ["-0.30256", "-0.05198", "0.09570", "-1.70333"], 0, 2),
}
# name: located points from guesses: kind, a, state and mode at phase zero, periods; of grazing the contact
POINTS = {
    "duffing_impact": [
        ("period_doubling", "0.451099736", ["0.743809187", "0.599465546"], 0, 1),
        ("fold", "0.450474006", ["0.576736974", "0.589912774"], 0, 2),
        ("grazing", "0.204067485", ["0.732839830", "0.330440983"], 0, 1, 0),
    ],
    "impact_oscillator": [
        ("period_doubling", "0.565395494", ["-0.004485250", "-0.061069567"], 0, 1),
        ("fold", "0.567318092", ["-0.004466376", "-0.086662750"], 0, 1),
    ],
    "bouncing_ball": [
        ("period_doubling", "1.1", ["3.6", "-3.17"], 0, 1),
    ],
    "impact_pair": [
        ("period_doubling", "1.804414229", ["0.736925004", "-0.504245667"], 0, 1),
        ("fold", "2.057885253", ["0.769182460", "-0.552002022"], 0, 1),
    ],
    "bilinear_oscillator": [
        ("period_doubling", "0.361790525", ["0.138443541", "-0.112924355"], 1, 1),
        ("fold", "0.363157774", ["0.134623795", "-0.129737990"], 1, 1),
    ],
    "parametric_pendulum": [
        ("period_doubling", "1.496883785", ["0.076013908", "-0.615675019"], 0, 2),
        ("fold", "1.504280221", ["0.084880992", "-0.621012126"], 0, 2),
    ],
    "vibro_impact_nes": [
        ("period_doubling", "0.162075898", ["-0.890680453", "0.371818906", "-1.559132232", "0.437575805"], 0, 1),
        ("fold", "0.127013576", ["-0.806574688", "0.491371050", "-1.224289374", "0.535592489"], 0, 1),
    ],
    "gear_pair": [
        ("period_doubling", "0.099859417", ["0.024850395", "0.066827592"], 0, 1),
        ("period_doubling", "0.083113125", ["0.405870598", "0.096187536"], 1, 2),
    ],
    "jeffcott_rotor": [
        ("period_doubling", "1.033616437", ["0.805968566", "0.686357489", "-0.667859636", "0.694267798"], 1, 1),
        ("fold", "1.032792133", ["0.808301618", "0.693992938", "-0.678393393", "0.668405531"], 1, 1),
    ],
    "vibro_impact_capsule": [
        ("period_doubling", "0.673474665", ["0.389668668", "0.106078380", "0.962168799", "0.342767154"], 0, 1),
        ("period_doubling", "0.756340859", ["-0.185388913", "-0.198770332", "0.255811152", "0.315444645"], 0, 1),
    ],
    "impact_drilling": [
        ("period_doubling", "0.960788271", ["24.417237595", "2.552176138", "35.358512931", "0"], STUCK, 2),
    ],
    "cam_follower": [
        ("fold", "4.457595771", ["7.150052538", "2.587005187"], 0, 2),
        ("period_doubling", "5.377040959", ["3.226138495", "2.007042056"], 0, 2),
    ],
    "rocking_block": [
        ("branch_point", "11.137335817", ["0.723623164", "-0.124062807", "1"], 0, 1),
    ],
    "cam_follower_without_rebound": [
        ("period_doubling", "6.767571840", ["1.649073808", "-1.357277852"], 0, 2),
        ("period_doubling", "7.113884949", ["1.243641416", "-0.476076663"], 0, 4),
    ],
    "relief_valve": [
        ("period_doubling", "6.066514540", ["6.275170990", "0", "0.935722312"], 0, 1),
        ("grazing", "7.557210972", ["8.859907216", "0", "0.727833593"], 0, 1, 0),
        ("hopf", "8.491117635", ["2.611197868", "0", "10.788060099"], 0, 1),
    ],
    "two_pendulums": [
        ("fold", "0.327952035", ["0.598299552", "0.097623105", "0.090844544", "-0.002550145"], 2, 1),
    ],
    "rough_press": [
        ("period_doubling", "1.265466483", ["-0.301330138", "-0.050740348", "0.103873797", "-1.703358230"], 0, 2),
    ],
}


def maker(name):
    system, varied, parameters, *_ = CASES[name]
    spelled = {"lambda": "damping"}
    numbers = {spelled.get(key, key): mp.mpf(v) for key, v in parameters.items()}
    return lambda a: system(**{**numbers, varied: mp.mpf(a)})


def model_text(name):
    """With the parameter `a` left open."""
    system, varied, parameters, *_ = CASES[name]
    kept = {key: v for key, v in parameters.items() if key != varied}
    if name in EQUATIONS:
        listed = ", ".join(f"{key} = {v}" for key, v in parameters.items())
        return f"{EQUATIONS[name]}\nparameters = {{ {listed} }}"
    return "\n".join([f"name = '{system.__name__}'"] + [f"{key} = {v}" for key, v in kept.items()])


def main(names):
    print('R"toml(')
    for name, (system, varied, parameters, start, mode, time) in CASES.items():
        if names and name not in names:
            continue
        make = maker(name)
        law = make(parameters[varied])
        m = Motion(law, start, mode).run(mp.mpf(time))
        print(f"[[system]]\nname = \"{name}\"\nparameter = \"{varied}\"\na = {parameters[varied]}")
        if law.section is not None:
            print(f"section = {law.section}")
        print(f"model = '''\n{model_text(name)}\n'''\nstart = [{', '.join(start)}]\ntime = {time}")
        print(f"end = {text_list(m.x)}")
        print("event_kind = [" + ", ".join(f'"{e[0]}"' for e in m.events) + "]")
        print("event_of = [" + ", ".join(str(e[1]) for e in m.events) + "]")
        for key, k in (("event_time", 2), ("event_speed", 3)):
            print(f"{key} = [\n  " + ",\n  ".join(text_of(e[k]) for e in m.events) + ",\n]")
        if name in ORBITS:
            a, guess, mode, n = ORBITS[name]
            law = make(a)
            x, slopes = orbit(law, [mp.mpf(v) for v in guess], mode, n)
            found = multipliers(law, slopes)
            print(f"[system.cycle]\na = {a}\nperiod = {n}\nstate = {text_list(x)}")
            print(f"multiplier_re = {text_list([v.real for v in found])}")
            print(f"multiplier_im = {text_list([v.imag for v in found])}")
            if law.section is not None:
                print(f"turn = {text_of(law.period)}")
        for kind, guess, x, mode, n, *contact in POINTS.get(name, []):
            a, x, turn = located(make, kind, guess, [mp.mpf(v) for v in x], mode, n, *contact)
            print(f"[[system.point]]\nkind = \"{kind}\"\nperiod = {n}\na = {text_of(a)}")
            print(f"state = {text_list(x)}")
            if turn is not None:
                print(f"turn = {text_of(turn)}")
        print(flush=True)
    print(')toml"')


if __name__ == "__main__":
    main(sys.argv[1:])
