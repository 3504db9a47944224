"""Scores depthmatte's matte on rendered people, test scenes and real cases: run.sh says how it is called."""
import argparse
import math
import os
import sys
from importlib.util import find_spec

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]) and find_spec("cv2") is None:
    print(__doc__.strip())
    sys.exit()

import cv2
import numpy as np

import peers
import people
import scores
import sheets
from cases import Cases
from scenes import FRAMES, SCENES, STILL_RATE, scene
from streams import element, peer, recipe, reference, tuned

REFERENCE, TUNED, GRABCUT = "reference", "sample, tuned", "GrabCut"
CLOSED_FORM, CEILING = "closed form", "closed form, told"
SETTINGS = ["method=threshold", TUNED, REFERENCE, "method=fusion"]
FUSION = "method=fusion"
CLIPS = os.environ.get("DEPTHMATTE_PHOTOREAL")
PEOPLE_SETTINGS = [TUNED, GRABCUT, CLOSED_FORM, CEILING, REFERENCE, "method=fusion", "method=fusion anchor=head"]

# Scores of a stream: the mean over its frames of (alpha, truth, judged), and of those that need the depth map.
PER_FRAME = {
    "SAD": scores.sad, "MAD x 10^3": scores.mad, "MSE x 10^3": scores.mse, "gradient": scores.gradient,
    "connectivity": scores.connectivity, "room leak %": scores.room_leak, "eaten %": scores.eaten,
}
COLUMNS = [
    "SAD", "MAD x 10^3", "MSE x 10^3", "gradient", "connectivity", "F 1 px", "F 3 px", "dtSSD x 10^2", "flicker", "lag",
    "room leak %", "eaten %", "hair kept", "shadow"]
OVERVIEW = ["SAD", "MAD x 10^3", "dtSSD x 10^2", "flicker", "room leak %", "eaten %"]  # a table each, a row for each stream


def mean_of(score):
    def mean(alphas, stream):
        return float(np.mean([score(a, t, stream.where(i)) for i, (a, t) in enumerate(zip(alphas, stream.truths))]))
    mean.__name__ = score.__name__
    return mean


def figures(stream, alphas):
    """Each score of COLUMNS but flicker; NaN where a stream has nothing to judge it by."""
    frames = range(len(alphas))
    found = {name: mean_of(score)(alphas, stream) for name, score in PER_FRAME.items()}
    for tolerance in (1, 3):
        found[f"F {tolerance} px"] = mean(
            scores.outline_f(alphas[i], stream.truths[i], tolerance, stream.where(i, of_outline=True)) for i in frames)
    truths = np.array(stream.truths)
    found["dtSSD x 10^2"], found["lag"] = scores.dtssd(alphas, truths), scores.lag(alphas, truths)
    if not stream.judged:
        pairs = list(zip(alphas, stream.truths, stream.depths))
        found["hair kept"] = mean(scores.kept(a, t, scores.unmeasured_person(d, t)) for a, t, d in pairs)
        found["shadow"] = mean(scores.mean_alpha(a, scores.shadow_band(d, t)) for a, t, d in pairs)
    return found


def mean(values):
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def alphas_of(stream, settings, tuned_on=None):
    """The mattes; those of the tuned sample with what is best for a stream, this one or another. None: cannot be made."""
    if settings == REFERENCE:
        return reference(stream)
    if settings == TUNED:
        return recipe(stream, *tuned(tuned_on or stream, mean_of(scores.sad)))
    if settings == GRABCUT:
        return peer(stream, peers.grabcut)
    if settings == CLOSED_FORM:
        return peer(stream, peers.closed_form) if peers.pymatting else None
    if settings == CEILING:
        return peer(stream, peers.closed_form_told, stream.truths) if peers.pymatting else None
    return element(stream, settings)


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def number(value):
    return "" if math.isnan(value) else f"{value:.3f}"


class Report:
    """Prints what it is told, and keeps it and the sheets in a folder, if there is one."""

    def __init__(self, folder):
        self.folder, self.parts = folder, []
        if folder:
            os.makedirs(folder, exist_ok=True)

    def add(self, text):
        print(text, flush=True)
        self.parts.append(text)
        if self.folder:
            with open(os.path.join(self.folder, "scores.md"), "w") as f:
                f.write("\n".join(self.parts))

    def picture(self, name, picture):
        if self.folder:
            cv2.imwrite(os.path.join(self.folder, f"{name}.png"), picture)


