"""Runs the ```python blocks of a document in order, in one namespace and in an empty directory.

    python3 doc.py [--update] FILE

A ```text block right after one is what it prints; --update puts the new output in its place. Exit code: 0 equal or
updated, 1 different.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import traceback

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


def main():
    update = "--update" in sys.argv[1:]
    path = os.path.abspath(sys.argv[-1])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    namespace, pieces, at, wrong = {"__name__": "__main__"}, [], 0, 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            output = io.StringIO()
            try:
                with contextlib.redirect_stdout(output):
                    exec(compile("\n" * line + block[1], path, "exec"), namespace)
            except Exception:
                traceback.print_exc()
                return 1
            shown, printed = block[2] or "", output.getvalue()
            if shown != printed:
                wrong += 1
                print(f"{path}:{line}: does not show what this prints:\n{printed}", file=sys.stderr)
            if block[2] is not None:
                pieces += [text[at : block.start(2)], printed]
                at = block.end(2)
        os.chdir("/")
    if update and wrong:
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(pieces) + text[at:])
    return 1 if wrong and not update else 0


sys.exit(main())
