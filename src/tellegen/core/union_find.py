"""Disjoint sets of nodes, near-linear (path halving, union by size)."""


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
