"""Compares the places where the shipped library could end its host with those that are explained in explained.txt."""
import collections
import glob
import os
import re
import sys
import textwrap

from library import Library, ROOT

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "explained.txt")
STANDARD = "standard library"
SOURCE = "source text"

Named = collections.namedtuple("Named", "words kinds")

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
    """The named explanations, each with its text and its usual kinds, and file -> function -> kind -> explanation."""
    names, entries, lines = {}, collections.defaultdict(lambda: collections.defaultdict(dict)), []
    name = part = None
    with open(LIST, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if line.startswith("    "):
                lines[-1][1] += " " + line.strip()
            elif line.strip() and not line.startswith("#"):
                lines.append([number, line.rstrip()])
    for number, line in lines:
        if line.startswith("["):
            name, part = None, line[1:-1]
            continue
        heading = re.match(r"(\S+) \((.+?)\) = (.+)$", line)
        if heading:
            name, kinds, words = heading.groups()
            names[name] = Named(words, kinds.split(", "))
            continue
        fields = re.match(r"  (?P<part>[^:]+): ((?P<kinds>[^:]+): )?(?P<functions>[^:]+)$", line) if name else re.match(
            r"(?P<kinds>[^:]+): (?P<functions>[^:]+): (?P<words>.+)$", line)
        if not fields:
            sys.exit(f"{LIST}:{number}: not of the form that the first lines of the file describe")
        fields = fields.groupdict()
        kinds = fields["kinds"].split(", ") if fields["kinds"] else names[name].kinds
        function = ""
        for short in fields["functions"].split(", "):
            function = function.rpartition(".")[0] + short if short.startswith(".") else short
            for kind in kinds:
                if kind in entries[fields.get("part", part)][function]:
                    sys.exit(f"{LIST}:{number}: {function}: {kind}: listed twice")
                entries[fields.get("part", part)][function][kind] = name or fields["words"]
    return names, entries


def fill(line):
    """The line, as several where it is long."""
    return textwrap.wrap(line, 120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def shortened(functions):
    """Their names, without the type where that is the same as before."""
    before = ""
    for function in sorted(functions):
        kind, _, name = function.rpartition(".")
        yield f".{name}" if kind and kind == before else function
        before = kind


def write_list(names, found, entries):
    with open(LIST, encoding="utf-8") as text:
        lines = text.read().split("\n\n", 1)[0].split("\n")
    # Name -> file -> kinds -> functions, and file -> explanation -> kinds -> functions.
    by_name = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    by_part = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for part, functions in found.items():
        for function, kinds in functions.items():
            explained = collections.defaultdict(list)
            for kind in sorted(kinds):
                explained[entries[part][function].get(kind, "?")].append(kind)
            for words, kinds in explained.items():
                place = by_name[words][part] if words in names else by_part[part][words]
                place[tuple(kinds)].append(function)
    for name, (words, usual) in names.items():
        lines += ["", *fill(f"{name} ({', '.join(usual)}) = {words}")]
        for part in sorted(by_name[name], key=order):
            for kinds, functions in sorted(by_name[name][part].items()):
                which = "" if list(kinds) == usual else ", ".join(kinds) + ": "
                lines += fill(f"  {part}: {which}{', '.join(shortened(functions))}")
    lines.append("")
    for part in sorted(by_part, key=order):
        lines.append(f"[{part}]")
        rows = ((functions, kinds, words) for words, places in by_part[part].items() for kinds, functions in places.items())
        for functions, kinds, words in sorted((sorted(functions), kinds, words) for functions, kinds, words in rows):
            lines += fill(f"{', '.join(kinds)}: {', '.join(shortened(functions))}: {words}")
    with open(LIST, "w", encoding="utf-8") as text:
        text.write("\n".join(lines) + "\n")


def order(part):
    """Of the list: files before what is none."""
    return part in (STANDARD, SOURCE), part


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
                    words = names[words].words if words in names else words
                    print(f"{part}:{','.join(map(str, sorted(set(lines) - {0})))} {function}: {kind}: {words}")
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
