"""Trains the model of stalled_steps with LightGBM, measures it, and writes it as Go.

    python internal/train/train.py features.jsonl names.txt stalled_model.go

The features and their names are those that the command in this folder prints. To measure the model, it is trained five times, each time without a
fifth of the runs and kinds, and applied to that fifth. So no figure is of a run that the model was trained on, or of a kind of which it
was trained on another run. Then it is trained without the runs of each agent in turn, and applied to these. A step counts as flagged if
stalled_steps would fire at it: its gate allows it, and it is at least the third step without progress. The steps before a spliced stretch
do not count as such.
"""

import collections
import hashlib
import itertools
import json
import sys

import lightgbm
import numpy as np

FOLDS = 5
AGENTS = ("Claude Code", "mini-swe-agent", "tau-bench")  # those with judged runs, as named in their sources
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.82, 0.84, 0.85, 0.86, 0.87, 0.88, 0.89, 0.9, 0.92, 0.94, 0.96)
SETTINGS = dict(
    n_estimators=60,
    num_leaves=12,
    learning_rate=0.15,
    min_child_samples=100,
    subsample=0.5,
    subsample_freq=1,
    colsample_bytree=0.3,
    reg_lambda=10,
    n_jobs=1,
    random_state=2,
    deterministic=True,
    verbose=-1,
)

EVERY = 3  # one of so many runs of a kind is enough
GROUP = 4  # of boosting.go: after each group of so many trees,
HOPELESS = -1.8  # a sum below this ends a rating, which is then 0
USUAL, ALWAYS = 1, 2  # of main.go: a gate of a step at which the rule fires at its threshold, and at any estimate
PROGRESSING = 0.2  # of meter.go: an estimate below this ends a stretch of steps
FEW_STEPS = 3  # of stalled_steps.go: the least number of steps of a stretch
SMOOTHING = 0.25  # of estimate.go: the share of the estimate that is kept from step to step
KIND_WEIGHT = 8.0  # of all steps of a stretch together
STUCK_WEIGHT = 6.0  # of a step of a judged stretch; any other step of a real run weighs 1


class Run:
    def __init__(self, row):
        self.id, self.labels = row["id"], row["labels"]
        self.events = np.array(row["events"] or [], int)
        self.x = np.array(row["steps"] or np.zeros((0, 0)), np.float32)
        self.flags = [f["event"] for f in row["flags"] or [] if f["rules"]]
        self.p = np.zeros(0)
        self.gates = np.array(row["gates"] or [], int)
        loop, stuck = self.labels.get("loop"), self.labels.get("stuck")
        self.kind = loop["kind"] if loop and "kind" in loop else None
        self.benign = bool(loop and loop.get("benign"))
        self.agreed = (stuck or {}).get("agreed") or []
        self.clean = stuck is not None and not self.agreed and not stuck.get("borderline")
        self.y, self.w = np.zeros(len(self.events)), np.ones(len(self.events))
        self.fold = int(hashlib.md5((self.kind or self.id).encode()).hexdigest(), 16) % FOLDS
        self.agent = next((agent for agent in AGENTS if not self.kind and agent in row["source"]), None)
        if self.kind:
            inside = self.within(loop["onset"], loop["end"])
            self.x, self.y, self.w = self.x[inside], self.y[inside] + (not self.benign), self.w[inside] * KIND_WEIGHT / max(1, inside.sum())
            self.events, self.gates = self.events[inside], self.gates[inside]
            self.flagged = any(loop["onset"] <= e <= loop["end"] for e in self.flags)
            return
        self.flagged = bool(self.flags)
        for stretch in (stuck or {}).get("borderline") or []:
            self.w[self.within(stretch["onset"], stretch["end"])] = 0
        for stretch in self.agreed:
            inside = self.within(stretch["onset"], stretch["end"])
            self.y[inside], self.w[inside] = 1, STUCK_WEIGHT
        if stuck is None and row["outcome"] != "success":
            self.w[:] = 0

    def fires(self, threshold):
        """Returns at which steps the rule fires."""
        steps = itertools.accumulate(self.p, lambda n, p: n + 1 if p >= PROGRESSING else 0, initial=0)
        enough = np.fromiter(steps, int)[1:] >= FEW_STEPS
        return enough & ((self.gates == ALWAYS) | (self.gates == USUAL) & (self.p >= threshold))

    def within(self, onset, end):
        return (self.events >= onset) & (self.events <= end)


def read(path):
    with open(path) as lines:
        runs, kinds = [], collections.Counter()
        for line in lines:
            run = Run(json.loads(line))
            kinds[run.kind] += 1
            if not run.kind or kinds[run.kind] % EVERY == 0:
                runs.append(run)
        return runs


def fit(runs):
    runs = [run for run in runs if len(run.x)]
    x, y, w = (np.concatenate([getattr(run, part) for run in runs]) for part in "xyw")
    return lightgbm.LGBMClassifier(**SETTINGS).fit(x[w > 0], y[w > 0], sample_weight=w[w > 0])


