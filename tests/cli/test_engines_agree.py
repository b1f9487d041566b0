"""Random linear systems as `linear_stops` and as equations with a term of 1e-200, which are not recognised as linear:
the exact flow and power series, the two engines that know of each other only what contacts and friction are, give the
same branches, curves and classes.

GRAZE_AGREE_COUNT=n systems of every kind, from seed GRAZE_AGREE_FIRST on, only of GRAZE_AGREE_KINDS="rigid rubbing".
"""

import os
import random
from collections import namedtuple

import h5py
import numpy as np

from support.graze_cli import CliTest, main

# What the stops of a system are, and what rubs in it: nothing, floors and neighbours, or the stops.
Kind = namedtuple("Kind", "compliant rubs")
KINDS = {
    "rigid": Kind(False, None),
    "compliant": Kind(True, None),
    "friction": Kind(False, "floor"),
    "both": Kind(True, "floor"),
    "rubbing": Kind(True, "stop"),
}
SAME = 1e-6  # of a range


def combination(factors, mark=""):
    terms = [f"({factor!r})*{name}{mark}" for factor, name in zip(factors, "xy") if factor]
    return " + ".join(terms) if terms else "0"


class RandomSystem:
    """One or two masses, one or two stops; F scales the harmonic force."""

    def __init__(self, kind, seed):
        dice = random.Random(f"{kind} {seed}")

        def number(low, high):
            return round(dice.uniform(low, high), 3)

        kind = KINDS[kind]
        self.size = dice.choice((1, 2)) if kind.rubs != "stop" else 2
        n = self.size
        self.omega = number(0.5, 1.2)
        self.low, self.high = 0.77 * self.omega, 1.23 * self.omega
        self.mass = [number(0.5, 1.6) for _ in range(n)]
        ground = [number(1, 3) for _ in range(n)]
        between = number(0.5, 1.5)
        self.stiffness = ([[ground[0]]] if n == 1 else
                          [[ground[0] + between, -between], [-between, ground[1] + between]])
        share = number(0.02, 0.25)
        self.damping = [[share * k for k in row] for row in self.stiffness]
        self.force = [number(0.4, 1) for _ in range(n)]
        self.stops = []
        for _ in range(dice.choice((1, 2))):
            normal = dice.choice(([-1, 0], [1, 0], [1, -1], [0, 1]))[:n]
            normal = normal if any(normal) else [1]
            stop = {"normal": normal, "position": number(0.1, 0.7)}
            if not kind.compliant:
                stop["restitution"] = number(0.2, 0.9)
            else:
                stop["stiffness"] = number(2, 60)
                if dice.random() < 0.6:
                    stop["damping"] = number(0.01, 1)
                if kind.rubs != "stop" and dice.random() < 0.3:
                    stop["preload"] = number(0.02, 0.3)
                if kind.rubs == "stop":
                    stop["mu"] = number(0.1, 0.6)
                    stop["slip"] = [0, 1] if normal[0] else [1, 0]
            self.stops.append(stop)
        self.frictions = []
        if kind.rubs == "floor":
            direction = dice.choice(([1, 0], [0, 1], [1, -1]))[:n]
            direction = direction if any(direction) else [1]
            self.frictions.append({"direction": direction, "amplitude": number(0.02, 0.2)})

    def axis(self, more=""):
        return f'{{ parameter = "omega", from = {self.low}, to = {self.high}{more} }}'

    def linear(self):
        mass = [[m if i == k else 0 for k in range(self.size)] for i, m in enumerate(self.mass)]
        force = ", ".join(f'"F*{f!r}"' for f in self.force)
        lines = [
            'name = "linear_stops"', "parameters = { F = 1.0 }", f"omega = {self.omega}", f"mass = {mass}",
            f"damping = {self.damping}", f"stiffness = {self.stiffness}", f"force = [{{ cosine = [{force}] }}]",
        ]
        for key, tables in (("stop", self.stops), ("friction", self.frictions)):
            for table in tables:
                lines += [f"[[model.{key}]]"] + [f"{name} = {value}" for name, value in table.items()]
        return "\n".join(lines)

    def equations(self):
        names = "xy"[:self.size]
        forces = []
        for i in range(self.size):
            force = (f"F*{self.force[i]!r}*cos(omega*t) - ({combination(self.stiffness[i])})"
                     f" - ({combination(self.damping[i], chr(39))})")
            forces.append(f'{names[i]} = "{force}{" - 1e-200*x^3" if i == 0 else ""}"')
        masses = ", ".join(f'{name} = "{m!r}"' for name, m in zip(names, self.mass))
        lines = [
            'name = "equations"', f"parameters = {{ F = 1.0, omega = {self.omega} }}",
            f"coordinates = {list(names)}", f"force = {{ {', '.join(forces)} }}", f"mass = {{ {masses} }}",
            'period = "2*pi/omega"',
        ]
        for stop in self.stops:
            lines += ["[[model.contact]]", f'gap = "{stop["position"]} - ({combination(stop["normal"])})"']
            for name in ("restitution", "stiffness", "damping", "preload", "mu"):
                if name in stop:
                    lines.append(f"{name} = {stop[name]}")
            if "slip" in stop:
                lines.append(f'''slip = "{combination(stop['slip'], chr(39))}"''')
        for friction in self.frictions:
            slip = combination(friction["direction"], "'")
            lines += ["[[model.friction]]", f'slip = "{slip}"', f"amplitude = {friction['amplitude']}"]
        return "\n".join(lines)


