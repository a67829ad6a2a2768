# compare_bytes.py LIMIT A B: whether two files have the same length and no byte differs by more than LIMIT.
import sys

limit = int(sys.argv[1])
with open(sys.argv[2], "rb") as a, open(sys.argv[3], "rb") as b:
    ours, theirs = a.read(), b.read()
if len(ours) != len(theirs) or not ours:
    print(f"{len(ours)} bytes against {len(theirs)}")
    sys.exit(1)
differences = [abs(x - y) for x, y in zip(ours, theirs)]
print(f"{len(ours)} bytes, {sum(d > 0 for d in differences)} differ, by at most {max(differences)}")
sys.exit(max(differences) > limit)