def ratings(model, x):
    """Returns what a model says of each step, as boosting.go computes it."""
    groups = [model.predict(x, raw_score=True, start_iteration=k, num_iteration=GROUP) for k in range(0, model.n_estimators, GROUP)]
    sums = np.cumsum(groups, axis=0)
    return np.where((sums[:-1] < HOPELESS).any(axis=0), 0, 1 / (1 + np.exp(-sums[-1])))


def estimate(model, runs):
    """Sets p of runs to the estimate at each step: a moving average of what a model says of the steps."""
    runs = [run for run in runs if len(run.x)]
    said = ratings(model, np.concatenate([run.x for run in runs]))
    for run, own in zip(runs, np.split(said, np.cumsum([len(run.x) for run in runs])[:-1])):
        kept = itertools.accumulate(own, lambda kept, new: SMOOTHING * kept + (1 - SMOOTHING) * new, initial=0)
        run.p = np.fromiter(kept, float)[1:]


def left_out(runs, part):
    """Sets p of the runs of each part to the estimates of a model that was trained without them, and returns these runs."""
    measured = [run for run in runs if getattr(run, part) is not None]
    for of in sorted({getattr(run, part) for run in measured}):
        model = fit([run for run in runs if getattr(run, part) != of])
        estimate(model, [run for run in measured if getattr(run, part) == of])
    return measured


def share(flags):
    return f"{np.mean([np.mean(of_kind) for of_kind in flags.values()]):.3f}" if flags else "-"


def report(title, runs):
    print(title)
    print("threshold   loops caught   lookalikes flagged   stretches found   clean runs flagged")
    for threshold in THRESHOLDS:
        kinds = collections.defaultdict(lambda: collections.defaultdict(list))
        found = stretches = flagged = clean = 0
        for run in runs:
            high = run.fires(threshold)
            if run.kind:
                kinds[run.benign][run.kind].append(run.flagged or high.any())
            for stretch in run.agreed:
                onset, end = stretch["onset"], stretch["end"] + 3
                stretches += 1
                found += bool(high[run.within(onset, end)].any() or any(onset <= event <= end for event in run.flags))
            if run.clean:
                clean += 1
                flagged += bool(run.flagged or high.any())
        print(f"{threshold:9.2f} {share(kinds[False]):>14} {share(kinds[True]):>20} {found:13d} of {stretches} {flagged:14d} of {clean}")


class Writer:
    def __init__(self, names):
        self.names = names
        self.roots, self.nodes, self.leaves = [], [], []

    def tree(self, node):
        if "leaf_value" in node:
            self.leaves.append(node["leaf_value"])
            return -len(self.leaves)
        at = len(self.nodes)
        self.nodes.append(None)
        threshold = np.float32(node["threshold"])
        self.nodes[at] = (node["split_feature"], threshold, self.tree(node["left_child"]), self.tree(node["right_child"]))
        return at

    def text(self):
        def rows(items, each, indent="\t\t"):
            return "".join(indent + " ".join(items[k : k + each]) + "\n" for k in range(0, len(items), each))

        features, thresholds, left, right = zip(*self.nodes)
        return (
            "// Code generated by internal/train. DO NOT EDIT.\n\npackage unloop\n\n"
            'import "github.com/unloop-ai/unloop/internal/boosting"\n\n'
            "// stalledQuantities are the names of the quantities of a step that stalledModel was trained on, in the order of Features.\n"
            "var stalledQuantities = []string{\n" + rows(['"%s",' % name for name in self.names], 8, "\t") + "}\n\n"
            "// stalledModel estimates from Features whether the latest steps made no progress.\n"
            "var stalledModel = boosting.Model{\n"
            "\tRoots: []int16{\n" + rows(["%d," % at for at in self.roots], 25) + "\t},\n"
            "\tFeatures: []uint8{\n" + rows(["%d," % k for k in features], 30) + "\t},\n"
            "\tThresholds: []float32{\n" + rows(["%.8g," % x for x in thresholds], 12) + "\t},\n"
            "\tLeft: []int16{\n" + rows(["%d," % k for k in left], 25) + "\t},\n"
            "\tRight: []int16{\n" + rows(["%d," % k for k in right], 25) + "\t},\n"
            "\tLeaves: []float32{\n" + rows(["%.6g," % x for x in self.leaves], 15) + "\t},\n}\n"
        )


def main():
    runs = read(sys.argv[1])
    report("Without a fifth of the runs and kinds in turn:", left_out(runs, "fold"))
    report("Without the runs of an agent in turn:", left_out(runs, "agent"))
    with open(sys.argv[2]) as lines:
        writer = Writer(lines.read().split())
    for tree in fit(runs).booster_.dump_model()["tree_info"]:
        writer.roots.append(writer.tree(tree["tree_structure"]))
    with open(sys.argv[3], "w") as out:
        out.write(writer.text())


main()
