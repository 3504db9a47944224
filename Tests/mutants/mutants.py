#!/usr/bin/env python3
"""Builds faults into a copy of the sources, and counts those that the tests notice.

    mutants.py copy TREE          write the sources with all faults, each switched off, to the folder TREE
    mutants.py run TREE [ID...]   run the tests of the built TREE once for each fault (or for those named)

The faults are the [[mutant]] tables of the *.toml files beside this script:

    id      a number; the environment variable DEPTHMATTE_MUTANT switches the fault on
    file    the source
    what    the effect of the fault
    tests   regular expressions of the tests that should notice it
    old     the right code, found once in the file
    new     the wrong code
    in      optional: code that is found once in the file, in which `old` is found once
    form    "statements" where both are statements; else they are expressions
    same    optional: why no test can notice the fault
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODULE = Path("Sources/CDepthKernels")
LIMIT = 120  # seconds for one fault


def fail(message):
    sys.exit(f"mutants: {message}")


def read_mutants():
    mutants = []
    for path in sorted(HERE.glob("*.toml")):
        mutants += tomllib.loads(path.read_text())["mutant"]
    numbers = [mutant["id"] for mutant in mutants]
    for number in {number for number in numbers if numbers.count(number) > 1 or number < 1}:
        fail(f"the number {number} is not above 0 or stands twice")
    return sorted(mutants, key=lambda mutant: mutant["id"])


# MARK: The copy


def find_once(text, part, mutant, where):
    if text.count(part) != 1:
        fail(f"mutant {mutant['id']}: {where} has {text.count(part)} times, not once:\n{part}")
    return text.index(part)


def place(mutant, text):
    """The start and end of the right code."""
    context = mutant.get("in", text)
    start = 0 if context is text else find_once(text, context, mutant, mutant["file"])
    where = mutant["file"] if context is text else "the code around it"
    start += find_once(context, mutant["old"], mutant, where)
    return start, start + len(mutant["old"])


def both(mutant):
    """The right and the wrong code, and the choice between them, in Swift or C."""
    number, old, new = mutant["id"], mutant["old"], mutant["new"]
    if mutant.get("form") == "statements":
        return f"if (isMutant({number})) {{ {new} }} else {{ {old} }}"
    return f"(isMutant({number}) ? ({new}) : ({old}))"


def mutate(file, text, mutants):
    places = sorted((place(mutant, text), mutant["id"], both(mutant)) for mutant in mutants)
    for (one, first, _), (other, second, _) in zip(places, places[1:]):
        if other[0] < one[1]:
            fail(f"{file}: mutants {first} and {second} overlap")
    for (start, end), _, choice in reversed(places):
        text = text[:start] + choice + text[end:]
    if file.endswith(".h"):
        return text.replace("#pragma once\n", '#pragma once\n#include "mutants.h"\n', 1)
    if not re.search(r"^(package )?import CDepthKernels$", text, re.MULTILINE):
        text = "import CDepthKernels\n" + text
    return text


def depend_on_module(manifest, targets):
    """Adds the module of the switch to the dependencies of the targets."""
    for target in sorted(targets):
        pattern = re.compile(rf'(\.target\(\s*name: "{target}",\s*dependencies: \[)([^\]]*)')
        match = pattern.search(manifest)
        if not match:
            fail(f"Package.swift: the target {target} has no dependencies")
        if '"CDepthKernels"' not in match[2]:
            manifest = manifest[: match.end(1)] + '"CDepthKernels", ' + manifest[match.end(1) :]
    return manifest


def sources(mutants):
    """Yields the path and the bytes, or the link's target, of every file of the copy."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True)
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant["file"], []).append(mutant)
    targets = {Path(file).parts[1] for file in by_file} - {MODULE.name}
    for name in sorted(set(filter(None, listed.stdout.decode().split("\0")))):
        path = ROOT / name
        if path.is_symlink():
            yield name, os.readlink(path)
        elif name in by_file:
            yield name, mutate(name, path.read_text(), by_file.pop(name)).encode()
        elif name == "Package.swift":
            yield name, depend_on_module(path.read_text(), targets).encode()
        elif name == str(MODULE / "include/CDepthKernels.h"):
            yield name, path.read_bytes() + b'#include "mutants.h"\n'
        elif path.is_file():
            yield name, path.read_bytes()
    for file in by_file:
        fail(f"there is no {file}")
    yield str(MODULE / "include/mutants.h"), (HERE / "mutants.h").read_bytes()
    yield str(MODULE / "mutants.c"), (HERE / "mutants.c").read_bytes()


def copy(tree):
    """Writes what differs only, so that a second build is short."""
    kept = set()
    for name, content in sources(read_mutants()):
        path = tree / name
        kept.add(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            if not path.is_symlink():
                path.symlink_to(content)
        elif not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
            path.chmod((ROOT / name).stat().st_mode if (ROOT / name).exists() else 0o644)
    for folder, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name != ".build" and not (Path(folder) / name).is_symlink()]
        for name in files:
            if Path(folder) / name not in kept:
                (Path(folder) / name).unlink()