def scenes(names):
    for name in names:
        yield scene(name, SCENES[name]), scene(name, SCENES[name], rate=STILL_RATE)


def judge(kind, pairs, all_settings, report):
    """A table for each stream and the means. `pairs`: a stream, and one of the same that stands still, or None."""
    total = {settings: {} for settings in all_settings}
    for stream, still in pairs:
        rows, mattes = [], []
        for settings in all_settings:
            alphas = alphas_of(stream, settings)
            if alphas is None:
                rows.append([f"`{settings}`", "PyMatting is missing", *[""] * (len(COLUMNS) - 1)])
                continue
            found = figures(stream, alphas)
            if settings == TUNED:  # the sample at its best by the very score shown
                best = tuned(stream, mean_of(scores.gradient))
                found["gradient"] = mean_of(scores.gradient)(recipe(stream, *best), stream)
            if still:
                found["flicker"] = scores.flicker(alphas_of(still, settings, tuned_on=stream))
            total[settings][stream.name] = found
            mattes.append((settings, alphas))
            rows.append([f"`{settings}`", *(number(found.get(column, math.nan)) for column in COLUMNS)])
        report.add(f"{kind} {stream.name}:\n\n" + table(["settings", *COLUMNS], rows))
        report.picture(f"{kind} {stream.name}".lower(), sheets.sheet(stream, mattes))
    total = {settings: by_stream for settings, by_stream in total.items() if by_stream}
    rows = [
        [f"`{settings}`", *(number(mean(found.get(column, math.nan) for found in by_stream.values())) for column in COLUMNS)]
        for settings, by_stream in total.items()]
    report.add(f"{kind}, mean:\n\n" + table(["settings", *COLUMNS], rows))
    return total


def overview(kind, total, report):
    """A table for each of some scores."""
    for score in OVERVIEW:
        columns = {
            settings: [found.get(score, math.nan) for found in by_stream.values()] for settings, by_stream in total.items()}
        if all(math.isnan(value) for column in columns.values() for value in column):
            continue
        names = [*next(iter(total.values()), {}), "mean"]
        rows = [[name, *map(number, row)] for name, row in zip(names, zip(*(c + [mean(c)] for c in columns.values())))]
        report.add(f"{kind}, {score}:\n\n" + table(["", *(f"`{settings}`" for settings in total)], rows))


def compare(total, against, report):
    """Ratios of SAD and gradient, and the difference of the leak, scene by scene."""
    if against not in total:
        return
    rows = []
    for settings, by_scene in total.items():
        if settings == against:
            continue
        for score in ("SAD", "gradient"):
            sums = [sum(found[score] for found in some[of].values()) for some, of in ((total, settings), (total, against))]
            ratios = [by_scene[name][score] / total[against][name][score] for name in by_scene]
            rows.append([f"`{settings}`", score, number(sums[0] / sums[1]), *map(number, ratios)])
        leaks = [[some[name]["room leak %"] for name in by_scene] for some in (by_scene, total[against])]
        rows.append([
            f"`{settings}`", "room leak %, less", number(mean(leaks[0]) - mean(leaks[1])),
            *(number(a - b) for a, b in zip(*leaks))])
    names = list(total[against])
    report.add(
        f"Against `{against}` (ratios; of the leak the difference):\n\n" + table(["settings", "score", "mean", *names], rows))


def judge_cases(cases, only, all_settings, report):
    columns = ["SAD", "F 1 px", "F 3 px", "gradient", "room leak %"]
    rows, missed = [], []
    for stream in cases.judged():
        if not wanted(stream.name, only):
            continue
        mattes = []
        for settings in all_settings:
            alphas = alphas_of(stream, settings)
            found = figures(stream, alphas)
            mattes.append((settings, alphas))
            rows.append([
                stream.name, f"`{settings}`", *(number(found[column]) for column in columns), number(stream.goal)])
            if settings.startswith("method=fusion") and not found["SAD"] <= stream.goal:
                missed.append(f"{stream.name}: SAD {found['SAD']:.3f} > {stream.goal}")
        report.picture(stream.name, sheets.sheet(stream, mattes))
        outline = next(iter(cases.outlines.get(stream.name, {}).values()), None)
        if outline:
            report.picture(f"{stream.name} window", sheets.windows(stream, mattes, outline["window"]))
    if not rows:
        return
    report.add("Real cases:\n\n" + table(["case", "settings", *columns, "goal of SAD"], rows))
    if missed:
        report.add("Goals missed:\n\n" + "\n".join(missed) + "\n")