class EnginesAgree(CliTest):
    def systems(self):
        first, count = (int(os.environ.get(f"GRAZE_AGREE_{key}", "1")) for key in ("FIRST", "COUNT"))
        for kind in os.environ.get("GRAZE_AGREE_KINDS", " ".join(KINDS)).split():
            for seed in range(first, first + count):
                yield kind, seed

    def result(self, system, engine, analysis):
        """What is read from the result of one engine, in the file <analysis>_<engine>.h5."""
        name = f"{analysis['name']}_{engine}"
        self.write(name + ".toml", f"graze = 1\n[model]\n{getattr(system, engine)()}\n"
                   f'[analysis]\nname = "{analysis["name"]}"\n{analysis["keys"].replace("ENGINE", engine)}\n')
        self.graze("run", name + ".toml", "-o", name + ".h5", "--force", "--quiet")
        with h5py.File(self.path(name + ".h5"), "r") as file:
            return analysis["read"](file)

    def results(self, system, analysis):
        return [self.result(system, engine, analysis) for engine in ("linear", "equations")]

    def agree(self, system, analysis, scale):
        """Both have the same points: a name, and values that differ by less than SAME of their ranges."""
        first, second = self.results(system, analysis)
        only, left = [], list(second)
        for point in first:
            name, values = point
            near = [other for other in left if other[0] == name and
                    np.all(np.abs(np.subtract(other[1], values)) < SAME * np.asarray(scale))]
            if near:
                left.remove(near[0])
            else:
                only.append(point)
        self.assertFalse(only + left, f"of the linear system only: {only}; of equations only: {left}")
        return first

    @staticmethod
    def located(group, *axes):
        names = group["kind"].attrs["flag_meanings"].split()
        return sorted((names[k], values) for k, *values in zip(group["kind"][()], *(group[a][()] for a in axes)))

    def test_branches_and_curves(self):
        for kind, seed in self.systems():
            system = RandomSystem(kind, seed)
            omega, width = system.axis(), system.high - system.low
            located = []
            with self.subTest(kind=kind, seed=seed, question="continue"):
                located = self.agree(system, {
                    "name": "continue", "keys": f"axis = {omega}\nat = {system.omega}\npoints = 400",
                    "read": lambda file: self.located(file["bifurcation"], "omega"),
                }, [width])
            if not located:
                continue
            with self.subTest(kind=kind, seed=seed, question="curves"):
                self.agree(system, {
                    "name": "curves",
                    "keys": f'axis = {omega}\naxis2 = {{ parameter = "F", from = 0.8, to = 1.2 }}\npoints = 400\n'
                            'start = "from_continue"\nbranches = "continue_ENGINE.h5"',
                    "read": lambda file: self.located(file["codim2"], "omega", "F"),
                }, [width, 0.4])

    def test_classes(self):
        for kind, seed in self.systems():
            system = RandomSystem(kind, seed)
            with self.subTest(kind=kind, seed=seed):
                first, second = self.results(system, {
                    "name": "sweep", "keys": f"axis = {system.axis(', points = 12')}",
                    "read": lambda file: list(zip(file["period"][()], file["attractor"][()])),
                })
                self.assertEqual(len(first), 12)
                self.assertEqual(first, second)


if __name__ == "__main__":
    main()
