"""Compares the places where the shipped library could end its host with those that are explained in explained.txt."""
import collections
import glob
import os
import re
import sys

from library import Library, ROOT

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "explained.txt")
STANDARD = "standard library"
SOURCE = "source text"

# What Swift offers to end a program by, and what takes checks away.
WORDS = {
    "try!": r"\btry!",
    "as!": r"\bas!",
    "!": r"[\w)\]?]!(?![=\w])",
    "unowned": r"\bunowned\b",
    "fatalError": r"\bfatalError\s*\(",
    "precondition": r"\bprecondition(Failure)?\s*\(",
    "assertionFailure": r"\bassertionFailure\s*\(",
    "unsafelyUnwrapped": r"\bunsafelyUnwrapped\b",
}
FLAGS = r"-Ounchecked|-enforce-exclusivity=unchecked|-remove-runtime-asserts|-assume-single-threaded"


def read_list():
    """The named explanations, and file -> function -> kind -> explanation."""
    names, entries, part, name = {}, collections.defaultdict(lambda: collections.defaultdict(dict)), None, None
    with open(LIST, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                part = line[1:-1]
            elif line.startswith("  ") and part is None:
                names[name] += " " + line.strip()
            elif part is None:
                name, names[name] = line.split(" = ", 1)
            else:
                fields = re.match(r"(.+?): ([^:]+): (.+)$", line)
                if not fields:
                    sys.exit(f"{LIST}:{number}: not of the form FUNCTION: KIND, KIND: EXPLANATION")
                for kind in fields.group(2).split(", "):
                    entries[part][fields.group(1)][kind] = fields.group(3)
    return names, entries


def write_list(names, found, entries):
    with open(LIST, encoding="utf-8") as text:
        head = text.read().split("\n[", 1)[0].rstrip("\n")
    lines = [head]
    for part in sorted(found, key=lambda part: (part in (STANDARD, SOURCE), part)):
        lines += ["", f"[{part}]"]
        for function in sorted(found[part]):
            kinds = collections.defaultdict(list)
            for kind in sorted(found[part][function]):
                kinds[entries[part][function].get(kind, "?")].append(kind)
            lines += [f"{function}: {', '.join(kinds[words])}: {words}" for words in sorted(kinds, key=kinds.get)]
    with open(LIST, "w", encoding="utf-8") as text:
        text.write("\n".join(lines) + "\n")


def code(text):
    """Swift without comments and without the text of strings."""
    text = re.sub(r'"""(.*?)"""|"(\\.|[^"\\\n])*"', lambda found: '""' + "\n" * found.group(0).count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def words_of_source():
    """File -> words in it that end a program."""
    found = collections.defaultdict(dict)
    for folder, _, files in os.walk(os.path.join(ROOT, "Sources")):
        for name in files:
            path = os.path.join(folder, name)
            short = os.path.relpath(path, os.path.join(ROOT, "Sources"))
            if not name.endswith(".swift") or short.startswith("depthbench/"):
                continue
            with open(path, encoding="utf-8") as text:
                lines = code(text.read()).split("\n")
            for word, pattern in WORDS.items():
                places = [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]
                if places:
                    found[short][word] = places
    return found


def flags():
    for path in ["Package.swift", "meson-shim/meson.build", "meson-shim/build.sh", "meson-shim/package.sh"]:
        with open(os.path.join(ROOT, path), encoding="utf-8") as text:
            yield from (f"{path}: {flag}" for flag in re.findall(FLAGS, text.read()))


def shared_code(library):
    """Code in the objects for wider vectors under a name that other objects may give to theirs: the linker takes one of them for
    all, and an older processor ends at its first instruction that it does not know."""
    for path in sorted(glob.glob(os.path.join(os.path.dirname(library.path), "DepthLoopsV3.build", "*.o"))):
        for line in library.run("llvm-nm", "--defined-only", path).splitlines():
            kind, name = line.split(maxsplit=1)[1].split(maxsplit=1)
            if kind in "TWi" and "12DepthLoopsV3" not in name:
                yield f"{os.path.basename(path)}: {name}: not DepthLoopsV3's own code: make it @inline(__always), or no generic function"


def table(ours, standard, rest):
    counts = collections.Counter((site.file.split("/")[0], site.kind) for site in ours)
    kinds = sorted({kind for _, kind in counts})
    print(f"{'':18}" + "".join(f"{kind:>13}" for kind in kinds))
    for module in sorted({module for module, _ in counts}):
        print(f"{module:18}" + "".join(f"{counts[module, kind] or '':>13}" for kind in kinds))
    print(f"\nour functions: {len(ours)} places; the standard library compiled into them: {len(standard)}; the runtime: {rest}")


def main(arguments):
    update, every = "--update" in arguments, "--list" in arguments
    tools, path = arguments[:2]
    library = Library(path, tools)
    ours, standard, rest = library.sites()
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for site in ours + standard:
        found[site.file or STANDARD][site.function][site.kind].append(site.line)
    for file, words in words_of_source().items():
        for word, lines in words.items():
            found[SOURCE][file][word] = lines
    names, entries = read_list()

    if update:
        write_list(names, found, entries)
        entries = read_list()[1]
    if every:
        for part in sorted(found):
            for function, kinds in sorted(found[part].items()):
                for kind, lines in sorted(kinds.items()):
                    words = entries[part][function].get(kind, "?")
                    print(f"{part}:{','.join(map(str, sorted(set(lines) - {0})))} {function}: {kind}: {names.get(words, words)}")
    faults = [f"{flag}: the library must keep its checks" for flag in flags()] + list(shared_code(library))
    for part, functions in sorted(found.items()):
        for function, kinds in sorted(functions.items()):
            for kind, lines in sorted(kinds.items()):
                words = entries[part][function].get(kind, "?")
                if words == "?":
                    where = ",".join(map(str, sorted(set(lines) - {0})))
                    faults.append(f"{part}:{where} {function}: {kind}: not explained")
                elif " " not in words and words not in names:
                    faults.append(f"{part} {function}: {kind}: there is no explanation named {words}")
                if part.startswith("DepthLoops/"):
                    faults.append(f"{part} {function}: {kind}: the loops hold no traps")
    for part, functions in entries.items():
        for function, kinds in functions.items():
            faults += [
                f"{part} {function}: {kind}: listed, and not in the library any more"
                for kind in kinds if kind not in found.get(part, {}).get(function, {})]
    if not every:
        table(ours, standard, rest)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        sys.exit(f"{len(faults)} places differ from {os.path.relpath(LIST, ROOT)}")


main(sys.argv[1:])
