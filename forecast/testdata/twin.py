#!/usr/bin/python3
"""A float64 twin of the sensors of package forecast, in plain NumPy.

    twin.py [OUT]       writes its numbers as JSON to OUT, or to standard output

It follows the words of the package, not its code: what a sensor used is kept as a
whole history, from which lags, roughness and runs are read off at every step.
Normalised readings, estimates and means over neighbours are rounded to float32, as
they are kept and sent. Readings are multiples of 1/64.

Shapes: T steps, N nodes, F inputs: lags, a flag, sin and cos of the time of day.
"""

import json
import sys

import numpy as np

MISSING = -1.0          # the code that means no reading
DAY = 8                 # steps
LAGS = 3
SELF_TEST = 12          # steps without an answer


class Stream:
    """Numbers of a linear congruential generator."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (1664525 * self.state + 1013904223) % 2**32
        return (self.state >> 8) * n >> 24


def rounded(v):
    """v as float32, in float64."""
    return float(np.float32(v))


def present(v):
    return v is not None and v != MISSING


class Sensor:
    """One node, with all that it ever saw."""

    def __init__(self, norm):
        self.norm = norm
        self.used = []          # what it took for the world, by step
        self.felt = []          # readings that were not far outside, as (step, normalised)
        self.rough = 0.0
        self.doubt, self.doubted = 0.0, False
        self.quiet = 0
        self.anchor = None      # the last thing trusted: (step, x)
        self.estimated = False
        self.why = ""

    def normal(self, v):
        return rounded((v - self.norm["mean"]) / self.norm["scale"])

    def limits(self):
        """Between which readings are, whatever happens, in the user's units."""
        n = self.norm
        span = 2 * max(n["high"] - n["low"], n["scale"])
        return n["low"] - span, n["high"] + span

    def far(self, v):
        low, high = self.limits()
        return v < low or v > high

    def run(self):
        """How many readings at the end are equal."""
        length = 0
        while length < len(self.felt) and self.felt[-1 - length][1] == self.felt[-1][1]:
            length += 1
        return length

    def judge(self, t, reading, truth, told):
        """Why the reading of this step is not used, "" if it is; and the truth, None if unknown."""
        known = None
        if told and present(truth) and not self.far(truth):
            known = self.normal(truth)
        read = present(reading)
        far = read and self.far(reading)
        self.quiet += 1
        if known is not None and read:
            self.quiet = 0
            self.doubt = 0.8 * self.doubt + 0.2 * min(abs(self.normal(reading) - known) / self.norm["sigma"][0], 1)
            if self.doubt >= 0.3:
                self.doubted = True
            elif self.doubt < 0.1:
                self.doubted = False
        if read and not far:
            self.felt.append((t, self.normal(reading)))
            if len(self.felt) > 1 and self.felt[-2][0] == t - 1:
                change = abs(self.felt[-1][1] - self.felt[-2][1])
                self.rough = min(0.95 * self.rough + 0.05 * change, 2 * self.norm["rough"])
        why = ""
        if far:
            why = "outside"
        elif told and self.doubted:
            why = "contradicted"
        elif self.quiet >= SELF_TEST:
            if self.rough > (1.0 if self.why == "rough" else 1.3) * self.norm["rough"]:
                why = "rough"
            elif self.run() > 2 * self.norm["longest"] + 6:
                why = "stuck"
        if not told and read and why == "":
            known = self.normal(reading)
        return why, known

    def estimate(self, t, near):
        """Between what it last trusted, ever less so, and what the neighbours say."""
        n, own, left, alone = self.norm, 0.0, 0.0, 0.0
        if self.anchor:
            when, x = self.anchor
            own, left, alone = x - n["level"], n["keep"] ** (t - when), n["alone"] ** (t - when)
        if near is None:
            return n["level"] + alone * own
        return n["level"] + left * own + (1 - left) * n["near"] * (near - n["near_level"])

    def read(self, t, reading, truth, told, near):
        before = self.why
        self.why, known = self.judge(t, reading, truth, told)
        trusted = None
        if present(reading) and self.why == "":
            trusted = self.normal(reading)
        elif told and known is not None:
            trusted = known
        self.estimated = trusted is None
        if trusted is not None:
            self.anchor = (t, trusted)
            x = trusted
        else:
            found = before == "" and self.why not in ("", "outside")
            if found:
                self.anchor = None  # what it took for true of late was nonsense
            low, high = ((v - self.norm["mean"]) / self.norm["scale"] for v in self.limits())
            x = rounded(min(max(self.estimate(t, near), low), high))
            if found and self.used:
                self.used[-LAGS:] = [x] * LAGS
        if not self.used:
            self.used = [x] * LAGS
        self.used.append(x)
        phase = 2 * np.pi * (t % DAY) / DAY
        return self.used[:-LAGS - 1:-1] + [float(self.estimated), rounded(np.sin(phase)), rounded(np.cos(phase))], known


