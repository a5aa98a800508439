"""What hangs together: disjoint sets of nodes, near-linear (path halving, union by size), and strongly connected components."""

from collections.abc import Iterable, Mapping


class UnionFind:
    """Groups of the numbers 0 .. count-1."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))
        self._size = [1] * count

    def find(self, k: int) -> int:
        """The representative of the group of `k`."""
        parent = self._parent
        while parent[k] != k:
            # Path halving: every second node is hung one step higher while it is passed.
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    def join(self, a: int, b: int) -> bool:
        """Merge two groups; False when they were one already."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        # The smaller tree hangs below the larger, so no path grows longer than the logarithm of the count.
        if self._size[a] < self._size[b]:
            a, b = b, a
        self._parent[b] = a
        self._size[a] += self._size[b]
        return True


def strong_components(needs: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Strongly connected components, each after those it needs (Tarjan 1972), without recursion."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    on_path: list[str] = []
    inside: set[str] = set()
    found: list[list[str]] = []
    for start in needs:
        if start in number:
            continue
        work = [(start, iter(needs[start]))]
        number[start] = low[start] = len(number)
        on_path.append(start)
        inside.add(start)
        while work:
            name, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    cut = len(on_path) - 1
                    while on_path[cut] != name:
                        cut -= 1
                    found.append(on_path[cut:])
                    inside.difference_update(on_path[cut:])
                    del on_path[cut:]
            elif following not in number:
                number[following] = low[following] = len(number)
                on_path.append(following)
                inside.add(following)
                work.append((following, iter(needs[following])))
            elif following in inside:
                low[name] = min(low[name], number[following])
    return found