# MARK: The tests


def program(tree):
    return [tree / ".build/release/gst-depthmattePackageTests.xctest", "--testing-library", "swift-testing"]


def check_names(tree, mutants):
    listed = subprocess.run([*program(tree), "--list-tests"], cwd=tree, check=True, capture_output=True, text=True)
    for mutant in mutants:
        for test in mutant["tests"]:
            if not re.search(test, listed.stdout):
                fail(f"mutant {mutant['id']}: there is no test {test}")


class Run:
    """One run of some tests. It is ended by the first that fails, unless `goes_on`."""

    def __init__(self, tree, tests, number, limit, goes_on=False):
        self.failed, self.tests, self.last = [], 0, "no test"
        environment = dict(os.environ, DEPTHMATTE_MUTANT=str(number), SWIFT_BACKTRACE="enable=no")
        command = program(tree) + ["--no-parallel"] + [word for test in tests for word in ("--filter", test)]
        start = time.monotonic()
        self.process = subprocess.Popen(
            command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True)
        self.is_hung = False
        timer = threading.Timer(limit, self.end, [True])
        timer.start()
        for line in self.process.stdout:
            self.read(line)
            if self.failed and not goes_on:
                self.end()
        self.status = self.process.wait()
        timer.cancel()
        self.seconds = time.monotonic() - start

    def end(self, is_hung=False):
        self.is_hung = is_hung
        os.killpg(self.process.pid, signal.SIGKILL)

    def read(self, line):
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if match := re.search(r"Test (.+?) started\.", line):
            if not match[1].startswith(("run", "case passing")):
                self.last = name(match[1])
        elif match := re.search(r"✘ Test (.+?) (recorded an issue|failed)", line):
            if not match[1].startswith("run with") and name(match[1]) not in self.failed:
                self.failed.append(name(match[1]))
        elif match := re.search(r"Test run with (\d+) tests?", line):
            self.tests = int(match[1])

    @property
    def finding(self):
        """What noticed the fault; nil where nothing did."""
        if self.is_hung:
            return f"hang: {self.last}"
        if self.failed:
            return self.failed[0]
        if self.status < 0:
            return f"signal {-self.status}: {self.last}"
        return f"status {self.status}: {self.last}" if self.status else None


def name(test):
    return re.sub(r"\(.*\)$", "", test).strip('`"')


def check_baseline(tree, mutants):
    tests = sorted({test for mutant in mutants for test in mutant["tests"]})
    run = Run(tree, tests, 0, 20 * LIMIT, goes_on=True)
    if run.finding:
        fail(f"without a fault: {', '.join(run.failed) or run.finding}")
    print(f"without a fault: {run.tests} tests pass in {run.seconds:.0f} s", flush=True)


def check(tree, mutant):
    """A row of the table."""
    run = Run(tree, mutant["tests"], mutant["id"], LIMIT)
    same = f"SURVIVED: {mutant['same']}" if "same" in mutant else "SURVIVED"
    row = [str(mutant["id"]), mutant["file"].removeprefix("Sources/"), mutant["what"], run.finding or same]
    return run.finding is not None, f"| {' | '.join(row)} | {run.seconds:.1f} |"


def run_all(tree, numbers):
    mutants = read_mutants()
    for number in numbers - {mutant["id"] for mutant in mutants}:
        fail(f"there is no mutant {number}")
    chosen = [mutant for mutant in mutants if not numbers or mutant["id"] in numbers]
    check_names(tree, chosen)
    check_baseline(tree, chosen)
    table = ["| Mutant | File | Fault | Noticed by | Seconds |", "|---|---|---|---|---|"]
    print("\n".join(table), flush=True)
    noticed, unexplained = 0, []
    for mutant in chosen:
        is_noticed, row = check(tree, mutant)
        print(row, flush=True)
        table.append(row)
        noticed += is_noticed
        if not is_noticed and "same" not in mutant:
            unexplained.append(str(mutant["id"]))
    path = tree.parent / "table.md"
    path.write_text("\n".join(table) + "\n")
    print(f"{noticed} of {len(chosen)} noticed; the table is {path}")
    if unexplained:
        fail(f"no test noticed {', '.join(unexplained)}")


def main():
    if len(sys.argv) == 2 and sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
    elif len(sys.argv) == 3 and sys.argv[1] == "copy":
        copy(Path(sys.argv[2]).resolve())
    elif len(sys.argv) >= 3 and sys.argv[1] == "run":
        run_all(Path(sys.argv[2]).resolve(), {int(number) for number in sys.argv[3:]})
    else:
        sys.exit("usage: mutants.py copy TREE | run TREE [ID...]")


main()