def agree(streams, settings, report):
    """How near the element is to the reference. False beyond the limits."""
    def mattes():
        for stream in streams:
            # The reference's cutoff jumps with the face.
            yield stream, element(stream, f"{settings} anchor-smoothing=0"), reference(stream, "subject=all" not in settings)
    return compare_all(mattes(), f"`{settings}` and the reference", report)


def compare_all(mattes, title, report):
    """Differences of two mattes of each stream; every score of both where there is a truth. False beyond the limits."""
    rows, agrees = [], True
    for stream, ours, theirs in mattes:
        difference = np.abs(ours - theirs) * 255
        relative, which = worst_score(stream, ours, theirs) if stream.truths else (math.nan, "")
        agrees = agrees and difference.mean() <= 1 and (difference <= 8).mean() >= 0.999 and not relative > 0.02
        rows.append([
            stream.name, str(len(ours)), number(difference.mean()), number(difference.max()),
            f"{100 * (difference <= 8).mean():.4f}", f"{number(100 * relative)} {which}"])
    report.add(f"{title} (differences in 255ths):\n\n" + table(
        ["stream", "frames", "mean difference", "largest", "% within 8", "largest difference of a score %"], rows))
    return agrees


def worst_score(stream, ours, theirs):
    """The largest relative difference of a score. A difference below 0.0005, half of the last digit shown, is none."""
    ours, theirs = figures(stream, ours), figures(stream, theirs)
    relative = {
        name: abs(ours[name] - value) / abs(value) if abs(ours[name] - value) > 0.0005 and value else 0.0
        for name, value in theirs.items() if not math.isnan(value)}
    return max((value, name if value else "") for name, value in relative.items())


def everything(names, cases, arguments):
    for stream in people.frames():
        if wanted(f"people {stream.name}", arguments.only):
            yield stream
    for name in names:
        yield scene(f"scene {name}", SCENES[name], arguments.frames)
    for stream in cases.everything() if cases else []:
        if wanted(stream.name, arguments.only):
            yield stream
    if CLIPS:
        for stream, _ in people.clips(CLIPS, lambda name: wanted(name, arguments.only)):
            yield stream


def wanted(name, only):
    return not only or any(part in name for part in only)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--settings", action="append",
        help=f"properties of depthmatte, or one of {REFERENCE!r}, {TUNED!r}, {GRABCUT!r}, {CLOSED_FORM!r}, {CEILING!r}; may be "
        "repeated")
    parser.add_argument("--only", action="append", help="people, scenes and cases whose name has this in it; may be repeated")
    parser.add_argument("--out", help="a folder for scores.md and the contact sheets")
    parser.add_argument("--agree", action="store_true", help="the element against the reference, on every case and scene")
    parser.add_argument("--frames", type=int, default=FRAMES, help="frames of each scene with --agree")
    arguments = parser.parse_args()
    report = Report(arguments.out)
    names = [name for name in SCENES if wanted(f"scene {name}", arguments.only)]
    folder = os.environ.get("DEPTHMATTE_REAL_DATA")
    cases = Cases(folder) if folder else None
    if not cases:
        print("real cases: skipped, DEPTHMATTE_REAL_DATA names none", file=sys.stderr)
    if arguments.agree:
        agreed = [
            agree(everything(names, cases, arguments), settings, report) for settings in arguments.settings or [FUSION]]
        sys.exit(0 if all(agreed) else 1)
    pairs = {"People": [(stream, None) for stream in people.frames() if wanted(f"people {stream.name}", arguments.only)]}
    if CLIPS:
        pairs["Clips"] = people.clips(CLIPS, lambda name: wanted(name, arguments.only))
    for kind, streams in pairs.items():
        total = judge(kind, streams, arguments.settings or PEOPLE_SETTINGS, report)
        overview(kind, total, report)
    all_settings = arguments.settings or SETTINGS
    if names:
        total = judge("Scene", scenes(names), all_settings, report)
        for against in (TUNED, REFERENCE):
            compare(total, against, report)
    if cases:
        judge_cases(cases, arguments.only, all_settings, report)


if __name__ == "__main__":
    main()
