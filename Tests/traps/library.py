"""The places of a library built from Swift where it ends the host program, from its machine code and its DWARF."""
import collections
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The compiler gives each check a function of its own in the debug information, whose name says what was checked.
CHECK = "Swift runtime failure: "
KINDS = [
    (r"Range requires lowerBound", "range"),
    (r"[Ii]ndex|out of bounds|Can't remove|replace: subrange|empty", "index"),
    (r"ivision", "division"),
    (r"overflow", "overflow"),
    (r"cannot be converted|Not enough bits|Negative value", "conversion"),
    (r"found nil", "unwrap"),
    (r"elements in|estimatedCount|space allocated|count < 0|nitialized count|Stride size|negative|zero or more", "count"),
    (r"duplicate keys|no holes", "hash"),
    (r"StaticString", "literal"),
    (r"precondition", "precondition"),
    (r"cannot be copied", "copy"),
    (r"different sizes", "cast"),
]
# Functions that end the program.
ENDS = {
    "swift_unexpectedError": "try!",
    "swift_dynamicCastClassUnconditional": "cast",
    "swift_deletedMethodError": "deleted",
    "swift_abortRetainUnowned": "unowned",
    "abort@plt": "abort",
}
ENDS_LIKE = re.compile(r"^\$ss(17_assertionFailure|18_fatalErrorMessage|10fatalError)")
MODULES = ["DepthLoops", "DepthLoopsV3", "DepthKernels", "DepthCameras", "DepthScene", "GstBridge", "DepthAggregator"]
MODULES += ["DepthMattePlugin", "CDepthKernels", "CDepthMatte", "CGStreamerShims", "gstdepthmatte"]
OURS = re.compile("|".join(f"{len(name)}{name}(?![0-9a-zA-Z])|{len(name)}{name}[0-9A-Z]" for name in MODULES))

# Flags of swift_beginAccess, its third argument: the access lasts, until swift_endAccess.
LASTING = 0x20
THIRD_ARGUMENT = re.compile(r"\$(\w+), %edx$|w2, #(\w+)")

Site = collections.namedtuple("Site", "file function kind line")


def kind_of(check):
    return next((kind for pattern, kind in KINDS if re.search(pattern, check)), check)


def short(name):
    """The bare name of a demangled function: that around a closure, without argument lists and types."""
    while re.search(r"\([^()]*\)|<[^<>]*>", name):
        name = re.sub(r"\([^()]*\)|<[^<>]*>", "", name)
    name = re.split(r" -> | where ", name)[0]
    name = name.split(" in ")[-1]
    name = re.sub(r"^(.* of |partial apply for |merged |specialized |static |implicit |reabstraction thunk )+", "", name)
    name = re.sub(r"\.(getter|setter|modify|read|unsafeMutableAddressor)$", "", name)
    return re.sub(r" #\d+$", "", name).strip()


class Library:
    def __init__(self, path, tools):
        self.path = path
        self.tools = tools

    def run(self, tool, *arguments, lines=None):
        program = os.path.join(self.tools, tool)
        given = None if lines is None else "\n".join(lines)
        done = subprocess.run([program, *arguments], input=given, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{program}: {done.stderr.strip()}")
        return done.stdout

    def instructions(self):
        """Address, symbol, check or None: of each trap, of each call of a function that ends the program, and of each
        access to a class's variable that lasts."""
        symbol, flags = None, 0
        process = subprocess.Popen(
            [os.path.join(self.tools, "llvm-objdump"), "-d", "--no-show-raw-insn", self.path],
            stdout=subprocess.PIPE, text=True)
        line_form = re.compile(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)")
        with process.stdout as text:
            for line in text:
                if line.endswith(">:\n"):
                    symbol = line[line.index("<") + 1:-3]
                    continue
                found = line_form.match(line)
                if not found:
                    continue
                address, name, operands = found.groups()
                if name in ("ud2", "brk"):
                    yield int(address, 16), symbol, None
                elif name in ("movl", "mov") and (number := THIRD_ARGUMENT.match(operands)):
                    flags = int(number.group(1) or number.group(2), 0)
                elif name.startswith("call") or name in ("jmp", "bl", "b"):
                    target = re.search(r"<([^>+]+)>", operands)
                    target = target and target.group(1)
                    if target == "swift_beginAccess" and flags & LASTING:
                        yield int(address, 16), symbol, "access"
                    elif target in ENDS:
                        yield int(address, 16), symbol, ENDS[target]
                    elif target and ENDS_LIKE.match(target):
                        yield int(address, 16), symbol, "fatal"
        if process.wait():
            sys.exit(f"{self.path} cannot be disassembled")

    def sites(self):
        """What is ours, what the compiler made of the standard library for us, and the number of places in the rest."""
        found = list(self.instructions())
        records = self.run(
            "llvm-symbolizer", f"--obj={self.path}", "--inlining", "--output-style=JSON",
            lines=[hex(address) for address, _, _ in found])
        frames = [json.loads(record)["Symbol"] for record in records.splitlines()]
        if len(frames) != len(found):
            sys.exit(f"{self.path}: {len(frames)} places of {len(found)} were found in the debug information")
        if not any(frame["FileName"].endswith(".swift") for stack in frames for frame in stack):
            sys.exit(f"{self.path} has no debug information")
        names = sorted({frame["FunctionName"] for stack in frames for frame in stack} | {f[1] for f in found})
        plain = self.run("swift-demangle", "--simplified", "--compact", lines=names).split("\n")
        self.plain = dict(zip(names, plain))
        ours, standard, rest = [], [], 0
        for (_, symbol, call), stack in zip(found, frames):
            check = stack[0]["FunctionName"]
            kind = call or (kind_of(check[len(CHECK):]) if check.startswith(CHECK) else "trap")
            site = self.place(symbol, stack, kind)
            if site is None:
                rest += 1
            else:
                (ours if site.file else standard).append(site)
        return ours, standard, rest

    def place(self, symbol, stack, kind):
        if kind == "copy":  # of a value that cannot be copied, as every type's table of functions needs one
            return Site("", "copy of a noncopyable value", kind, 0)
        own = [frame for frame in stack if self.source(frame) and not frame["FunctionName"].startswith(CHECK)]
        if own:
            # A line of 0 is code that the compiler added: the check belongs to the function around it.
            frame = next((frame for frame in own if frame["Line"]), own[0])
            return Site(self.source(frame), short(self.plain[frame["FunctionName"]]), kind, frame["Line"])
        outer = stack[-1]
        if outer["FileName"] == "/<compiler-generated>":
            symbol = outer["FunctionName"]  # symbols of private functions are not kept, and another's would be shown
        elif not outer["FileName"].endswith((".swift", ".swift.o")):
            return None
        is_standard = symbol.startswith(("$ss", "$sS")) or not OURS.search(symbol)
        return Site("" if is_standard else "no file", short(self.plain[symbol]), kind, 0)

    @staticmethod
    def source(frame):
        """The file under Sources; the copy of the loops for wider vectors counts as the loops."""
        found = re.search(r"/Sources/(.*)", frame["FileName"])
        if not found or not os.path.isfile(os.path.join(ROOT, "Sources", found.group(1))):
            return None
        return found.group(1).replace("DepthLoopsV3/", "DepthLoops/")