def near(links, rows, i):
    """The weighted mean of the newest readings of neighbours that are no estimates."""
    total = sum(w for j, w in enumerate(links[i]) if w > 0 and rows[j][LAGS] == 0)
    if total == 0:
        return None
    return rounded(sum(w * rows[j][0] for j, w in enumerate(links[i]) if w > 0 and rows[j][LAGS] == 0) / total)


def make(seed, nodes, steps, told):
    """One case: sensors that die, one that comes back, gaps, a code; and what is made of them."""
    draw = Stream(seed)
    links = [[0.0] * nodes for _ in range(nodes)]
    for i in range(nodes):
        for j in {(i + 1) % nodes, draw.below(nodes)} - {i}:
            links[i][j] = links[j][i] = (1 + draw.below(8)) / 8
    lost = [[0.0 if {i, j} == {0, 1} else w for j, w in enumerate(row)] for i, row in enumerate(links)]
    norms = [{"mean": 50.0 + i, "scale": 8.0, "sigma": [0.25 + i / 32, 0.5], "near": 0.75 - i / 16, "near_level": i / 64,
              "level": 0.125 - i / 32, "keep": 0.875, "alone": 0.9375,
              "rough": 0.25, "longest": 2, "low": 30.0, "high": 70.0} for i in range(nodes)]
    world = [[50 + i + (draw.below(256) - 128) / 64 + 4 * (t % DAY == 3) for i in range(nodes)] for t in range(steps)]
    readings = [row[:] for row in world]
    for t in range(steps):
        if 16 <= t < 40:
            readings[t][1] = 33.0                           # stands still, and comes back
        if t >= 20:
            readings[t][2] = 30.0 + draw.below(41 * 64) / 64  # noise
        if t % 9 == 5:
            readings[t][3] = 1000.0                         # other units now and then
        for i in range(nodes):
            if draw.below(8) == 0:
                readings[t][i] = MISSING if draw.below(2) else None
    truths = [[None if draw.below(5) == 0 or i == 2 and t >= 20 else v for i, v in enumerate(row)] for t, row in enumerate(world)]
    case = {"links": links, "lost": lost, "lost_from": steps // 2, "norms": norms, "lags": LAGS, "day": DAY, "missing": MISSING,
            "horizons": [1, 2], "readings": readings}
    if told:
        case["truths"] = truths
    return {**case, **run(case)}


def run(case):
    sensors, before, out = [Sensor(n) for n in case["norms"]], None, {"rows": [], "known": [], "broken": []}
    for t, readings in enumerate(case["readings"]):
        hears = case["lost"] if t - 1 >= case["lost_from"] else case["links"]  # those of the step before
        truths = case.get("truths")
        answers = [s.read(t, readings[i], truths[t][i] if truths else None, truths is not None,
                          near(hears, before, i) if before else None) for i, s in enumerate(sensors)]
        before = [row for row, _ in answers]
        out["rows"].append(before)
        out["known"].append([known for _, known in answers])
        out["broken"].append([s.why for s in sensors])
    return out


def text(v, indent="\n"):
    """JSON, a line per entry, keys sorted, with the up to 17 digits that give a float64 back."""
    if isinstance(v, dict) and indent != "\n  ":
        entries = (indent + ' "' + k + '": ' + text(v[k], indent + " ") for k in sorted(v))
        return "{" + ",".join(entries) + indent + "}"
    return json.dumps(v, sort_keys=True, separators=(",", ":"))


# name: seed, nodes, steps, whether answers come apart from readings.
CASES = {"readings": (1, 5, 60, False), "answers": (2, 5, 60, True)}

if __name__ == "__main__":
    cases = {name: make(*case) for name, case in CASES.items()}
    seen = {why for case in cases.values() for row in case["broken"] for why in row}
    assert seen == {"", "outside", "contradicted", "rough", "stuck"}, seen
    with open(sys.argv[1], "w") if len(sys.argv) > 1 else sys.stdout as f:
        f.write(text(cases) + "\n")
