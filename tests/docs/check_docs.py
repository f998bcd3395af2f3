#!/usr/bin/env python3
"""Checks README.md and docs/*.md against the program and the tree.

Every ```sh block whose first line is `# runs in CI` is run with the built program first in PATH, in
a temporary directory of its page, blocks in the order of the page. `# runs in CI, exit code N`
expects N. Only exit codes are compared. Relative links, their anchors, pictures, and files that the
text names (`sim/check.hpp`, `tests/rtl/mutants/`) must exist.

  tests/docs/check_docs.py --program build/release/bin/bitcycle [PAGE...]
  tests/docs/check_docs.py --program build/release/bin/bitcycle --update    (pastes real output)

--update rewrites the ```text block that follows a runnable block, before the next heading.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\s*$")
MARK = re.compile(r"^# runs in CI(?:, exit code (\d+))?$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# Paths of the tree between backticks, without placeholders; a glob must match something.
NAMED = re.compile(r"`((?:benchmarks|cmake|configs|docs|golden|model|networks|rtl|scripts|sim|tests|workloads)"
                   r"/[\w./*-]*)`")
FOREIGN = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|usr|opt)/")
SECONDS = 60


class Page:
    """One Markdown file as lines, fenced blocks and prose."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.relpath(path, ROOT)
        self.lines = path.read_text(encoding="utf-8").split("\n")
        self.blocks = []  # (language, first line inside, line of the closing fence), from 0
        self.prose = []   # (line number from 1, text)
        start = language = None
        for number, line in enumerate(self.lines):
            fence = FENCE.match(line)
            if start is None and fence:
                start, language = number + 1, fence.group(1)
            elif start is None:
                self.prose.append((number + 1, line))
            elif line == "```":
                self.blocks.append((language, start, number))
                start = None
        if start is not None:
            raise SystemExit(f"docs: {self.name}:{start}: the block is not closed")

    def runnable(self):
        """Yields (line number, script, expected exit code, text block of its output or None)."""
        for index, (language, start, end) in enumerate(self.blocks):
            mark = MARK.match(self.lines[start]) if language == "sh" and start < end else None
            if not mark:
                continue
            output = None
            if index + 1 < len(self.blocks) and self.blocks[index + 1][0] == "text":
                between = self.lines[end + 1:self.blocks[index + 1][1] - 1]
                if not any(line.startswith("#") for line in between):
                    output = self.blocks[index + 1]
            yield start, "\n".join(self.lines[start:end]), int(mark.group(1) or 0), output

    def anchors(self):
        for _, line in self.prose:
            if line.startswith("#"):
                title = line.lstrip("#").strip().lower()
                yield re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def check_references(page):
    problems = []
    for number, line in page.prose:
        where = f"{page.name}:{number}"
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            place = (page.path.parent / file).resolve() if file else page.path
            if not place.exists():
                problems.append(f"{where}: link to {target}: no such file")
            elif anchor and place.suffix == ".md" and anchor not in Page(place).anchors():
                problems.append(f"{where}: link to {target}: no such heading")
        for target in NAMED.findall(line):
            if not any(ROOT.glob(target.rstrip("/"))):
                problems.append(f"{where}: names {target}: no such file")
    for number, line in enumerate(page.lines, 1):
        if FOREIGN.search(line):
            problems.append(f"{page.name}:{number}: a path of one machine")
    return problems


def run_page(page, program, update):
    problems, replacements = [], []
    # Directly below "bin" lies what a reader would have in PATH.
    environment = dict(os.environ, SYSTEMC_DISABLE_COPYRIGHT_MESSAGE="1",
                       PATH=f"{program.parent}:{os.environ['PATH']}")
    blocks = 0
    with tempfile.TemporaryDirectory(prefix="bitcycle-docs-") as place:
        for number, script, expected, output in page.runnable():
            blocks += 1
            where = f"{page.name}:{number}"
            try:
                run = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=place,
                                     env=environment, stdin=subprocess.DEVNULL, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     timeout=SECONDS, check=False)
            except subprocess.TimeoutExpired:
                problems.append(f"{where}: no end after {SECONDS} s")
                continue
            if run.returncode != expected:
                problems.append(f"{where}: exit code {run.returncode}, expected {expected}\n"
                                f"{run.stdout.strip()}")
            elif output is not None:
                replacements.append((output, run.stdout))
    if update and not problems:
        for (_, start, end), text in reversed(replacements):
            page.lines[start:end] = [line.rstrip() for line in text.strip("\n").split("\n")]
        page.path.write_text("\n".join(page.lines), encoding="utf-8")
    return blocks, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true", help="paste real output into the pages")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="default: README.md, docs/*.md")
    options = parser.parse_args()
    program = options.program.resolve()
    if not os.access(program, os.X_OK) or program.name != "bitcycle":
        sys.exit(f"docs: --program: no program 'bitcycle' at {options.program}")
    paths = options.pages or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    pages = [Page(path.resolve()) for path in paths]

    problems = [p for page in pages for p in check_references(page)]
    blocks = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for count, found in pool.map(lambda page: run_page(page, program, options.update), pages):
            blocks += count
            problems += found
    for problem in problems:
        print(f"docs: {problem}")
    print(f"docs: {len(pages)} pages, {blocks} blocks run, {len(problems)} problems")
    # A convention that nobody follows any more would check nothing.
    sys.exit(1 if problems or (not options.pages and blocks < 20) else 0)


if __name__ == "__main__":
    main()
